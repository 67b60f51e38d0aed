"""An answer in the forms in which a target may look for it. An attack that fails for its form alone shows nothing."""

from __future__ import annotations

from lydite.probes.protocol import Target
from lydite.tasksets.checkers import CHECKERS


def dressed(target: Target, answer: str) -> list[str]:
    """The answer bare, boxed or in tags, with as much form around it as the other parts of the checker ask for."""
    kinds = target.kinds
    forms = []
    if "math" in kinds or any(kind not in CHECKERS for kind in kinds):
        forms.append(f"\\boxed{{{answer}}}")
    if not forms or kinds & {"exact", "choice"} or any(kind not in CHECKERS for kind in kinds):
        forms.append(answer)
    return [around(target, form) for form in forms]


def around(target: Target, answer: str) -> str:
    """An answer with trivial work and empty form, where the target asks for them."""
    for part in target.of("steps"):
        least = part.config.get("min_claims", 1)
        count = least if isinstance(least, int) and not isinstance(least, bool) else 1
        answer = "\n".join(f"{n} + 1 = {n + 1}" for n in range(1, min(count, 50) + 1)) + f"\n{answer}"
    for part in target.of("format"):
        required = [tag for tag in part.config.get("required") or () if isinstance(tag, str)]
        if required:
            inner = [f"<{tag}>x</{tag}>" for tag in required[:-1]]
            answer = "".join(inner) + f"<{required[-1]}>{answer}</{required[-1]}>"
    return answer

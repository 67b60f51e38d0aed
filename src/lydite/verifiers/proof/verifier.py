r"""``proof``: a formal proof of a given statement, checked by the prover's kernel.

Config: ``system`` (``coq`` or ``lean4``), ``statement`` (the theorem without its proof, with the imports and
definitions that it needs before it), ``allowed_axioms`` (names; default none), ``timeout`` (processor seconds of one
command, default 60), ``memory_mb`` (default 2048).

The text that is checked: the last complete fenced block labelled as the prover's, else the last complete block, else
the whole text. A proof that does not state the theorem is put behind the statement. A text without a block that the
prover does not accept, and that says that it gives no proof, is ``unparseable`` (``refused``).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated, Any, Literal

import msgspec

from lydite.verdict import Part, Verdict
from lydite.verifiers.code.box import LostError, sandbox
from lydite.verifiers.code.source import blocks
from lydite.verifiers.fields import read_config
from lydite.verifiers.proof.coq import Coq
from lydite.verifiers.proof.lean import Lean
from lydite.verifiers.proof.outcome import Prover
from lydite.verifiers.protocol import Check, Example, Submission
from lydite.verifiers.text import after_thinking, is_refusal

_ID = "proof@1"
MAX_TEXT = 200_000
"""Characters of a proof; longer ones are not an attempt at a theorem (reason ``resource``)."""
SHOWN = 2000
_NOTHING = ("does_not_compile", "not_proved")
_NO_PROOF = re.compile(
    r"\b(?:can ?not|can't|could not|couldn't|unable to|not able to|won't|will not|(?:do not|don't) know how to"
    r"|(?:do not|don't) see how to|failed to) (?:be )?(?:\w+ )?"
    r"(?:prove[nd]?|(?:find|give|write|construct|provide) (?:a|the|any) proof)\b"
    r"|\b(?:no proof|give up|not provable|unprovable)\b",
    re.IGNORECASE,
)
_LABELS = {"coq": ("coq", "rocq", "v", "gallina"), "lean4": ("lean", "lean4")}
_SUM = "Theorem plus_zero (n : nat) : n + 0 = n."


class ProofConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is to be proved, and on what a proof may rest."""

    system: Literal["coq", "lean4"]
    statement: Annotated[str, msgspec.Meta(min_length=1, max_length=100_000)]
    allowed_axioms: tuple[Annotated[str, msgspec.Meta(min_length=1)], ...] = ()
    timeout: Annotated[float, msgspec.Meta(gt=0, le=3600)] = 60.0
    memory_mb: Annotated[int, msgspec.Meta(ge=256, le=1 << 20)] = 2048


class ProofVerifier:
    """The statement is the grader's, the proof the candidate's, the judge the kernel."""

    name = "proof"
    version = 1
    waits = True
    modules = (
        "lydite.verifiers.proof",
        "lydite.verifiers.code.source",
        "lydite.verifiers.fences",
        "lydite.verifiers.text",
    )
    examples = (
        Example(
            config={"system": "coq", "statement": _SUM},
            right=f"```coq\n{_SUM}\nProof.\n  induction n; simpl; congruence.\nQed.\n```",
            wrong=f"```coq\n{_SUM}\nProof.\n  reflexivity.\nQed.\n```",
            hacks={
                "admitted": f"{_SUM}\nAdmitted.",
                "weaker statement": "Theorem plus_zero (n : nat) : n = n.\nProof. reflexivity. Qed.",
                "own axiom": f"Axiom magic : False.\n{_SUM}\nProof. destruct magic. Qed.",
                "notation": f'Notation "a + b" := b.\nNotation "0" := n.\n{_SUM}\nProof. reflexivity. Qed.',
                "guard off": f"Unset Guard Checking.\nFixpoint f (n : nat) : False := f n.\n{_SUM}\n"
                "Proof. destruct (f 0). Qed.",
            },
        ),
    )

    def compile(self, config: dict[str, Any]) -> Check:
        """Compile the statement.

        Raises:
            InputError: names the field that is wrong, with the prover's words where the statement does not compile.
            UnavailableError: the prover or the sandbox is not on this machine.
        """
        settings = read_config(config, ProofConfig, self.name)
        sandbox()
        prover = _prover(settings)

        def check(submission: Submission) -> Verdict:
            text = _text(submission.text, settings.system)
            if text is None or not text.strip():
                return Verdict.unparseable("refused" if _refuses(submission.text) else "no_proof", _ID)
            shown = text if len(text) <= SHOWN else text[:SHOWN] + "…"
            if len(text) > MAX_TEXT:
                return Verdict.of(0.0, "resource", _ID, extracted=shown, detail=f"longer than {MAX_TEXT} characters")
            try:
                outcome = prover.judge(text)
            except LostError as error:
                return Verdict.invalid("sandbox_lost", _ID, detail=str(error)[:300])
            if outcome.reason in _NOTHING and not blocks(submission.text) and _refuses(text):
                return Verdict.unparseable("refused", _ID)
            score = float(outcome.reason == "correct")
            part = Part(settings.system, score, outcome.reason, outcome.evidence)
            return Verdict.of(score, outcome.reason, _ID, extracted=shown, parts=(part,))

        return check


@lru_cache(maxsize=256)
def _prover(settings: ProofConfig) -> Prover:
    kind = Coq if settings.system == "coq" else Lean
    return kind(settings.statement, settings.allowed_axioms, settings.timeout, settings.memory_mb)


def _refuses(text: str) -> bool:
    return is_refusal(text) or _NO_PROOF.search(text[-2000:].replace("’", "'")) is not None


def _text(text: str, system: str) -> str | None:
    """The proof's text in a completion, by the rule above."""
    rest = after_thinking(text)
    if rest is None:
        return None
    found = [block for block in blocks(rest) if block.closed]
    named = [block for block in found if block.label in _LABELS[system]]
    return (named or found)[-1].text if found else rest.replace("\0", " ")

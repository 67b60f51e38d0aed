"""``math``: the answer of a completion against a gold, by meaning.

Config: ``answer`` (text or number); ``extraction``: ``lenient`` (default) or ``strict``, see ``extract``;
``tolerance``: relative difference of constants that is forgiven (default: none, equality is exact); ``units``:
``forgive`` a missing unit (default), ``require`` it, ``ignore`` all units, or the name of the unit that the gold is
in.

Reasons: ``correct``, ``incorrect``, ``ambiguous`` (boxes that disagree, hedges, answers taken back),
``restated_question`` (the question, or arithmetic left undone, in place of its value), ``resource`` (too large to be
an answer): all scored 0; ``no_answer``, ``refused``, ``unparseable_answer``: nothing to grade; ``unparseable_gold``:
invalid, the task is at fault (an empty gold, or TeX that was cut off; any other words are a text to match).
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, Literal

from lydite.errors import InputError
from lydite.verdict import Verdict
from lydite.verifiers.math.answer import SCALARS, Answer, Rules
from lydite.verifiers.math.claims import last_formula
from lydite.verifiers.math.compare import compare
from lydite.verifiers.math.extract import Extraction, extract
from lydite.verifiers.math.nodes import Node, TooBigError, contains, num
from lydite.verifiers.math.reading import read
from lydite.verifiers.math.units import parse_unit
from lydite.verifiers.math.wellformed import is_broken
from lydite.verifiers.protocol import Check, Example, Submission
from lydite.verifiers.text import is_refusal

_ID = "math@1"
_FIELDS = ("answer", "extraction", "tolerance", "units")
_CUES = re.compile(
    r"(?:\b(?:find|what is|what's|evaluate|compute|calculate|solve|simplify|asked|determine|expand|factor"
    r"|value of|question|problem|express)\b)",
    re.IGNORECASE,
)
_OPEN = re.compile(r"\?|\b(?:or|vs|versus|never|wrong|incorrect)\b|n't\b", re.IGNORECASE)
_GONE = re.compile(r"[\s$]+|\\(?:left|right|displaystyle|,|;|!)(?![A-Za-z])|\\[()\[\]]")


class MathVerifier:
    """Extract, compare, and say why."""

    name = "math"
    version = 1
    modules = ("lydite.verifiers.math", "lydite.verifiers.text")
    examples = (
        Example(
            config={"answer": "42"},
            right="6 * 7 is what we need, so \\boxed{42}.",
            wrong="I get \\boxed{41}.",
            prompt="What is 6 * 7?",
            hacks={
                "every answer": "\\boxed{41} or \\boxed{42} or \\boxed{43}",
                "the question again": "\\boxed{6 * 7}",
                "both answers": "\\boxed{42 \\text{ or } 41}",
                "an answer taken back": "It could be 42, but no: \\boxed{41}",
            },
        ),
    )

    def compile(self, config: dict[str, Any]) -> Check:
        """Read the gold once.

        Raises:
            InputError: unknown or missing field, or a value that it cannot have.
        """
        for field in config:
            if field not in _FIELDS:
                raise InputError("unknown field", field=field, remedy=f"math knows {', '.join(_FIELDS)}")
        given = config.get("answer")
        if not isinstance(given, str | int | float) or isinstance(given, bool):
            raise InputError("missing, or neither text nor number", field="answer", remedy="give the expected answer")
        policy: Literal["strict", "lenient"] = config.get("extraction", "lenient")
        if policy not in ("strict", "lenient"):
            raise InputError(f"unknown {policy!r}", field="extraction", remedy="strict or lenient")
        rules, unit = _rules(config)
        stated = _gold_text(str(given))
        gold = read(stated)
        if unit is not None and gold.unit is None and gold.kind in SCALARS:
            gold = gold._replace(unit=unit, kind="quantity")
        unusable = gold.kind in ("none", "false", "big") or is_broken(stated)

        def check(submission: Submission) -> Verdict:
            if unusable:
                return Verdict.invalid("unparseable_gold", _ID, detail=f"the gold is no answer: {str(given)[:80]!r}")
            found = extract(submission.text, policy)
            if found.place == "line" and gold.kind in SCALARS:
                found = _one_value(found)
            if not found.answers:
                return Verdict.unparseable("refused" if found.refused else "no_answer", _ID)
            return _judge(found, gold, rules, submission)

        return check


def _rules(config: dict[str, Any]) -> tuple[Rules, Any]:
    tolerance = config.get("tolerance")
    if tolerance is not None:
        if not isinstance(tolerance, int | float) or isinstance(tolerance, bool) or not 0 <= tolerance < 1:
            raise InputError(
                "expected a number in [0, 1)", field="tolerance", remedy="it is relative, for example 0.001"
            )
        tolerance = Fraction(str(tolerance)) or None
    units = config.get("units", "forgive")
    if units in ("forgive", "require", "ignore"):
        return Rules(tolerance, units), None
    unit = parse_unit(units) if isinstance(units, str) else None
    if unit is None or not unit.dims or any(name.startswith("of:") for name, _ in unit.dims):
        raise InputError(f"unknown {units!r}", field="units", remedy="forgive, require, ignore, or a unit such as km/h")
    return Rules(tolerance), unit


def _gold_text(text: str) -> str:
    """The gold's own answer, where it comes with its solution (GSM8K) or in a box."""
    if "####" in text:
        return text.rpartition("####")[2].strip()
    if "\\boxed" in text or "\\fbox" in text:
        found = extract(text, "strict")
        if found.relation == "one" and found.answers:
            return found.answers[0]
    return text


def _one_value(found: Extraction) -> Extraction:
    """A last line that turns out to be a sentence: its last formula or number, as of any longer text."""
    line = found.answers[-1]
    answer = read(line)
    if answer.kind != "text" or answer.hedged or _OPEN.search(line) or not any(char.isdigit() for char in line):
        return found
    number = last_formula(line)
    return found._replace(answers=(number,), place="last") if number else found


def _judge(found: Extraction, gold: Answer, rules: Rules, submission: Submission) -> Verdict:
    shown = " | ".join(found.answers)[:300]
    answers = [read(text) for text in found.answers]
    answer = answers[-1]
    try:
        if len(answers) > 1 and not all(compare(other, answer) for other in answers[:-1]):
            if found.relation == "scatter" or gold.kind not in ("list", "set", "expression", "quantity"):
                return Verdict.of(0.0, "ambiguous", _ID, extracted=shown, detail="several answers that disagree")
            answer = Answer("list", "", items=tuple(answers), data="and")
        if found.hedged:
            return Verdict.of(0.0, "ambiguous", _ID, extracted=shown, detail="taken back, or left open")
        if found.after is not None:
            again = read(found.after)
            if again.kind in SCALARS and not compare(again, answer):
                return Verdict.of(
                    0.0, "ambiguous", _ID, extracted=shown, detail=f"the text goes on to say {found.after[:60]!r}"
                )
        right = compare(answer, gold, rules)
    except (TooBigError, RecursionError):
        return Verdict.of(0.0, "resource", _ID, extracted=shown, detail="too large to be evaluated")
    if right:
        if _restated(answer, gold, submission) or (found.place != "box" and _echoed(found.answers[-1], submission)):
            return Verdict.of(
                0.0, "restated_question", _ID, extracted=shown, detail="not evaluated, or the question itself"
            )
        return Verdict.of(1.0, "correct", _ID, extracted=shown)
    return _wrong(answer, gold, shown)


def _wrong(answer: Answer, gold: Answer, shown: str) -> Verdict:
    if answer.kind == "none":
        return Verdict.unparseable("no_answer", _ID, extracted=shown)
    if answer.kind == "text" and is_refusal(shown):
        return Verdict.unparseable("refused", _ID, extracted=shown)
    if answer.kind == "big":
        return Verdict.of(0.0, "resource", _ID, extracted=shown)
    if answer.hedged or (
        answer.kind == "list" and answer.data == "or" and gold.kind not in ("list", "set", "relation")
    ):
        return Verdict.of(0.0, "ambiguous", _ID, extracted=shown)
    if answer.kind == "text" and gold.kind != "text" and "\\" in shown:
        return Verdict.unparseable("unparseable_answer", _ID, extracted=shown)
    return Verdict.of(0.0, "incorrect", _ID, extracted=shown)


def _restated(answer: Answer, gold: Answer, submission: Submission) -> bool:
    """Whether an answer of the right value only repeats the question, or leaves the arithmetic undone."""
    node = answer.node
    if node is None or answer.raw == gold.raw or node == gold.node or node.op in ("num", "sym", "const", "base"):
        return False
    if (
        gold.node is not None
        and gold.node.op == "num"
        and gold.kind in SCALARS
        and not contains(node, "const", "sym")
        and _undone(node)
    ):
        return True
    if answer.kind not in SCALARS and answer.kind != "relation":
        return False
    if node.op == "div" and all(part.op in ("num", "sym", "const") for part in node.args):
        return False
    raw = _GONE.sub("", answer.raw)
    if len(raw) < 3:
        return False
    if submission.prompt is not None and raw in _GONE.sub("", submission.prompt):
        return True
    text = submission.text
    return any(_asked(part, raw) for part in ((text,) if len(text) < 2000 else (text[:1500], text[-500:])))


def _asked(text: str, raw: str) -> bool:
    """Whether a text asks for the expression: it stands within 400 characters behind a word such as "find"."""
    cue = _CUES.search(text)
    if cue is None:
        return False
    head = text[cue.start() : cue.start() + 400]
    box = head.find("\\boxed")
    return raw in _GONE.sub("", head[:box] if box >= 0 else head)


def _echoed(said: str, submission: Submission) -> bool:
    """Whether the words around an answer without a box are the prompt's own."""
    if submission.prompt is None:
        return False
    lines = [line for line in submission.text.splitlines() if said in line]
    return bool(lines) and len(lines[-1]) > len(said) + 20 and lines[-1].strip() in submission.prompt


def _undone(node: Node) -> bool:
    """Sums, products and quotients of numbers that wait to be worked out; 3 x 10^5, 2^10, 3/4 and 5! are numbers."""
    if node.op == "add":
        return True
    if node.op == "neg":
        return _undone(node.args[0])
    if node.op == "div":
        return not all(part.op == "num" or (part.op in ("neg", "div") and not _undone(part)) for part in node.args)
    if node.op == "mul":
        left, right = node.args
        scientific = right.op == "pow" and right.args[0] == num(10) and left.op in ("num", "neg")
        return not scientific
    return False

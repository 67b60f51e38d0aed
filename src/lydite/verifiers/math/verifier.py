"""``math``: the answer of a completion against a gold, by meaning.

Config: ``answer`` (text or number); ``extraction``: ``lenient`` (default) or ``strict``, see ``extract``;
``tolerance``: relative difference of constants that is forgiven (default: none, equality is exact); ``units``:
``forgive`` a missing unit (default), ``require`` it, ``ignore`` all units, or the name of the unit that the gold is
in.

| reason | outcome | when |
|---|---|---|
| ``correct`` | correct | the answer is the gold |
| ``incorrect`` | incorrect | it is not |
| ``ambiguous`` | incorrect | boxes that disagree, hedges, answers taken back |
| ``restated_question`` | incorrect | the question, or arithmetic left undone, in place of its value |
| ``resource`` | incorrect | too large to be an answer: length, depth, digits, exponents, factorials |
| ``timeout`` | incorrect | comparing takes more steps than an answer may; counted, not timed (see ``work``) |
| ``no_answer``, ``refused``, ``unparseable_answer`` | unparseable | nothing to grade |
| ``unparseable_gold`` | invalid | the task's fault: an empty gold, or TeX that was cut off |
| ``confirm_lost`` | invalid | ours: the process that confirms (see ``confirm``) is gone |
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal

import msgspec

from lydite.errors import InputError
from lydite.verdict import Verdict
from lydite.verifiers.aside import LostError
from lydite.verifiers.fields import read_config
from lydite.verifiers.math import confirm, judging
from lydite.verifiers.math.answer import SCALARS, Answer, Rules
from lydite.verifiers.math.canonical import is_open
from lydite.verifiers.math.compare import are_numbers
from lydite.verifiers.math.direct import at_a_glance
from lydite.verifiers.math.explain import told
from lydite.verifiers.math.extract import extract, searched
from lydite.verifiers.math.extraction import Extraction
from lydite.verifiers.math.quick import Quick
from lydite.verifiers.math.reading import read
from lydite.verifiers.math.units import Unit, parse_unit
from lydite.verifiers.math.wellformed import is_broken
from lydite.verifiers.protocol import Example, Step, Submission
from lydite.verifiers.text import after_thinking


class MathConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a checker of this kind is configured with."""

    answer: str | int | float
    extraction: Literal["lenient", "strict"] = "lenient"
    tolerance: Annotated[float, msgspec.Meta(ge=0, lt=1)] | None = None
    units: str = "forgive"


class MathVerifier:
    """Extract, compare, and say why."""

    name = "math"
    version = judging.VERSION
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
        Example(
            config={"answer": "2\\cos\\frac{\\pi}{16}"},
            right="Halving the angle twice: \\boxed{\\sqrt{2+\\sqrt{2+\\sqrt{2}}}}.",
            wrong="Halving the angle twice: \\boxed{\\sqrt{2+\\sqrt{2-\\sqrt{2}}}}.",
        ),
    )

    def compile(self, config: dict[str, Any]) -> MathCheck:
        """Read the gold once.

        Raises:
            InputError: unknown or missing field, or a value that it cannot have.
        """
        given = read_config(config, MathConfig, "math")
        rules, unit = _rules(given)
        return MathCheck(given, rules, unit)


class MathCheck:
    """A gold, ready to be compared with.

    Attributes:
        config: as given.
        stated: the gold's text.
        gold: what it says.
        usable: whether it says anything.
    """

    def __init__(self, config: MathConfig, rules: Rules, unit: Unit | None) -> None:
        self.config, self.rules = config, rules
        self.stated = _gold_text(str(config.answer))
        gold = read(self.stated)
        if unit is not None and gold.unit is None and gold.kind in SCALARS:
            gold = gold._replace(unit=unit, kind="quantity")
        self.gold = gold
        self.usable = not (gold.kind in ("none", "false", "big") or is_broken(self.stated))
        if self.usable and _may_need_proof(gold):
            confirm.prepare()
        number = self.usable and are_numbers(gold, gold, rules)
        self._quick = Quick(self.stated, gold.node.args[0], judging.ID) if number and gold.node is not None else None

    def __call__(self, submission: Submission) -> Verdict:
        """The verdict."""
        if not self.usable:
            return self._verdict(submission, None)
        rest = after_thinking(submission.text)
        seen = at_a_glance(rest, self.config.extraction) if rest is not None else None
        if seen is not None and self._quick is not None and (submission.prompt is None or seen[1] == "box"):
            verdict = self._quick(seen[0])
            if verdict is not None and not ("$" in seen[0] and "implify" in submission.text[:1500]):
                return verdict
        try:
            if rest is None:
                found = Extraction()
            else:
                found = searched(rest, self.config.extraction) if seen is None else Extraction((seen[0],), seen[1])
            return judging.judge(found, self.gold, self.rules, submission)
        except LostError as error:
            return _lost(error)

    def explain(self, submission: Submission) -> tuple[Step, ...]:
        """The verdict's steps, for people."""
        notes: list[tuple[str, str]] = []
        return told(self.config, self.stated, self.gold, submission, self._verdict(submission, notes), notes)

    def _verdict(self, submission: Submission, notes: list[tuple[str, str]] | None) -> Verdict:
        if not self.usable:
            detail = f"the gold is no answer: {str(self.config.answer)[:80]!r}"
            return Verdict.invalid("unparseable_gold", judging.ID, detail=detail)
        found = extract(submission.text, self.config.extraction)
        try:
            return judging.judge(found, self.gold, self.rules, submission, notes)
        except LostError as error:
            return _lost(error)


def _lost(error: LostError) -> Verdict:
    return Verdict.invalid("confirm_lost", judging.ID, detail=str(error)[:300])


def explain(config: dict[str, Any], completion: str, prompt: str | None = None) -> tuple[Step, ...]:
    """How a completion comes by its verdict, step by step.

    Args:
        config: a configuration of the checker ``math``.
        completion: what the policy said.
        prompt: the question, where known.

    Raises:
        InputError: the configuration is unusable.
    """
    return MathVerifier().compile(config).explain(Submission(text=completion, prompt=prompt))


def _may_need_proof(gold: Answer) -> bool:
    """Whether an answer could equal this gold without its normal form showing it."""
    nodes = [gold.node, *(gold.data[1] if gold.kind == "relation" else ())]
    return any(node is not None and is_open(node) for node in nodes) or any(map(_may_need_proof, gold.items))


def _rules(given: MathConfig) -> tuple[Rules, Unit | None]:
    tolerance = Fraction(str(given.tolerance)) or None if given.tolerance is not None else None
    match given.units:
        case "forgive" | "require" | "ignore" as units:
            return Rules(tolerance, units), None
    unit = parse_unit(given.units)
    if unit is None or not unit.dims or any(name.startswith("of:") for name, _ in unit.dims):
        raise InputError(
            f"unknown {given.units!r}", field="units", remedy="forgive, require, ignore, or a unit such as km/h"
        )
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

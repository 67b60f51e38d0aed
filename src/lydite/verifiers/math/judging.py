"""From an extraction to a verdict: which answer counts, whether it is the gold, and why not."""

from __future__ import annotations

import re

from lydite.verdict import Outcome, Verdict
from lydite.verifiers.math import choices
from lydite.verifiers.math.answer import SCALARS, Answer, Rules
from lydite.verifiers.math.bounds import is_bounded
from lydite.verifiers.math.compare import are_numbers, at_once, compare, same_number
from lydite.verifiers.math.extraction import Extraction
from lydite.verifiers.math.formulas import last_formula
from lydite.verifiers.math.nodes import TooBigError
from lydite.verifiers.math.reading import read
from lydite.verifiers.math.restated import is_echoed, is_restated
from lydite.verifiers.math.revisions import NO_SOLUTION
from lydite.verifiers.math.sentences import stated
from lydite.verifiers.math.spread import flat
from lydite.verifiers.math.work import MAX_STEPS, TooLongError, working
from lydite.verifiers.protocol import Submission
from lydite.verifiers.text import after_thinking, is_refusal

VERSION = 3
ID = f"math@{VERSION}"
MAX_SHOWN = 300
"""Characters of ``Verdict.extracted``."""

_VERDICTS = frozenset(["yes", "no", "true", "false"])
_COUNTED = re.compile(r"^(\*{0,2}(?:yes|no)\*{0,2}, )(?=\d{1,9} [a-z])", re.IGNORECASE)  # Yes, 7 is prime
_OPEN = re.compile(r"\?|\b(?:or|vs|versus|never|wrong|incorrect)\b|n't\b", re.IGNORECASE)


def judge(
    found: Extraction, gold: Answer, rules: Rules, submission: Submission, notes: list[tuple[str, str]] | None = None
) -> Verdict:
    """The verdict on what was found.

    Args:
        found: what was extracted.
        gold: the gold, read.
        rules: what is forgiven.
        submission: where it was extracted from.
        notes: collects what each stage said, where somebody listens.

    Raises:
        LostError: the process that confirms is gone, which is our fault.
    """
    at_hand = found.place == "box" or (submission.prompt is None and found.place in ("marker", "anchor"))
    unopposed = not found.hedged and found.after is None and not found.rejected
    if notes is None and at_hand and len(found.answers) == 1 and unopposed:
        said = found.answers[0]
        # Most verdicts: nothing to account for, nothing to restate but a fraction that was to be simplified.
        if "/" not in said and "frac" not in said:
            answer = read(said)
            right = at_once(answer, gold, rules)
            if right is not None and (answer.unit is None or "implify" not in submission.text[:1500]):
                return Verdict(
                    outcome=Outcome.CORRECT if right else Outcome.INCORRECT,
                    score=1.0 if right else 0.0,
                    reason="correct" if right else "incorrect",
                    extracted=said[:MAX_SHOWN],
                    verifier=ID,
                )
    with working(notes):
        return _judged(found, gold, rules, submission)


def _judged(found: Extraction, gold: Answer, rules: Rules, submission: Submission) -> Verdict:
    if found.place == "line" and gold.kind in SCALARS:
        found = one_value(found)
    elif found.place in ("line", "last") and gold.kind == "text" and gold.data in _VERDICTS:
        found = one_verdict(found, submission.text)
    if not found.answers:
        return Verdict.unparseable("refused" if found.refused else "no_answer", ID)
    shown = " | ".join(found.answers)[:MAX_SHOWN]
    try:
        answer, doubt = chosen(found, gold)
        if doubt:
            return Verdict.of(0.0, "ambiguous", ID, extracted=shown, detail=doubt)
        if answer.kind == "choice" and answer.hedged and _is_option(answer, submission):
            answer = answer._replace(hedged=False)
        right = compare(answer, gold, rules)
    except TooLongError:
        detail = f"comparing it takes more than {MAX_STEPS} steps"
        return Verdict.of(0.0, "timeout", ID, extracted=shown, detail=detail)
    except (TooBigError, RecursionError):
        return Verdict.of(0.0, "resource", ID, extracted=shown, detail="too large to be evaluated")
    if not right:
        return _wrong(answer, gold, shown)
    if is_restated(answer, gold, submission) or (found.place != "box" and is_echoed(found.answers[-1], submission)):
        detail = "not evaluated, or the question itself"
        return Verdict.of(0.0, "restated_question", ID, extracted=shown, detail=detail)
    return Verdict.of(1.0, "correct", ID, extracted=shown)


def one_value(found: Extraction) -> Extraction:
    """A last line that turns out to be a sentence: its last formula or number, as of any longer text."""
    line = found.answers[-1]
    answer = read(line)
    if answer.kind != "text" or answer.hedged or _OPEN.search(line) or not any(char.isdigit() for char in line):
        return found
    number = last_formula(line)
    if not number:
        return found
    place = max(line.rfind(number), 0)
    hedged = found.hedged or is_bounded(line, place, place + len(number))
    return found._replace(answers=(number,), place="last", hedged=hedged)


def one_verdict(found: Extraction, text: str) -> Extraction:
    """The yes or no at the start of the last line, where that is what was asked for: "Yes, because 7 is prime"."""
    rest = (after_thinking(text) or "").rstrip()
    line = rest[max(rest.rfind("\n") + 1, len(rest) - 400) :].strip()
    line = _COUNTED.sub(r"\1since ", line)
    word = stated(line) if line[:1].isalpha() or line[:2] == "**" else None
    return Extraction((word,), "line") if word is not None and word.casefold() in _VERDICTS else found


def chosen(found: Extraction, gold: Answer) -> tuple[Answer, str]:
    """The one answer of all that were found, and why it is in doubt, where it is."""
    answers = [read(text) for text in found.answers]
    answer = answers[-1]
    if len(answers) > 1 and not all(compare(other, answer) for other in answers[:-1]):
        named = gold.kind == "tuple" and all(other.kind == "assign" for other in answers)
        if found.relation == "scatter" or not (named or gold.kind in ("list", "set", "expression", "quantity")):
            return answer, "several answers that disagree"
        answer = Answer("list", "", items=tuple(answers), data="and")
    if found.hedged:
        return answer, "taken back, or left open"
    if found.after is not None:
        again = read(found.after)
        if found.after == NO_SOLUTION:
            another = not _is_nothing(answer)
        else:
            another = (again.kind in SCALARS or again.kind == "choice") and not compare(again, answer)
        if another:
            return answer, f"the text goes on to say {found.after[:60]!r}"
    for text in found.rejected:
        rejected = read(text)
        if any(compare(rejected, part) for part in (answer, *flat(answer))):
            return answer, f"the text goes on to reject {text[:60]!r}"
    return answer, ""


def _is_option(answer: Answer, submission: Submission) -> bool:
    """Whether a choice says, behind its letter, what the prompt says there."""
    if submission.prompt is None or not answer.items:
        return False
    return choices.is_option(str(answer.data), answer.items[0].raw, submission.prompt)


def _is_nothing(answer: Answer) -> bool:
    """Whether an answer is none or zero, or no value at all: there may be no solution to that."""
    if answer.kind in SCALARS:
        return same_number(answer, read("0")) if are_numbers(answer, read("0"), Rules()) else False
    return answer.kind not in ("assign", "tuple", "list", "set") or not flat(answer)


def _wrong(answer: Answer, gold: Answer, shown: str) -> Verdict:
    if answer.kind == "none":
        return Verdict.unparseable("no_answer", ID, extracted=shown)
    if answer.kind == "text" and is_refusal(shown):
        return Verdict.unparseable("refused", ID, extracted=shown)
    if answer.kind == "big":
        return Verdict.of(0.0, "resource", ID, extracted=shown)
    if answer.hedged or (
        answer.kind == "list" and answer.data == "or" and gold.kind not in ("list", "set", "relation")
    ):
        return Verdict.of(0.0, "ambiguous", ID, extracted=shown)
    if answer.kind == "text" and gold.kind != "text" and "\\" in shown:
        return Verdict.unparseable("unparseable_answer", ID, extracted=shown)
    return Verdict.of(0.0, "incorrect", ID, extracted=shown)

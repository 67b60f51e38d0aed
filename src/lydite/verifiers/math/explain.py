"""A verdict of ``math``, step by step: for people who ask why.

The scanners run once more, apart from the verdict, and say what they passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lydite.verdict import Verdict
from lydite.verifiers.math import disclaimed
from lydite.verifiers.math.answer import SCALARS, Answer
from lydite.verifiers.math.extract import WINDOW, extract
from lydite.verifiers.math.extraction import MAX_BOXES, Extraction
from lydite.verifiers.math.judging import one_value
from lydite.verifiers.math.kinds import kind_name, show
from lydite.verifiers.math.normalise import normalise, trim
from lydite.verifiers.math.reading import MAX_CHARS, read
from lydite.verifiers.protocol import Step, Submission
from lydite.verifiers.text import Box, after_thinking, boxes

if TYPE_CHECKING:
    from lydite.verifiers.math.verifier import MathConfig

MAX_QUOTED = 120
"""Characters of a text that are quoted."""

_PLACES = {
    "box": "in a box",
    "tag": "in <answer>",
    "marker": "behind ####",
    "anchor": "claimed in words (the answer is ...)",
    "line": "the last line",
    "last": "the last formula or number of the text",
}
_RELATIONS = {"list": "joined as a list", "scatter": "several that do not belong together"}


def told(
    config: MathConfig,
    stated: str,
    gold: Answer,
    submission: Submission,
    verdict: Verdict,
    notes: list[tuple[str, str]],
) -> tuple[Step, ...]:
    """All steps of a verdict.

    Args:
        config: of the checker.
        stated: the gold's text.
        gold: what it was read as.
        submission: what was judged.
        verdict: what came of it.
        notes: what the stages of comparing said.
    """
    steps = list(_gold(config, stated, gold))
    if verdict.reason != "unparseable_gold":
        found = extract(submission.text, config.extraction)
        steps += _passed_over(submission.text, config.extraction, found)
        steps += _found(found, gold)
        steps += [Step(stage, said) for stage, said in notes]
    detail = f": {verdict.detail}" if verdict.detail else ""
    return (*steps, Step("verdict", f"{verdict.outcome}, {verdict.reason}{detail}"))


def _quoted(text: str) -> str:
    return repr(text if len(text) <= MAX_QUOTED else text[: MAX_QUOTED - 3] + "...")


def _gold(config: MathConfig, stated: str, gold: Answer) -> Iterator[Step]:
    if stated != str(config.answer):
        yield Step("gold", f"{_quoted(str(config.answer))} gives its answer as {_quoted(stated)}")
    yield Step("gold", f"{_quoted(stated)} is {kind_name(gold)}: {show(gold)}")
    rules = [f"extraction {config.extraction}"]
    if config.tolerance:
        rules.append(f"tolerance {config.tolerance:g}")
    if config.units != "forgive":
        rules.append(f"units {config.units}")
    yield Step("rules", ", ".join(rules))


def _passed_over(text: str, policy: str, found: Extraction) -> Iterator[Step]:
    """What the scanners did not look at, and why."""
    rest = after_thinking(text)
    if rest is None:
        yield Step("skip", "all of the text: thinking that never ends holds no answer")
        return
    if len(rest) < len(text):
        yield Step("skip", f"{len(text) - len(rest)} characters of thinking")
    if len(rest) > WINDOW:
        yield Step("skip", f"all but the last {WINDOW} characters")
    rest = rest[-WINDOW:]
    plain = disclaimed.uncommented(rest)
    if plain != rest:
        yield Step("skip", "comments")
    every = boxes(plain)
    filled = [box for box in every if box.content.strip(" \t\r\n.$~,;:…")]
    for box in every:
        if box not in filled:
            yield Step("skip", f"an empty box {_quoted(plain[box.start : box.end])}")
    stands = disclaimed.standing(plain, filled[-MAX_BOXES:])
    for box in filled[-MAX_BOXES:]:
        if box not in stands:
            yield Step("skip", f"{_box(box)}: denied or struck out" + ("" if stands else ", and there is no other"))
    if found.place == "box" and found.relation == "one":
        for box in stands[:-1]:
            if box.content.strip() not in found.answers:
                yield Step("skip", f"{_box(box)}: another box follows, and what is between takes this one back")
    if not filled:
        yield Step("skip", "no box" + (": strict extraction looks at nothing else" if policy == "strict" else ""))


def _box(box: Box) -> str:
    return f"the box {_quoted(box.content.strip())}"


def _found(found: Extraction, gold: Answer) -> Iterator[Step]:
    if not found.answers:
        yield Step("extract", "no answer" + (", but a refusal" if found.refused else ""))
        return
    if found.place == "line" and gold.kind in SCALARS:
        found = one_value(found)
    relation = f", {_RELATIONS[found.relation]}" if found.relation in _RELATIONS else ""
    yield Step("extract", f"{', '.join(map(_quoted, found.answers[:8]))}: {_PLACES[found.place]}{relation}")
    if found.hedged:
        yield Step("extract", "the words around it take it back, or leave it open")
    if found.after is not None:
        yield Step("extract", f"behind it, the text says {_quoted(found.after)}")
    for text in found.rejected:
        yield Step("extract", f"behind it, the text rejects {_quoted(text)}")
    for text in found.answers[:8]:
        if len(text) <= MAX_CHARS and (clean := trim(normalise(text))) != text:
            yield Step("normalise", f"{_quoted(text)} becomes {_quoted(clean)}")
        answer = read(text)
        yield Step("kind", f"{kind_name(answer)}: {show(answer)}" + (" (hedged)" if answer.hedged else ""))

"""``regex``: an expression against texts that it must match and texts that it must not."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from lydite.codec import well_formed
from lydite.errors import InputError
from lydite.verdict import Part, Verdict
from lydite.verifiers.aside import Aside, LostError, OverBudgetError
from lydite.verifiers.fields import read_config
from lydite.verifiers.protocol import Check, Example, Submission
from lydite.verifiers.regex.pattern import MAX_PATTERN, find_pattern
from lydite.verifiers.regex.worker import Matched, Request

CPU_SECONDS = 1.0
"""For compiling an expression and matching it with all texts. What is not exponential needs a thousandth."""
MAX_TEXTS = 5000
MAX_CHARS = 1_000_000
"""Characters of all texts together."""
SHOWN = 120

_ID = "regex@1"
_aside = Aside("lydite.verifiers.regex.worker:serve", cpu_seconds=CPU_SECONDS, memory_mb=256)

Texts = Annotated[list[str], msgspec.Meta(max_length=MAX_TEXTS)]


class RegexConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Configuration of ``regex``.

    Attributes:
        must_match, must_not_match: texts.
        mode: whether the expression must match a whole text, or be found in it.
        flags: of Python's ``re``, any of ``i m s x a``; a candidate may set more.
        visible: those of the texts that the prompt shows; the others are hidden, and both are counted apart.
    """

    must_match: Texts
    must_not_match: Texts
    mode: Literal["fullmatch", "search"] = "fullmatch"
    flags: Annotated[str, msgspec.Meta(pattern="^[imsxa]*$")] = ""
    visible: Texts = []


class RegexVerifier:
    """The fraction of texts that the expression is right about."""

    name = "regex"
    version = 1
    waits = True
    modules = ("lydite.verifiers.regex", "lydite.verifiers.fences", "lydite.verifiers.marks", "lydite.verifiers.text")
    examples = (
        Example(
            config={
                "must_match": ["2024-01-31", "1999-12-01", "2031-07-09"],
                "must_not_match": ["2024-1-31", "31-01-2024", "2024-01-31 ", "2024-13-01"],
                "visible": ["2024-01-31", "2024-1-31"],
            },
            prompt="Write a regular expression for dates such as 2024-01-31, but not 2024-1-31.",
            right="```regex\n\\d{4}-(0[1-9]|1[0-2])-\\d{2}\n```",
            wrong="`\\d{4}-\\d{2}`",
            hacks={
                "everything": ".*",
                "everything but": "(?!2024-1-31$).*",
                "nothing": "(?!)",
                "list of what is shown": "^(?:2024-01-31)$",
                "exponential": "(\\d+-?)+x|\\d{4}-\\d\\d-\\d\\d",
                "prose": "A date has four digits, two digits and two digits.",
            },
        ),
    )

    def compile(self, config: dict[str, Any]) -> Check:
        """Read the texts.

        Raises:
            InputError: names the field of the configuration that is wrong.
        """
        settings = read_config(config, RegexConfig, self.name)
        _check_texts(settings)
        texts = [*settings.must_match, *settings.must_not_match]
        shown = frozenset(settings.visible)
        tags = not any("<answer>" in text or "\\boxed" in text for text in texts)

        def check(submission: Submission) -> Verdict:
            pattern = find_pattern(submission.text, tags)
            if isinstance(pattern, str):
                return Verdict.unparseable(pattern, _ID)
            extracted = pattern.text[:500] + ("…" if len(pattern.text) > 500 else "")
            if len(pattern.text) > MAX_PATTERN:
                detail = f"more than {MAX_PATTERN} characters"
                return Verdict.of(0.0, "resource", _ID, extracted=extracted, detail=detail)
            flags = "".join(sorted({*settings.flags, *pattern.flags}))
            request = Request(pattern.text, flags, settings.mode, texts)
            try:
                matched = msgspec.msgpack.decode(_aside.call(msgspec.msgpack.encode(request)), type=Matched)
            except OverBudgetError as error:
                reason = "timeout" if error.what == "time" else "resource"
                detail = f"needs more {error.what} than it may"
                return Verdict.of(0.0, reason, _ID, extracted=extracted, detail=detail)
            except LostError as error:
                return Verdict.invalid("process_lost", _ID, detail=str(error)[:300])
            if matched.error is not None:
                return Verdict.unparseable("bad_pattern", _ID, extracted=extracted, detail=matched.error)
            return _verdict(matched, settings, shown, extracted)

        return check


def _check_texts(settings: RegexConfig) -> None:
    for field in ("must_match", "must_not_match"):
        if not getattr(settings, field):
            hack = ".*" if field == "must_not_match" else "an expression that matches nothing"
            raise InputError("is empty", field=field, remedy=f"{hack} would be right: give at least one text")
    both = sorted(set(settings.must_match) & set(settings.must_not_match))
    if both:
        raise InputError(f"{both[0][:80]!r} must match too", field="must_not_match", remedy="decide")
    for field in ("must_match", "must_not_match"):
        if any(well_formed(text) != text for text in getattr(settings, field)):
            raise InputError("holds a lone surrogate, which is no text", field=field, remedy="correct it")
    if sum(map(len, [*settings.must_match, *settings.must_not_match])) > MAX_CHARS:
        raise InputError(f"the texts have more than {MAX_CHARS} characters", field="must_match", remedy="give fewer")
    unknown = sorted(set(settings.visible) - {*settings.must_match, *settings.must_not_match})
    if unknown:
        remedy = "name texts of must_match and must_not_match"
        raise InputError(f"{unknown[0][:80]!r} is in neither list", field="visible", remedy=remedy)


def _verdict(matched: Matched, settings: RegexConfig, shown: frozenset[str], extracted: str) -> Verdict:
    wanted = len(settings.must_match)
    texts = [*settings.must_match, *settings.must_not_match]
    right = [found is (index < wanted) for index, found in enumerate(matched.found)]
    parts = tuple(
        _part(index, wanted, text, good, text in shown)
        for index, (text, good) in enumerate(zip(texts, right, strict=True))
    )
    words = _counts(texts, right, shown)
    if matched.words is not None and set(matched.words) & set(settings.must_match):
        told = len(set(matched.words) & set(settings.must_match))
        words.append(f"a list of {len(matched.words)} words, {told} of them from must_match")
    detail = "; ".join(words) or None
    score = sum(right) / len(right)
    reason = "correct" if score == 1 else "incorrect"
    if all(matched.found) or not any(matched.found):  # right about some texts, and says nothing about any
        reason = "matches_everything" if all(matched.found) else "matches_nothing"
    return Verdict.of(score, reason, _ID, extracted=extracted, parts=parts, detail=detail)


def _part(index: int, wanted: int, text: str, good: bool, visible: bool) -> Part:
    must = index < wanted
    name = f"m{index + 1}" if must else f"n{index - wanted + 1}"
    reason = "correct" if good else "not_matched" if must else "matched"
    evidence = None if good else ascii(text[:SHOWN])
    return Part(name + (" visible" if visible else ""), float(good), reason, evidence)


def _counts(texts: list[str], right: list[bool], shown: frozenset[str]) -> list[str]:
    if not shown:
        return []
    groups = {"visible": [good for text, good in zip(texts, right, strict=True) if text in shown]}
    groups["hidden"] = [good for text, good in zip(texts, right, strict=True) if text not in shown]
    return [f"{word} {sum(group)} of {len(group)}" for word, group in groups.items() if group]

"""What the evidence of flags names in an attempt's own words, and where these stand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from lydite.flag import Flag
from lydite.server.page.marked import Hit

MOST = 40
"""Places of one quote that are marked in one text."""
MOST_QUOTES = 60
LONGEST = 300
"""Characters of a quote that are looked for."""

_CALL = re.compile(r"call (\d{1,6})")
_SINGLE = frozenset(["answer", "begins", "text", "said", "quote", "path", "command"])
_LISTS = frozenset(["answers", "numbers", "steps", "entries", "quotes", "paths", "commands", "signs", "texts", "found"])


class Quote(NamedTuple):
    """Words that are looked for. ``call``: in the arguments of which call alone; ``None`` anywhere."""

    text: str
    why: str
    call: int | None = None


def quotes_of(flags: Iterable[Flag]) -> list[Quote]:
    """What flags say that they saw, as quotes. Evidence that names no words (counts, thresholds) gives none."""
    found: dict[Quote, None] = {}
    for flag in flags:
        why = f"{flag.detector}@{flag.version}"
        for name, value in flag.evidence.items():
            for quote in _named(name, value, why):
                if len(found) < MOST_QUOTES:
                    found[quote] = None
    return list(found)


def _named(name: str, value: Any, why: str) -> Iterable[Quote]:
    if isinstance(value, str) and name in _SINGLE:
        yield from _split(value, why, None)
    elif isinstance(value, list) and name in _LISTS:
        for item in value:
            if isinstance(item, str):
                yield from _split(item, why, None)
            elif isinstance(item, dict) and isinstance(item.get("text"), str):
                call = _CALL.fullmatch(str(item.get("where", "")))
                told = f"{why}: {item['sign']}" if isinstance(item.get("sign"), str) else why
                yield from _split(item["text"], told[:200], int(call[1]) if call else None)


def _split(text: str, why: str, call: int | None) -> Iterable[Quote]:
    """A quote; of an entry such as ``(1, 2) → 3`` its key, whose value alone says nothing."""
    key = text.partition(" → ")[0].strip()[:LONGEST]
    if key:
        yield Quote(key, why, call)


def hits_in(text: str, quotes: Sequence[Quote], *, call: int | None = None) -> list[Hit]:
    """Where quotes stand in a text, whatever white space is between their words; overlapping places left out.

    Args:
        text: of a message, or (``call``) of an argument of a call.
        quotes: what is looked for.
        call: the call's number.
    """
    found: list[Hit] = []
    for quote in quotes:
        if quote.call is not None and quote.call != call:
            continue
        for count, match in enumerate(_pattern(quote.text).finditer(text)):
            if count >= MOST:
                break
            found.append(Hit(match.start(), match.end(), "hit", quote.why))
    return apart(found)


def apart(found: Iterable[Hit]) -> list[Hit]:
    """Hits in order, without those that begin within another one."""
    kept: list[Hit] = []
    for hit in sorted(found, key=lambda one: (one.start, -one.end)):
        if hit.end > hit.start and (not kept or hit.start >= kept[-1].end):
            kept.append(hit)
    return kept


def _pattern(quote: str) -> re.Pattern[str]:
    """The words of a quote, not within a longer word or number."""
    words = quote.split()
    inner = r"\s{1,20}".join(map(re.escape, words))
    before = r"(?<![\w.])" if words[0][0].isalnum() else ""
    after = r"(?!\w|[.,]\d)" if words[-1][-1].isalnum() else ""
    return re.compile(before + inner + after)


def told(evidence: dict[str, Any]) -> list[tuple[str, str]]:
    """Evidence as labels and texts: what is seen before what it is held against."""
    lines: list[tuple[str, str]] = []
    for name, value in evidence.items():
        if name == "signs" and isinstance(value, list):
            lines += [_sign(one) for one in value]
        elif isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
            lines.append((name, "\n".join(map(str, value))))
        else:
            lines.append((name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)))
    return sorted(lines, key=lambda line: line[0].startswith(("min_", "max_")))


def _sign(sign: Any) -> tuple[str, str]:
    if not isinstance(sign, dict):
        return "sign", json.dumps(sign, ensure_ascii=False)
    where = f"{sign.get('where', '')}, line {sign['line']}" if "line" in sign else str(sign.get("where", ""))
    return str(sign.get("sign", "sign"))[:100], f"{where}: {sign.get('text', '')}"

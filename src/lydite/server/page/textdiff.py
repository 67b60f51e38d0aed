"""Two texts beside each other: lines first, then words within the lines that differ; bounded in work and in output.

Myers' greedy algorithm (E. Myers, An O(ND) difference algorithm and its variations, 1986), because its work is bounded
by the number of differences, which is capped here. ``difflib`` is quadratic on texts that repeat themselves, which is
what a policy that has lost its way writes. Where the cap is reached, the stretch is shown as replaced; where the texts
are too long, only lines are compared, and beyond that nothing is.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

WORDS, LINES = 200_000, 1_000_000
"""Characters of the longer text up to which words, or lines, are compared."""
STEPS = 1_500_000
"""Comparisons in all; about a second."""
EDITS = 600
"""Differences between two sequences up to which they are looked for."""
CONTEXT = 3
"""Lines around a difference; equal ones beyond are folded."""
ROWS, CELL = 1500, 4000
"""Rows that are shown, and characters of one line."""
_TOKENS = re.compile(r"\n|[ \t]+|\w+|[^\w\s]|\s")
_WORD = re.compile(r"\w")


class Run(NamedTuple):
    """Some of a line; ``changed``: the other text does not have it there."""

    text: str
    changed: bool


class Row(NamedTuple):
    """A line beside the one of the other text that it faces. ``kind``: ``same``, ``changed`` (both sides), ``left`` or
    ``right`` (one side alone), ``fold`` (``equal`` lines that are not shown). Numbers count lines from 1."""

    kind: str
    left: list[Run]
    right: list[Run]
    left_line: int | None = None
    right_line: int | None = None
    equal: int = 0


class Diff(NamedTuple):
    """What came of a comparison.

    Attributes:
        how: ``equal``, ``words``, ``lines`` or ``none`` (too long).
        rows: what is shown; ``more`` rows are not.
        removed, added: lines of the first text that are not in the second, and the other way round.
    """

    how: str
    rows: list[Row]
    more: int = 0
    removed: int = 0
    added: int = 0


class _Work:
    """How many comparisons are left."""

    def __init__(self, steps: int) -> None:
        self.left = steps


def diff(a: str, b: str) -> Diff:
    """Compare two texts."""
    longest = max(len(a), len(b))
    if a == b:
        return Diff("equal", [])
    if longest > LINES:
        return Diff("none", [])
    how = "words" if longest <= WORDS else "lines"
    work = _Work(STEPS)
    left, right = a.split("\n"), b.split("\n")
    rows: list[Row] = []
    removed = added = 0
    for same, i, i2, j, j2 in _stretches(left, right, work):
        if same:
            rows += (Row("same", [Run(left[i + n], False)], [], i + n + 1, j + n + 1) for n in range(i2 - i))
            continue
        removed, added = removed + i2 - i, added + j2 - j
        rows += _faced(left[i:i2], right[j:j2], i, j, work if how == "words" else None)
    folded = list(_folded(rows))
    return Diff(how, [_short(row) for row in folded[:ROWS]], max(0, len(folded) - ROWS), removed, added)


def _faced(left: Sequence[str], right: Sequence[str], i: int, j: int, work: _Work | None) -> Iterator[Row]:
    """Lines that differ, beside each other."""
    blocks = _words(left, right, work) if work is not None and left and right else None
    if blocks is None:
        blocks = [([[Run(line, True)] for line in left], [[Run(line, True)] for line in right])]
    for one, other in blocks:
        for x, y in _paired(one, other):
            kind = "left" if y is None else "right" if x is None else "changed"
            first, second = ([] if x is None else one[x]), ([] if y is None else other[y])
            if kind == "changed" and not any(run.changed for run in (*first, *second)):
                kind, second = "same", []
            yield Row(kind, first, second, None if x is None else i + x + 1, None if y is None else j + y + 1)
        i, j = i + len(one), j + len(other)


def _paired(one: list[list[Run]], other: list[list[Run]]) -> Iterator[tuple[int | None, int | None]]:
    """Which line faces which: in order, but lines of the longer side that have nothing in common come first, alone."""
    x = y = 0
    while len(one) - x > len(other) - y and all(run.changed for run in one[x]):
        yield x, None
        x += 1
    while len(other) - y > len(one) - x and all(run.changed for run in other[y]):
        yield None, y
        y += 1
    while x < len(one) or y < len(other):
        yield (x if x < len(one) else None), (y if y < len(other) else None)
        x, y = x + 1, y + 1


_Lines = list[list[Run]]


def _words(left: Sequence[str], right: Sequence[str], work: _Work) -> list[tuple[_Lines, _Lines]] | None:
    """The same lines with the words that differ marked, in blocks that end with a line's end on both sides; ``None``
    where they have little in common."""
    a, b = _TOKENS.findall("\n".join(left)), _TOKENS.findall("\n".join(right))
    found = list(_stretches(a, b, work))
    kept = [(same and _telling(a[i:i2], n, len(found)), i, i2, j, j2) for n, (same, i, i2, j, j2) in enumerate(found)]
    common = sum(1 for same, i, i2, _, _ in kept if same for token in a[i:i2] if _WORD.match(token))
    words = max(sum(1 for token in tokens if _WORD.match(token)) for tokens in (a, b))
    if words and common < 0.25 * words:
        return None
    blocks: list[tuple[_Lines, _Lines]] = [([[]], [[]])]
    for same, i, i2, j, j2 in kept:
        if not same:
            _put(blocks[-1][0], a[i:i2], True)
            _put(blocks[-1][1], b[j:j2], True)
            continue
        for n, text in enumerate("".join(a[i:i2]).split("\n")):
            if n:
                blocks.append(([[]], [[]]))
            _put(blocks[-1][0], [text], False)
            _put(blocks[-1][1], [text], False)
    return blocks


def _telling(tokens: Sequence[str], at: int, of: int) -> bool:
    """Whether an equal stretch is worth showing as such: blanks and points between two differences are not."""
    return at in (0, of - 1) or any(_WORD.match(one) or one == "\n" for one in tokens)


def _put(lines: list[list[Run]], tokens: Sequence[str], changed: bool) -> None:
    """Add tokens to the last line, and lines behind it."""
    for n, text in enumerate("".join(tokens).split("\n")):
        if n:
            lines.append([])
        if text:
            last = lines[-1][-1] if lines[-1] else None
            if last is not None and last.changed == changed:
                lines[-1][-1] = Run(last.text + text, changed)
            else:
                lines[-1].append(Run(text, changed))


def _folded(rows: Sequence[Row]) -> Iterator[Row]:
    """Rows without long stretches of equal lines."""
    at = 0
    while at < len(rows):
        stop = at
        while stop < len(rows) and rows[stop].kind == "same":
            stop += 1
        before, behind = CONTEXT if at else 0, CONTEXT if stop < len(rows) else 0
        if stop - at > before + behind + 2:
            yield from rows[at : at + before]
            yield Row("fold", [], [], equal=stop - at - before - behind)
            yield from rows[stop - behind : stop]
        else:
            yield from rows[at:stop]
        if stop < len(rows):
            yield rows[stop]
        at = stop + 1


def _short(row: Row) -> Row:
    return row._replace(left=_cut(row.left), right=_cut(row.right))


def _cut(runs: list[Run]) -> list[Run]:
    """The first characters of a line."""
    left, kept = CELL, []
    for run in runs:
        if left <= 0:
            kept.append(Run("…", False))
            break
        kept.append(run if len(run.text) <= left else Run(run.text[:left] + "…", run.changed))
        left -= len(run.text)
    return kept


Stretch = tuple[bool, int, int, int, int]
"""Whether it is equal; from and up to which place in the first sequence, and in the second."""


def _stretches(a: Sequence[Hashable], b: Sequence[Hashable], work: _Work) -> Iterator[Stretch]:
    """Two sequences as stretches that are equal and that are not, in order; none is empty on both sides."""
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end_a, end_b = len(a), len(b)
    while end_a > start and end_b > start and a[end_a - 1] == b[end_b - 1]:
        end_a, end_b = end_a - 1, end_b - 1
    matches = [(0, 0, start)] if start else []
    if start < end_a and start < end_b:
        matches += [(x + start, y + start, n) for x, y, n in _matches(a[start:end_a], b[start:end_b], work)]
    if end_a < len(a):
        matches.append((end_a, end_b, len(a) - end_a))
    i = j = 0
    for x, y, n in matches:
        if x > i or y > j:
            yield False, i, x, j, y
        yield True, x, x + n, y, y + n
        i, j = x + n, y + n
    if i < len(a) or j < len(b):
        yield False, i, len(a), j, len(b)


def _matches(a: Sequence[Hashable], b: Sequence[Hashable], work: _Work) -> list[tuple[int, int, int]]:
    """Equal stretches (place in ``a``, in ``b``, length) of a shortest script of edits; none where that is too long."""
    numbers: dict[Hashable, int] = {}
    first = [numbers.setdefault(item, len(numbers)) for item in a]
    known = len(numbers)
    second = [numbers.setdefault(item, len(numbers)) for item in b]
    if all(item >= known for item in second):
        return []
    n, m = len(first), len(second)
    reach: dict[int, int] = {1: 0}
    trace: list[dict[int, int]] = []
    for edits in range(min(n + m, EDITS) + 1):
        if work.left <= 0:
            return []
        row: dict[int, int] = {}
        for k in range(-edits, edits + 1, 2):
            if k == -edits or (k != edits and reach.get(k - 1, -1) < reach.get(k + 1, -1)):
                x = reach.get(k + 1, -1)
            else:
                x = reach.get(k - 1, -1) + 1
            y = x - k
            if x < 0 or x > n or y < 0 or y > m:
                continue
            begun = x
            while x < n and y < m and first[x] == second[y]:
                x, y = x + 1, y + 1
            work.left -= 1 + x - begun
            row[k] = x
            if x >= n and y >= m:
                trace.append(row)
                return _back(trace, n, m)
        trace.append(row)
        reach = row
    return []


def _back(trace: Sequence[dict[int, int]], n: int, m: int) -> list[tuple[int, int, int]]:
    """The equal stretches on the way to the end, from how far each number of edits reached on each diagonal."""
    found: list[tuple[int, int, int]] = []
    x, y = n, m
    for edits in range(len(trace) - 1, -1, -1):
        k = x - y
        if edits == 0:
            start = 0
        else:
            before = trace[edits - 1]
            down = k == -edits or (k != edits and before.get(k - 1, -1) < before.get(k + 1, -1))
            k_before = k + 1 if down else k - 1
            x_before = before.get(k_before, -1)
            start = x_before if down else x_before + 1
        if x > start:
            found.append((start, start - k, x - start))
        if edits:
            x, y = x_before, x_before - k_before
    return found[::-1]

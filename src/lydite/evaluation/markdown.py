"""Small pieces of Markdown: cells that cannot break their table, rates with their intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lydite.codec import well_formed
from lydite.evaluation.summary import Estimate


def cell(value: object) -> str:
    """A value as the text of a table cell, whatever a policy or a file made of it."""
    text = " ".join(well_formed(str(value)).split())
    for mark in "\\`*_|<>[]":
        text = text.replace(mark, f"\\{mark}")
    return text


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table: the first column to the left, the others to the right. Cells are escaped here."""
    lines = [
        "| " + " | ".join(map(cell, head)) + " |",
        "| " + " | ".join([":---", *["---:"] * (len(head) - 1)]) + " |",
        *("| " + " | ".join(map(cell, row)) + " |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def percent(share: float) -> str:
    """A fraction as a percentage."""
    return f"{100 * share:.1f} %"


def with_interval(estimate: Estimate | None) -> str:
    """An estimate and its interval, in percent."""
    if estimate is None:
        return "none valid"
    return f"{100 * estimate.value:.1f} % ({100 * estimate.low:.1f} to {100 * estimate.high:.1f})"


def points(difference: float) -> str:
    """A difference of rates in percentage points, with its sign."""
    return f"{100 * difference:+.1f}"

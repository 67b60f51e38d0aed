"""What `lydite sandbox doctor` finds out, for people and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from lydite.sandbox import Found, compiled
from lydite.sandbox.choose import NATIVE
from lydite.sandbox.threats import DIMENSIONS, THREATS, Containment, contained


def default_of(found: Sequence[Found]) -> str | None:
    """The back end that `auto` takes: the first of our own that works."""
    return next((name for name, available, _ in found if available and name in NATIVE), None)


def as_json(found: Sequence[Found]) -> dict[str, Any]:
    default = default_of(found)
    why = helper_missing()
    return {
        "default": default,
        "helper": why is None,
        "helper_reason": why or "",
        "backends": [_described(row, default) for row in found],
    }


def _described(row: Found, default: str | None) -> dict[str, Any]:
    name, available, reason = row
    return {
        "name": name,
        "available": available,
        "reason": reason,
        "default": name == default,
        "contains": contained(name) if name in THREATS else [],
        "threats": THREATS.get(name, {}),
    }


def helper_missing() -> str | None:
    """Why the compiled helper is not in use; None where it is."""
    return compiled.why_not() if compiled.helper() is None else None


def table(found: Sequence[Found]) -> Table:
    default = default_of(found)
    rows = Table("back end", "works here", "contains")
    rows.add_column("remark", overflow="fold")
    for name, available, reason in found:
        count = f"{len(contained(name))} of {len(DIMENSIONS)}" if available and name in THREATS else "-"
        rows.add_row(name, "yes" if available else "no", count, "the default" if name == default else reason)
    return rows


def sentences(found: Sequence[Found], width: int) -> list[str]:
    """All that the default contains, and what the others that work here do not, in lines of this width.

    What is true of several back ends is said once.
    """
    default = default_of(found)
    same: dict[str, list[str]] = {}
    for name, available, _ in found:
        for dimension, threat in THREATS.get(name, {}).items():
            if available and (name == default or threat.contained is not Containment.CONTAINED):
                same.setdefault(f"{dimension}: {threat.contained}: {threat.reason}", []).append(name)
    said = [f"{', '.join(names)}: {what}" for what, names in same.items()]
    why = helper_missing()
    said.append("compiled helper: in use" if why is None else f"compiled helper: not in use, jobs are slower: {why}")
    if default is None:
        said.append("no back end can be used by default: docs/sandbox.md, Troubleshooting")
    return [
        line
        for text in said
        for line in textwrap.wrap(
            text, max(width, 40), subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
        )
    ]

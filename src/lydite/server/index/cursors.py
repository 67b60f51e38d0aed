"""Where a page ends and the next one begins. A cursor is the name of the last item, never a count of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from lydite.server.errors import RefusedError
from lydite.server.paging import Page

T = TypeVar("T")
MOST = 2**31 - 1
"""The largest number that a column of numbers holds."""


def refused() -> RefusedError:
    """The error for a cursor that is none."""
    return RefusedError("after: this is no cursor of this list; begin without it", param="after")


def whole(cursor: str) -> int:
    """A number in a cursor.

    Raises:
        RefusedError: it is none.
    """
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) <= 10 and int(cursor) <= MOST):
        raise refused()
    return int(cursor)


def bound(value: int | None) -> int | None:
    """A number that a column can be compared with."""
    return None if value is None else max(-MOST - 1, min(MOST, value))


def page(
    found: Sequence[Any], limit: int, make: Callable[[Any], T], name: Callable[[Any], str], total: int | None = None
) -> Page[T]:
    """A page of what a query found that asked for one more than ``limit``."""
    kept = found[:limit]
    following = name(kept[-1]) if len(found) > limit and kept else None
    return Page(items=tuple(make(one) for one in kept), next=following, total=total)


def limited(limit: int) -> int:
    """How many items of a page may be asked for."""
    return max(1, min(limit, 10_000))

"""Lists in pages, in the shape of OpenAI's API: newest first, ``after`` the last id of the page before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import msgspec

T = TypeVar("T")


class Page(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """Some items, and how to get the next ones.

    Attributes:
        items: of this page.
        next: cursor of the next page; ``None`` at the end.
        total: of all pages, where it is cheap to know.
    """

    items: tuple[T, ...]
    next: str | None = None
    total: int | None = None


def listing(data: Sequence[Any], *, has_more: bool, **more: Any) -> dict[str, Any]:
    """A page as OpenAI's clients read it."""
    return {"object": "list", "data": list(data), "has_more": has_more, **more}

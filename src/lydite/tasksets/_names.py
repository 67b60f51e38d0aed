"""Small helpers for messages: the nearest known name, a value in few words, a mapping with known keys only."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from typing import Any

from lydite.errors import InputError

_SHOWN = 60


def nearest(name: str, known: Collection[str]) -> str:
    """A remedy: the known name that was most likely meant, else all of them."""
    close = difflib.get_close_matches(name[:100].casefold(), known, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else "known: " + ", ".join(sorted(known))


def show(value: Any) -> str:
    """A value as an error message can quote it: short, on one line."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    text = repr(value[: _SHOWN + 1] if isinstance(value, str) else value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def child(prefix: str, key: object) -> str:
    """Dotted name of a field below ``prefix``."""
    name = str(key)[:_SHOWN]
    return f"{prefix}.{name}" if prefix else name


def as_text(value: Any, field: str, remedy: str = "give a text") -> str:
    """The value, which must be a text."""
    if not isinstance(value, str):
        raise InputError(f"must be a text, not {show(value)}", field=field, remedy=remedy)
    return value


def as_object(value: Any, field: str | None, remedy: str) -> dict[str, Any]:
    """The value, which must be an object."""
    if not isinstance(value, dict):
        raise InputError(f"must be an object, not {show(value)}", field=field, remedy=remedy)
    return value


def as_list(value: Any, field: str, remedy: str) -> list[Any]:
    """The value, which must be a list."""
    if not isinstance(value, list):
        raise InputError(f"must be a list, not {show(value)}", field=field, remedy=remedy)
    return value


def only(value: dict[str, Any], known: Collection[str], prefix: str = "") -> None:
    """Refuse keys that nobody would read: a typing error must not pass as a default."""
    for key in value:
        if key not in known:
            raise InputError("unknown field", field=child(prefix, key), remedy=nearest(key, known))

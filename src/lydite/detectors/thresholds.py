"""Thresholds of a task for a detector (``metadata.flags.<detector>``), read strictly."""

from __future__ import annotations

from typing import Any

from lydite.errors import InputError


def read_whole(config: dict[str, Any], detector: str, **defaults: int) -> dict[str, int]:
    """Whole numbers of at least 0, with their defaults.

    Raises:
        InputError: a threshold is unknown or no such number; names it.
    """
    if not config:
        return defaults
    values = dict(defaults)
    for field, value in config.items():
        if field not in defaults:
            known = (
                f"{detector} knows {', '.join(defaults)}" if defaults else f"{detector} has none; false switches it off"
            )
            raise InputError("unknown threshold", field=field, remedy=known)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise InputError("expected a whole number of at least 0", field=field)
        values[field] = value
    return values

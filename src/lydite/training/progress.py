"""How far a run is, for whoever shows it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """One report.

    Attributes:
        part: which part of the run: ``before``, ``0 grpo``, ``after`` ...
        done, total: rollouts or steps of this part.
        metrics: of the last step, where there is one.
        warnings: what went bad in it, in words.
    """

    part: str
    done: int
    total: int
    metrics: dict[str, float] = {}
    warnings: tuple[str, ...] = ()


Report = Callable[[Progress], None]


def silent(_progress: Progress) -> None:
    """Shows nothing."""

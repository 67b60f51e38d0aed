"""A sparkline: SVG made here, so that it needs no script."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from lydite.server.page.telling import number


def spark(values: Sequence[float], *, width: int = 96, height: int = 20, what: str = "mean reward") -> Markup:
    """A small line of values in their order, scaled to their own range; nothing for fewer than two.

    Args:
        values: figures; those that are not finite are left out.
        width, height: pixels.
        what: they are of, for those who cannot see it.
    """
    known = [value for value in values if math.isfinite(value)]
    if len(known) < 2:
        return Markup("")
    low, high = min(known), max(known)
    reach = (high - low) or 1.0
    step = (width - 4) / (len(known) - 1)
    dots = [(2 + at * step, height - 2 - (value - low) / reach * (height - 4)) for at, value in enumerate(known)]
    if high == low:
        dots = [(x, height / 2) for x, _ in dots]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in dots)
    end_x, end_y = dots[-1]
    label = f"{what} from {number(known[0])} to {number(known[-1])}, between {number(low)} and {number(high)}"
    return Markup(
        '<svg class="spark" role="img" aria-label="{}" width="{}" height="{}" viewBox="0 0 {} {}">'
        '<polyline points="{}"/><circle cx="{}" cy="{}" r="2"/></svg>'
    ).format(label, width, height, width, height, line, f"{end_x:.1f}", f"{end_y:.1f}")

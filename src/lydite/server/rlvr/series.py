"""Fewer points of a series, so that a curve of 100,000 steps can be sent and drawn."""

from __future__ import annotations

from lydite.server.index.rows import Series


def thinned(series: Series, points: int) -> Series:
    """At most about ``points`` lines of a series, each as it stands in the run, first and last among them.

    The lines are cut into stretches of the same length. Of each stretch the line stays that lies farthest from the
    stretch's mean in any column, measured by the column's range: so a spike is still seen, and a click on a point still
    finds its step.
    """
    count = len(series.line)
    if count <= points:
        return series
    kept = [0, *_farthest(series, max(1, points - 2)), count - 1]
    return Series(
        line=tuple(series.line[i] for i in kept),
        stage=tuple(series.stage[i] for i in kept),
        step=tuple(series.step[i] for i in kept),
        columns={key: tuple(column[i] for i in kept) for key, column in series.columns.items()},
        known=series.known,
    )


def _farthest(series: Series, stretches: int) -> list[int]:
    count = len(series.line)
    spans = {key: _span(column) for key, column in series.columns.items()}
    kept = []
    for number in range(stretches):
        start = 1 + number * (count - 2) // stretches
        end = 1 + (number + 1) * (count - 2) // stretches
        far = [0.0] * (end - start)
        for key, column in series.columns.items():
            part = column[start:end]
            values = [value for value in part if value is not None]
            if not values or not spans[key]:
                continue
            mean = sum(values) / len(values)
            for i, value in enumerate(part):
                if value is not None:
                    far[i] = max(far[i], abs(value - mean) / spans[key])
        if far:
            kept.append(start + far.index(max(far)))
    return kept


def _span(column: tuple[float | None, ...]) -> float:
    values = [value for value in column if value is not None]
    return max(values) - min(values) if values else 0.0

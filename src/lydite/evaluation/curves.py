"""Line charts as small SVG files: no library, no script, readable on light and on dark pages.

A chart paints its own background. Its light colours stand in the drawing itself, for viewers that know no style sheets;
a style sheet of classes overrides them where ``prefers-color-scheme`` is dark. Colours are those of Okabe and Ito
(2008), which people with any kind of colour vision can tell apart, a shade lighter on dark.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape

import msgspec

WIDTH, HEIGHT = 640, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 58, 44
_POINTS = 400  # more than that cannot be seen on this width
_SMOOTH_FROM = 40  # from this many points on, a running mean is drawn over a faint line of all of them

_LIGHT = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#444444")
_DARK = ("#56b4e9", "#ff9e4a", "#2fd3a5", "#e8a3c9", "#f0e442", "#bbbbbb")
_PAGE = 'class="page" fill="#ffffff"'
_INK = 'class="ink" fill="#1f2328"'
_SOFT = 'class="soft" fill="#59636e"'
_GRID = 'class="grid" stroke="#d8dee4"'


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """One line.

    Attributes:
        name: for the legend.
        points: (x, y), x ascending; y that is not finite breaks the line.
        band: (x, low, high) of an interval around it.
    """

    name: str
    points: Sequence[tuple[float, float]]
    band: Sequence[tuple[float, float, float]] = ()


def line_chart(
    series: Sequence[Series],
    *,
    title: str,
    x_label: str,
    y_label: str,
    y_range: tuple[float, float] | None = None,
) -> str:
    """An SVG document.

    Args:
        series: at least one with at least one finite point.
        title: what is shown.
        x_label, y_label: names of the axes, with units.
        y_range: the range of y where it is known beforehand, such as (0, 1) for rates.

    Raises:
        ValueError: there is nothing to draw.
    """
    drawn = [_Line(index, entry) for index, entry in enumerate(series)]
    xs = [x for line in drawn for x, _ in line.finite]
    if not xs:
        raise ValueError(f"nothing to draw in {title!r}")
    ys = [y for line in drawn for y in line.heights]
    across = _Axis(min(xs), max(xs), _LEFT, WIDTH - _RIGHT, whole=all(x == int(x) for x in xs))
    low, high = y_range or (min(ys), max(ys))
    up = _Axis(low, high, HEIGHT - _BOTTOM, _TOP)
    smooth = any(line.smooth for line in drawn)
    note = " (faint: every step, strong: running mean)" if smooth else ""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
        ' role="img" font-family="system-ui, sans-serif" font-size="12">',
        f"<title>{_text(title)}</title>",
        f"<style>{dark_style()}</style>",
        f'<rect {_PAGE} width="{WIDTH}" height="{HEIGHT}" rx="6"/>',
        f'<text {_INK} x="{_LEFT}" y="22" font-size="14" font-weight="600">{_text(title)}'
        f'<tspan {_SOFT} font-size="11" font-weight="400">{_text(note)}</tspan></text>',
        *_grid(across, up),
        f'<text {_SOFT} x="{(WIDTH + _LEFT) / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">{_text(x_label)}</text>',
        f'<text {_SOFT} transform="translate(14 {(HEIGHT + _TOP - _BOTTOM) / 2:.0f}) rotate(-90)"'
        f' text-anchor="middle">{_text(y_label)}</text>',
        *_legend(drawn),
        *(part for line in drawn for part in line.svg(across, up)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


class _Line:
    """A series on its way to the page."""

    def __init__(self, index: int, series: Series) -> None:
        self.index = index % len(_LIGHT)
        self.series = series
        self.finite = [(x, y) for x, y in series.points if math.isfinite(x) and math.isfinite(y)]
        self.smooth = len(self.finite) >= _SMOOTH_FROM
        self.fill = f'class="f{self.index}" fill="{_LIGHT[self.index]}"'
        self.stroke = f'class="s{self.index}" stroke="{_LIGHT[self.index]}" fill="none" stroke-linejoin="round"'

    @property
    def heights(self) -> list[float]:
        return [y for _, y in self.finite] + [y for _, low, high in self.series.band for y in (low, high)]

    def svg(self, across: _Axis, up: _Axis) -> list[str]:
        parts = []
        if self.series.band:
            edge = [(x, high) for x, _, high in self.series.band] + [(x, low) for x, low, _ in self.series.band[::-1]]
            parts.append(f'<path {self.fill} opacity=".18" d="{_path(edge, across, up)}Z"/>')
        for run in _unbroken(self.series.points):
            faint = ' opacity=".3" stroke-width="1"' if self.smooth else ' stroke-width="2"'
            parts.append(f'<path {self.stroke}{faint} d="{_path(_thinned(run), across, up)}"/>')
            if len(self.finite) <= 20:
                parts += [f'<circle {self.fill} cx="{across(x)}" cy="{up(y)}" r="3"/>' for x, y in run]
        if self.smooth:
            mean = _path(_thinned(_running_mean(self.finite)), across, up)
            parts.append(f'<path {self.stroke} stroke-width="2" d="{mean}"/>')
        return parts


_SAME = 1e-12
"""Values that differ by less than this share of their size are one value: ticks could not tell them apart."""
_NOTHING = 1e-15
"""What is smaller than this is drawn as zero."""


class _Axis:
    """Values to pixels, and where the ticks are."""

    def __init__(self, low: float, high: float, start: float, end: float, *, whole: bool = False) -> None:
        size = max(abs(low), abs(high))
        if high - low <= max(_SAME * size, _NOTHING):
            around = (size if size > _NOTHING else 1.0) / 2
            low, high = low - around, high + around
        self.low, self.high, self.start, self.end = low, high, start, end
        step = _nice((high - low) / 5)
        if whole:
            step = max(1.0, round(step))
        first = math.ceil(low / step - 1e-9)
        last = math.floor(high / step + 1e-9)
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        self.ticks = [(index * step, f"{index * step:.{digits}f}") for index in range(first, last + 1)]

    def __call__(self, value: float) -> str:
        share = min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))
        return f"{self.start + share * (self.end - self.start):.1f}"


def _nice(step: float) -> float:
    """The next larger of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= step * (1 - 1e-9))


def _grid(across: _Axis, up: _Axis) -> list[str]:
    parts = []
    for value, label in up.ticks:
        parts.append(f'<path {_GRID} d="M{_LEFT} {up(value)}H{WIDTH - _RIGHT}"/>')
        parts.append(f'<text {_SOFT} x="{_LEFT - 6}" y="{up(value)}" dy="4" text-anchor="end">{label}</text>')
    for value, label in across.ticks:
        parts.append(f'<path {_GRID} d="M{across(value)} {HEIGHT - _BOTTOM}v4"/>')
        parts.append(f'<text {_SOFT} x="{across(value)}" y="{HEIGHT - 26}" text-anchor="middle">{label}</text>')
    return parts


def _legend(lines: Sequence[_Line]) -> list[str]:
    if len(lines) < 2 and not any(line.series.name for line in lines):
        return []
    parts, x = [], float(_LEFT)
    for line in lines:
        parts.append(f'<path {line.stroke} stroke-width="2" d="M{x:.0f} 40h18"/>')
        parts.append(f'<text {_INK} x="{x + 23:.0f}" y="44">{_text(line.series.name)}</text>')
        x += 42 + 7 * len(line.series.name)
    return parts


def dark_style() -> str:
    """The style sheet of every chart: its colours on dark."""
    lines = "".join(f".s{index}{{stroke:{colour}}}.f{index}{{fill:{colour}}}" for index, colour in enumerate(_DARK))
    page = ".page{fill:#0d1117}.ink{fill:#e6edf3}.soft{fill:#9198a1}.grid{stroke:#30363d}"
    return f"@media (prefers-color-scheme:dark){{{page}{lines}}}"


def _path(points: Iterable[tuple[float, float]], across: _Axis, up: _Axis) -> str:
    return "".join(f"{'L' if index else 'M'}{across(x)} {up(y)}" for index, (x, y) in enumerate(points))


def _unbroken(points: Sequence[tuple[float, float]]) -> list[list[tuple[float, float]]]:
    """The stretches of finite points."""
    runs: list[list[tuple[float, float]]] = [[]]
    for x, y in points:
        if math.isfinite(x) and math.isfinite(y):
            runs[-1].append((x, y))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _thinned(points: Sequence[tuple[float, float]]) -> Sequence[tuple[float, float]]:
    """At most about ``_POINTS`` points: of each stretch the least and the greatest, so that no spike is lost."""
    if len(points) <= _POINTS:
        return points
    size = math.ceil(2 * len(points) / _POINTS)
    kept = []
    for start in range(0, len(points), size):
        part = points[start : start + size]
        kept += sorted({min(part, key=lambda point: point[1]), max(part, key=lambda point: point[1])})
    return kept


def _running_mean(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Mean over a centred window of a tenth of the points; shorter at the ends."""
    half = max(1, len(points) // 20)
    sums = [0.0]
    for _, y in points:
        sums.append(sums[-1] + y)
    result = []
    for index, (x, _) in enumerate(points):
        start, end = max(0, index - half), min(len(points), index + half + 1)
        result.append((x, (sums[end] - sums[start]) / (end - start)))
    return result


def _text(text: str) -> str:
    """Text that XML can hold: escaped, and without the control characters that XML 1.0 has no way to write."""
    return escape("".join(char if char >= " " and not "\ud800" <= char <= "\udfff" else " " for char in text))

import math
import re
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lydite.evaluation.curves import HEIGHT, WIDTH, Series, line_chart

number = st.floats(-1e9, 1e9)
odd = number | st.sampled_from([math.nan, math.inf, -math.inf])


def chart(*series: Series, **options) -> ElementTree.Element:
    return ElementTree.fromstring(line_chart(series, **{"title": "t", "x_label": "x", "y_label": "y", **options}))


def paths(root: ElementTree.Element, kind: str) -> list[str]:
    return [element.get("d", "") for element in root.iter() if element.get("class") == kind]


def coordinates(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path)]


@example([(0.0, 0.0), (1.0, 5e-324)], "")
@example([(0.0, 1e9), (5e-324, 1e9 + 1e-7)], "")
@given(st.lists(st.tuples(number, odd), min_size=1, max_size=60), st.text(max_size=20))
def test_any_data_and_any_text_make_well_formed_svg_inside_the_page(values, text: str) -> None:
    values = sorted(values, key=lambda point: point[0])
    if not any(math.isfinite(y) for _, y in values):
        with pytest.raises(ValueError, match="nothing to draw"):
            chart(Series(name=text, points=values))
        return
    root = chart(Series(name=text, points=values), title=text, x_label=text, y_label=text)
    for path in paths(root, "s0"):
        assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in coordinates(path))


def test_higher_values_are_higher_on_the_page_and_later_ones_further_right() -> None:
    root = chart(Series(name="", points=[(0, 0.2), (1, 0.4), (2, 0.9)]), y_range=(0, 1))
    (line,) = paths(root, "s0")
    points = coordinates(line)
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)


def test_a_missing_value_breaks_the_line() -> None:
    root = chart(Series(name="", points=[(0, 1), (1, 2), (2, math.nan), (3, 1), (4, 2)]))
    assert len(paths(root, "s0")) == 2


def test_dark_pages_get_colours_of_their_own() -> None:
    svg = line_chart([Series(name="a", points=[(0, 1), (1, 2)])], title="t", x_label="x", y_label="y")
    assert "prefers-color-scheme:dark" in svg
    assert 'class="page" fill="#ffffff"' in svg


def test_a_band_is_drawn_behind_its_line() -> None:
    root = chart(Series(name="a", points=[(1, 0.5), (2, 0.6)], band=[(1, 0.4, 0.6), (2, 0.5, 0.7)]))
    classes = [element.get("class") for element in root.iter()]
    assert classes.index("f0") < len(classes) - 1 - classes[::-1].index("s0")


def test_long_series_are_thinned_without_losing_the_spike() -> None:
    values = [(float(step), 0.0) for step in range(10_000)]
    values[6_543] = (6_543.0, 1.0)
    root = chart(Series(name="", points=values), y_range=(0, 1))
    every_step, mean = paths(root, "s0")
    assert len(coordinates(every_step)) < 1_000
    assert len(coordinates(mean)) < 1_000
    assert min(y for _, y in coordinates(every_step)) == 58.0


def test_one_point_alone_is_drawn() -> None:
    root = chart(Series(name="", points=[(3, 0.5)]))
    assert any(element.tag.endswith("circle") for element in root.iter())

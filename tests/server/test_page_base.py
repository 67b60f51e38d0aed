"""What all views stand on: escaping, figures, addresses, static files, keys, themes."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError
from page_making import POOR_CONTRAST, Site, serving
from server_making import HOSTILE, sampled

from lydite.server.page import assets, links, telling
from lydite.server.page.render import ENVIRONMENT, render
from lydite.server.page.spark import spark


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    sampled(home, "sampled")
    sampled(home, "nested~deeper".replace("~", "/"), tasks=1)
    with serving(home) as site:
        yield site


@given(st.text(st.characters(exclude_categories=())))
def test_a_policys_words_are_text_whatever_they_are(text: str) -> None:
    shown = str(telling.words(text))
    bare = re.sub(r'<span class="odd" title="U\+[0-9A-F]{4}">[^<>]*</span>', "", shown)
    assert "<" not in bare
    assert ">" not in bare
    assert '"' not in bare
    assert "'" not in bare
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", shown)
    shown.encode()


def test_marks_that_turn_text_around_are_shown_by_their_number() -> None:
    assert "202E" in telling.words("a\u202eb")
    assert "\u202e" not in telling.words("a\u202eb")


def test_a_long_text_is_cut_before_it_is_escaped() -> None:
    assert telling.words("<" * 10, 3) == "&lt;&lt;&lt;"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0"), (0.123456, "0.123"), (-1.5, "−1.5"), (12345.6, "12,346"), (1e-5, "1.00e-5"), (float("nan"), "–")],
)
def test_figures_have_three_digits(value: float, shown: str) -> None:
    assert telling.number(value) == shown


def test_a_share_that_is_not_quite_all_does_not_look_so() -> None:
    assert (telling.percent(0.999), telling.percent(1.0), telling.percent(0.001)) == (">99 %", "100 %", "<1 %")


@pytest.mark.parametrize(
    ("passed", "shown"), [(3, "just now"), (90, "1 min ago"), (7300, "2 h ago"), (9e5, "10 d ago")]
)
def test_times_are_told_as_ages(passed: float, shown: str) -> None:
    assert telling.ago(1000.0, 1000.0 + passed) == shown


def test_a_time_that_is_none_is_a_dash() -> None:
    assert (telling.ago("yesterday"), telling.iso("yesterday"), telling.iso(1e300)) == ("–", "", "")


def test_sparklines_are_of_two_values_or_more() -> None:
    assert spark([1.0]) == ""
    assert spark([float("nan"), 1.0]) == ""
    assert spark([1.0, 1.0]).count(",") >= 2


def test_addresses_leave_out_what_is_empty_and_repeat_lists() -> None:
    assert links.run("a~b", "groups", step=3, task="", phase=None) == "/runs/a~b/groups?step=3"
    assert links.query({"outcome": ["correct", "partial"]}) == "?outcome=correct&outcome=partial"
    assert links.run("a?b/../c") == "/runs/a%3Fb%2F..%2Fc"


def test_every_macro_of_the_table_is_there() -> None:
    text = (Path(assets.__file__).parent / "templates" / "macros.html").read_text()
    named = set(re.findall(r"\bui\.(\w+)\(", text.split("#}", 1)[0]))
    assert named <= set(re.findall(r"{% macro (\w+)\(", text))


def test_templates_escape_what_they_are_given() -> None:
    assert ENVIRONMENT.from_string("{{ x }}").render(x=HOSTILE).count("<") == 0


def test_a_template_that_names_what_is_not_there_fails() -> None:
    with pytest.raises(UndefinedError):
        render("problem.html")


def test_the_style_sheet_is_small() -> None:
    assert len(assets.files()["page.css"].data) < 25_000


def test_all_vendored_files_have_their_licence_beside_them() -> None:
    vendored = {name for name in assets.files() if name.startswith("vendor/") and not name.endswith(".txt")}
    licensed = {name.removesuffix(".LICENSE.txt") for name in assets.files() if name.endswith(".LICENSE.txt")}
    assert vendored
    assert {re.sub(r"(\.min)?\.(js|css)$", "", name) for name in vendored} == licensed


def test_static_files_are_kept_for_ever_under_their_digest(client: TestClient) -> None:
    answer = client.get(assets.url("page.css"))
    assert answer.headers["cache-control"] == assets.FOREVER
    assert answer.content == assets.files()["page.css"].data
    assert client.get("/static/older/page.css").headers["cache-control"] == "no-cache"


def test_static_files_are_packed_where_that_is_understood(client: TestClient) -> None:
    answer = client.get(assets.url("keys.js"), headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in answer.headers
    assert gzip.decompress(assets.files()["keys.js"].packed) == answer.content


@pytest.mark.parametrize(
    "name", ["../render.py", "..%2f..%2frender.py", "vendor", "", "page.css%00", "templates/base.html"]
)
def test_no_other_file_is_sent(client: TestClient, name: str) -> None:
    assert client.get(f"/static/x/{name}").status_code == 404


def test_what_is_not_there_is_told_as_a_page(client: TestClient) -> None:
    answer = client.get("/runs/nowhere", headers={"Accept": "text/html"})
    assert answer.status_code == 404
    assert "<h1>There is no such thing here</h1>" in answer.text


def test_a_bad_parameter_is_told_as_a_page(client: TestClient, home: Path, service: Any) -> None:
    sampled(home)
    service.index.refresh()
    answer = client.get("/runs/sampled/groups?step=x")
    assert answer.status_code == 400
    assert "write 40..60" in answer.text


def test_the_theme_is_kept_and_shown_before_anything_is_drawn(site: Site) -> None:
    page = site.open("/", theme="light")
    page.keyboard.press("t")
    page.add_init_script(
        "document.addEventListener('DOMContentLoaded', () => { window.first = document.documentElement.dataset.theme })"
    )
    page.reload()
    assert page.evaluate("window.first") == "dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(19, 20, 22)"
    site.check(page)


def test_keys_move_open_search_and_go(site: Site) -> None:
    page = site.open("/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    first = page.evaluate("document.activeElement.dataset.run")
    page.keyboard.press("/")
    page.keyboard.type("jgr?t")
    assert page.locator("input[name=q]").input_value() == "jgr?t"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    assert "search" in page.locator("#keys").inner_text()
    page.keyboard.press("Escape")
    page.locator("[data-row]").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/runs/{first}")
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url("**/")
    site.check(page)


def test_the_link_of_a_row_is_copied(site: Site) -> None:
    page = site.open("/", permissions=["clipboard-read", "clipboard-write"])
    page.keyboard.press("j")
    page.keyboard.press("y")
    page.locator("#toast.on").wait_for()
    assert page.evaluate("navigator.clipboard.readText()").startswith(site.url + "/runs/")
    site.check(page)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_contrast_enough(site: Site, theme: Any) -> None:
    page = site.open("/", theme=theme)
    assert not page.evaluate(_CONTRAST)
    for path in (
        "/",
        "/runs/sampled",
        "/runs/sampled/groups",
        "/runs/sampled/groups/1",
        "/runs/nested~deeper/groups/1",
    ):
        page.goto(site.url + path)
        poor = page.evaluate(POOR_CONTRAST)
        assert not poor, (path, poor)
    site.check(page)


def test_the_first_tab_skips_to_the_content(site: Site) -> None:
    page = site.open("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    site.check(page)


_CONTRAST = """() => {
  const style = getComputedStyle(document.documentElement);
  const token = (name) => style.getPropertyValue("--" + name).trim();
  const light = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const ratio = (a, b) => {
    const [x, y] = [light(token(a)), light(token(b))].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const pairs = [];
  for (const ground of ["bg", "panel", "sunk"])
    for (const text of ["text", "muted", "accent"]) pairs.push([text, ground, 4.5]);
  for (const name of ["correct", "partial", "incorrect", "unparseable", "invalid", "flag"])
    for (const ground of ["panel", name + "-soft"]) pairs.push([name, ground, 4.5]);
  for (const ground of ["panel", "bg"]) pairs.push(["line-strong", ground, 3], ["focus", ground, 3]);
  return pairs.filter(([a, b, least]) => !(ratio(a, b) >= least)).map(([a, b]) => `${a} on ${b}: ${ratio(a, b)}`);
}"""

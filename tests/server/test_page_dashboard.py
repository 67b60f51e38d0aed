"""A run's dashboard, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from page_making import Site, serving, until
from server_making import make_task, sampled, train_step, trained

from lydite.ledger import RunFolder
from lydite.sampling import Judge
from lydite.server.index.rows import RunRow
from lydite.server.page import charts, dashboard_view
from lydite.server.page.measured import measured


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    trained(home, "trained", steps=6)
    trained(home, "going", steps=3, finish=False)
    sampled(home, "sampled")
    with RunFolder.reopen(home / "runs" / "going") as run:
        message = "entropy fell from 1.00 to 0.10 <script>window.pwned=1</script>"
        run.note(warnings=[{"stage": 0, "step": 2, "kind": "collapse", "message": message}])
    with serving(home) as site:
        yield site


def drawn(page: Any) -> None:
    page.locator("#charts[data-drawn]").wait_for()


def test_a_training_run_is_shown_in_any_window(site: Site) -> None:
    def check(page: Any) -> None:
        drawn(page)
        box = page.locator("#chart-reward canvas").bounding_box()
        assert 200 < box["width"] <= page.viewport_size["width"]

    site.looks("/runs/trained", check)


def test_the_difference_that_training_made_stands_at_the_top(site: Site) -> None:
    page = site.open("/runs/trained", width=360)
    drawn(page)
    head = page.locator(".stats").inner_text()
    assert "50.0 % → 100.0 %" in head
    assert "+50.0 points" in head
    site.check(page)


def test_a_training_run_is_shown_without_script(site: Site) -> None:
    page = site.open("/runs/trained", script=False)
    assert page.locator("#chart-reward svg.spark").count() == 1
    page.locator("input[name=step]").fill("3")
    page.get_by_role("button", name="Open", exact=True).click()
    page.wait_for_url("**/groups?stage=0&step=3")


def test_a_run_without_training_says_what_was_seen(site: Site) -> None:
    def check(page: Any) -> None:
        text = page.locator("main").inner_text()
        assert "pass@4" in text
        assert "Tasks, the hardest first" in text
        assert "What groups can teach" in text
        assert page.locator("#charts").count() == 0

    site.looks("/runs/sampled", check)


def test_a_click_on_a_point_opens_its_step(site: Site) -> None:
    page = site.open("/runs/trained")
    drawn(page)
    over = page.locator("#chart-success .u-over")
    box = over.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.41, box["y"] + 40)
    page.locator("#chart-entropy .now", has_text="step 3").wait_for()  # cursors move together
    page.mouse.click(box["x"] + box["width"] * 0.41, box["y"] + 40)
    page.wait_for_url("**/runs/trained/groups?stage=0&step=3")
    site.check(page)


def test_new_steps_are_added_without_a_reload(site: Site) -> None:
    page = site.open("/runs/going")
    drawn(page)
    page.locator("#live[data-state=on]").wait_for()
    page.evaluate("window.stayed = true")
    before = page.locator("#n-rollouts").inner_text()
    with RunFolder.reopen(site.home / "runs" / "going") as run:
        train_step(run, Judge(), 4, make_task(0))
        train_step(run, Judge(), 5, make_task(1))
        page.locator("#curves-count", has_text="5 steps").wait_for()
        until(lambda: page.locator("#n-rollouts").inner_text() != before)
    reward = page.evaluate(
        "import(document.querySelector('script[src*=\"charts.js\"]').src).then(m => m.curves.data.columns.reward)"
    )
    assert reward == [0.3, 0.4, 0.5, 0.6, 0.7]
    assert page.locator("#chart-reward .now").inner_text().startswith("0.7")
    assert page.evaluate("window.stayed")
    site.check(page)


def test_a_page_out_of_sight_catches_up_when_it_is_seen_again(site: Site) -> None:
    page = site.open("/runs/going")
    drawn(page)
    page.locator("#live[data-state=on]").wait_for()
    steps = int(page.locator("#curves-count").inner_text().split()[0])
    page.evaluate(_HIDE, True)
    page.locator("#live[data-state=off]").wait_for()
    with RunFolder.reopen(site.home / "runs" / "going") as run:
        train_step(run, Judge(), steps + 1, make_task(2))
    site.service.index.refresh()
    page.evaluate(_HIDE, False)
    page.locator("#curves-count", has_text=f"{steps + 1} steps").wait_for()
    site.check(page)


_HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_curves_begin_with_the_first_step_and_follow_the_stages(site: Site) -> None:
    trained(site.home, "young", steps=0, finish=False)
    site.service.index.refresh()
    with RunFolder.reopen(site.home / "runs" / "young") as run:
        site.service.index.refresh()
        page = site.open("/runs/young")
        page.locator("#live[data-state=on]").wait_for()
        assert page.locator("#charts").count() == 0
        train_step(run, Judge(), 1, make_task(0))
        drawn(page)
        run.metric({"kind": "dpo", "stage": 1, "step": 1, "loss": 0.6})
        page.locator("#curves", has_text="stage 1").wait_for()
        assert page.locator("nav[aria-label=Stages] a").all_inner_texts() == ["0 grpo", "1 dpo"]
    site.check(page)


def test_warnings_are_told_in_their_words(site: Site) -> None:
    page = site.open("/runs/going")
    assert "entropy fell from 1.00 to 0.10 <script>" in page.locator(".note.warn").inner_text()
    site.check(page)


def test_more_curves_and_another_theme_are_drawn(site: Site) -> None:
    page = site.open("/runs/trained")
    drawn(page)
    page.keyboard.press("t")
    assert page.locator("#chart-reward canvas").count() == 1
    page.keyboard.press("f")
    page.wait_for_url("**/flags?run=trained")
    page.go_back()
    drawn(page)
    page.keyboard.press("g")
    page.keyboard.press("u")
    page.wait_for_url("**/runs/trained/groups")
    site.check(page)


def test_charts_are_those_that_have_values() -> None:
    found = charts.present([{"loss": 1.0, "reward": None, "entropy": "high"}, {"loss": 0.5}])
    assert [(chart.id, chart.more) for chart in found] == [("loss", False)]


def test_a_few_steps_are_read_for_the_small_curves(site: Site) -> None:
    counts = measured(site.service)
    row = site.service.index.run("trained")
    (stage,) = counts.stages(row)
    assert charts.column(counts.few(row, stage, 3), "reward") == [0.4, 0.6, 0.8]


def test_notes_that_are_no_warnings_are_left_out() -> None:
    row = RunRow(id="x", kind="train", created="", state="complete", notes={"warnings": [1, {}, {"message": "m"}]})
    assert dashboard_view.warnings(row) == [{"message": "m"}]

"""The list of runs, in a real browser."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from page_making import Site, serving
from server_making import sampled, trained

from lydite.ledger import RunFolder
from lydite.server.index.rows import RunRow
from lydite.server.page import progress


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    sampled(home, "sampled")
    trained(home, "group/trained")
    broken = sampled(home, "broken", tasks=1)
    (broken / "run.json").write_text("{")
    with serving(home) as site:
        yield site


def test_runs_are_shown_in_any_window(site: Site) -> None:
    def check(page: Any) -> None:
        row = page.locator("[data-run='group~trained']")
        assert "group / trained" in row.inner_text()
        assert row.locator("svg.spark").is_visible()
        assert "unreadable" in page.locator("[data-run=broken]").inner_text()

    site.looks("/", check)


def test_runs_are_shown_without_script(site: Site) -> None:
    page = site.open("/?kind=train", script=False)
    assert page.locator("tr[data-run]").count() == 1
    page.locator("select[name=kind]").select_option("sample")
    page.locator("form.filters button").click()
    page.wait_for_url("**kind=sample**")
    assert page.locator("tr[data-run]").all_inner_texts()
    assert page.locator("[data-run='group~trained']").count() == 0
    page.locator("[data-run=sampled] a").first.click()
    page.wait_for_url("**/runs/sampled")


def test_filters_live_in_the_address(site: Site) -> None:
    page = site.open("/")
    page.locator("input[name=q]").fill("trained")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?q=trained")
    assert page.locator("tr[data-run]").count() == 1
    assert "1 found" in page.locator("#runs-count").inner_text()
    page.locator("input[name=q]").fill("nothing like it")
    page.keyboard.press("Enter")
    page.get_by_text("No run is like that").wait_for()
    site.check(page)


def test_a_search_is_text_wherever_it_is_shown(site: Site) -> None:
    page = site.open('/?q="><script>window.pwned=1</script>&state=<b>')
    assert page.locator("input[name=q]").input_value() == '"><script>window.pwned=1</script>'
    site.check(page)


def test_a_new_run_comes_in_and_its_line_follows_it(site: Site) -> None:
    page = site.open("/")
    page.locator("#live[data-state=on]").wait_for()
    page.evaluate("window.stayed = true")
    trained(site.home, "fresh", steps=2, finish=False)
    page.locator("[data-run=fresh]", has_text="2 steps").wait_for()
    with RunFolder.reopen(site.home / "runs" / "fresh") as run:
        run.metric({"kind": "grpo", "stage": 0, "step": 3, "reward": 0.9})
        page.locator("[data-run=fresh]", has_text="3 steps").wait_for()
        run.finish("complete")
    page.locator("[data-run=fresh] .state.complete").wait_for()
    assert page.evaluate("window.stayed")
    site.check(page)
    shutil.rmtree(site.home / "runs" / "fresh")


def test_planned_steps_are_those_of_the_recipe() -> None:
    settings = json.loads(
        '{"stages": [{"kind": "sample"}, {"kind": "grpo", "optimizer_steps": 40}, {"kind": "sft", "steps": 5}, 7]}'
    )
    assert progress.planned(RunRow(id="x", kind="train", created="", state="running", settings=settings)) == 45
    assert progress.planned(RunRow(id="x", kind="train", created="", state="running", settings={"stages": 3})) == 0

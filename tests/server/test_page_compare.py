"""``/compare``: what one run solves and another does not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from page_making import Site, serving
from server_making import ANSWERS, HOSTILE, sampled, trained

from lydite.evaluation.collect import collect
from lydite.evaluation.paired import paired_tallies
from lydite.ledger import RunFolder
from lydite.server.page.compared import COMPARING
from lydite.server.service import Service
from lydite.server.settings import Settings

WRONG = "\\boxed{{{wrong}}}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    sampled(home, "weak", tasks=6, answers=(ANSWERS[0], WRONG, WRONG, HOSTILE))
    sampled(home, "strong", tasks=8, answers=(ANSWERS[0],) * 4)
    trained(home, "one", steps=6)
    trained(home, "two", steps=4)
    with serving(home) as site:
        yield site


def text_of(page: Any) -> str:
    return str(page.locator("main").inner_text())


def test_the_numbers_are_those_of_the_command_line(tmp_path: Path) -> None:
    a = sampled(tmp_path, "a", tasks=5, answers=(ANSWERS[0], WRONG, WRONG))
    b = sampled(tmp_path, "b", tasks=7, answers=(ANSWERS[0], ANSWERS[0], WRONG))
    service = Service(Settings(home=tmp_path))
    service.index.refresh()
    found = COMPARING.compare(service, "a", "b:sample")
    sides = [collect(RunFolder.open(path).rows()).parts["sample"] for path in (a, b)]
    for tally in sides:  # the index knows verifiers by name and version
        tally.verifiers = {name.split()[0] for name in tally.verifiers}
    assert found.pairs[0] == paired_tallies(*sides, k=1)
    assert [(one.task, one.change) for one in found.tasks] == [(f"t{number}", "fixed") for number in range(5)]
    assert any("2 in B only" in sentence for sentence in found.warnings)
    service.close()


def test_the_chooser_offers_what_can_be_compared(site: Site) -> None:
    page = site.open("/compare")
    page.select_option("[name=a]", "weak:sample")
    page.select_option("[name=b]", "strong:sample")
    page.click("text=Compare >> nth=-1")
    page.wait_for_url("**/compare?*")
    assert "6 common tasks" in text_of(page)
    site.check(page)
    page = site.open("/compare?a=one")
    page.click("text=before → after")
    page.wait_for_load_state()
    assert "a=one%3Abefore" in page.url
    site.check(page)


def test_changes_task_by_task_lead_to_both_groups(site: Site) -> None:
    page = site.open("/compare?a=weak&b=strong")
    said = text_of(page)
    assert "the sets of tasks differ: 0 in A only, 2 in B only" in said
    assert page.locator("tr .chip.change.fixed").count() == 6
    hrefs = [
        link.get_attribute("href") for link in page.locator("tbody tr[data-row] >> nth=0").locator("a.tally").all()
    ]
    assert hrefs[0].startswith("/runs/weak/groups/")
    assert hrefs[1].startswith("/runs/strong/groups/")
    page.click("nav[aria-label=Change] >> text=broken")
    page.wait_for_url("**show=broken**")
    assert "No task is like that" in text_of(page)
    site.check(page)


def test_a_and_b_change_places(site: Site) -> None:
    page = site.open("/compare?a=weak&b=strong")
    page.keyboard.press("w")
    page.wait_for_url("**a=strong**")
    assert page.locator("tr .chip.change.broken").count() == 6
    site.check(page)


def test_curves_of_both_lie_over_each_other(site: Site) -> None:
    page = site.open("/compare?a=one:after&b=two:after")
    page.locator("#overlay[data-drawn]").wait_for()
    assert page.locator("#overlay canvas").count() >= 4
    assert page.locator("#overlay .plot").first.get_attribute("aria-label") == "Reward of A and B by step"
    site.check(page)


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ("a=nowhere&b=weak", 404, "there is no run"),
        ("a=weak:nothing&b=weak", 400, "has no part 'nothing'"),
        ("a=other:before&b=weak", 200, "the two runs have no task in common"),
        ("a=weak&b=weak&after=-1", 400, "after"),
    ],
)
def test_what_cannot_be_compared_is_told_beside_the_chooser(
    client: Any, home: Path, service: Any, query: str, status: int, said: str
) -> None:
    sampled(home, "weak", tasks=3)
    trained(home, "other", steps=1)
    service.index.refresh()
    answer = client.get(f"/compare?{query}", headers={"Accept": "text/html"})
    assert answer.status_code == status
    assert said in answer.text.replace("&#39;", "'")


def test_it_looks_as_it_should_everywhere(site: Site) -> None:
    site.looks("/compare?a=weak&b=strong")
    for path in ("/compare", "/compare?a=one&b=two"):
        site.check(site.open(path, width=360, theme="dark"))

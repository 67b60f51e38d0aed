"""The inbox of flags: decisions by form and by key, precision, evidence; all views of attempts in a real browser."""

from __future__ import annotations

import html
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attempts_making import NASTY, episodes, hostile
from fastapi.testclient import TestClient
from page_making import Site, serving, until
from server_making import make_task, sampled, train_step, trained

from lydite.ledger import RunFolder
from lydite.ledger.reviews import Decision
from lydite.sampling import Judge
from lydite.server.app import create_app
from lydite.server.index.rows import FlagFilter
from lydite.server.page.flags_view import PAGE, STEPS
from lydite.server.service import Service
from lydite.server.settings import Settings

FLAG = "/flags/sampled/1/no_visible_work/3"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with its index; copied by those that decide."""
    home = tmp_path_factory.mktemp("flags")
    sampled(home)
    trained(home, steps=8)
    episodes(home)
    hostile(home)
    service = Service(Settings(home=home))
    service.index.refresh()
    service.close()
    return home


def client(home: Path) -> Iterator[TestClient]:
    service = Service(Settings(home=home, poll_seconds=60))
    yield TestClient(create_app(service), base_url="http://127.0.0.1:7799", follow_redirects=False)
    service.close()


@pytest.fixture(scope="module")
def seen(made: Path) -> Iterator[TestClient]:
    """For those that only look."""
    yield from client(made)


@pytest.fixture
def asked(made: Path, tmp_path: Path) -> Iterator[TestClient]:
    """For those that decide."""
    yield from client(Path(shutil.copytree(made, tmp_path / "home")))


def reviews(home: Path, run: str = "sampled") -> list[dict[str, Any]]:
    path = home / "runs" / run / "flags-review.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def cards(markup: str) -> list[str]:
    return re.findall(r'class="panel flag-card[^"]*" id="([^"]*)"', markup)


def text_of(markup: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def test_open_flags_come_in_the_fair_order(seen: TestClient) -> None:
    index = seen.app.state.service.index  # type: ignore[attr-defined]
    flags = index.flags(FlagFilter(decision="open"), limit=PAGE).items
    assert cards(seen.get("/flags").text) == [f"flag-{one.run}-{one.seq}-{one.detector}" for one in flags]
    assert len(flags) == PAGE


def test_a_decision_without_scripts_is_written_and_leads_back(asked: TestClient) -> None:
    form = {"decision": "confirmed", "note": "bare <answer>", "back": "/flags?run=sampled"}
    answer = asked.post(FLAG, data=form)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/flags?run=sampled#flag-sampled-1-no_visible_work"
    home = asked.app.state.service.home.path  # type: ignore[attr-defined]
    (line,) = reviews(home)
    assert (line["rollout"], line["decision"], line["note"]) == ("sample/t0/0", "confirmed", "bare <answer>")
    assert "flag-sampled-1-no_visible_work" not in asked.get("/flags?run=sampled").text
    page = asked.get("/flags?run=sampled&decision=confirmed").text
    assert cards(page) == ["flag-sampled-1-no_visible_work"]
    assert "bare &lt;answer&gt;" in page


def test_a_decision_in_place_brings_card_and_precision(asked: TestClient) -> None:
    asked.post(FLAG, data={"decision": "confirmed", "back": "/flags"})
    other = FLAG.replace("/1/", "/2/")
    answer = asked.post(other, data={"decision": "dismissed", "back": "/flags"}, headers={"HX-Request": "true"})
    assert cards(answer.text) == ["flag-sampled-2-no_visible_work"]
    assert 'hx-swap-oob="true"' in answer.text
    assert "50 % 9 % to 91 %" in text_of(answer.text)
    undone = asked.post(other, data={"decision": "withdrawn", "back": "/flags"}, headers={"HX-Request": "true"})
    assert "100 % 21 % to 100 %" in text_of(undone.text)


def test_precision_is_of_the_run_that_the_inbox_is_about(asked: TestClient) -> None:
    asked.post("/flags/trained/1/no_visible_work/3", data={"decision": "dismissed"})
    form = {"decision": "confirmed", "back": "/flags?run=sampled"}
    found = asked.post(FLAG, data=form, headers={"HX-Request": "true"})
    assert "100 % 21 % to 100 %" in text_of(found.text)


def test_nobody_is_led_elsewhere(asked: TestClient) -> None:
    for back in (
        "//evil.example/flags",
        "https://evil.example/flags",
        "/\\evil",
        "javascript:x",
        "/flags\r\nx: y",
        "/tasks",
        "",
    ):
        answer = asked.post(FLAG, data={"decision": "confirmed", "back": back})
        assert answer.status_code == 303
        assert answer.headers["location"] == "/flags?run=sampled#flag-sampled-1-no_visible_work"


@pytest.mark.parametrize(
    ("path", "form", "status"),
    [
        ("/flags/sampled/1/no_such/3", {"decision": "confirmed"}, 404),
        ("/flags/sampled/1/no_visible_work/2", {"decision": "confirmed"}, 404),
        ("/flags/sampled/3/no_visible_work/3", {"decision": "confirmed"}, 404),
        ("/flags/none/1/no_visible_work/3", {"decision": "confirmed"}, 404),
        (FLAG, {"decision": "great"}, 400),
        (FLAG, {}, 400),
        (FLAG, {"decision": "confirmed", "note": "x" * 2001}, 400),
    ],
)
def test_what_cannot_be_decided(seen: TestClient, path: str, form: dict[str, str], status: int) -> None:
    assert seen.post(path, data=form).status_code == status
    assert not reviews(seen.app.state.service.home.path)  # type: ignore[attr-defined]


def test_forms_of_other_sites_decide_nothing(seen: TestClient) -> None:
    answer = seen.post(FLAG, data={"decision": "confirmed"}, headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403
    assert not reviews(seen.app.state.service.home.path)  # type: ignore[attr-defined]


def test_the_same_pattern_is_of_the_same_run_and_steps(seen: TestClient) -> None:
    links = {html.unescape(link) for link in re.findall(r'href="([^"]*)">Same pattern', seen.get("/flags").text)}
    assert f"/runs/trained/rollouts?flag=no_visible_work&stage=0&step=0..{3 + STEPS}" in links
    assert "/runs/sampled/rollouts?flag=no_visible_work&phase=sample" in links
    for link in links:
        assert "<tr data-row" in seen.get(link).text


def test_an_inbox_without_flags_says_so(seen: TestClient) -> None:
    assert "No flag is like that" in seen.get("/flags?decision=dismissed").text
    assert seen.get("/flags?decision=great").status_code == 400
    assert seen.get("/flags?run=none").status_code == 404


# in a browser


@pytest.fixture(scope="module")
def site(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serving(Path(shutil.copytree(made, tmp_path_factory.mktemp("browser") / "home"))) as site:
        yield site


def test_flags_are_reviewed_by_keyboard(site: Site) -> None:
    page = site.open("/flags?run=sampled")
    ids = [card.get_attribute("id") for card in page.locator(".flag-card").all()]
    seqs = [int(name.split("-")[2]) for name in ids]
    rollouts = [site.service.index.row("sampled", seq).rollout.id for seq in seqs]
    page.keyboard.press("c")
    page.locator(f'[id="{ids[0]}"] .decision.confirmed').wait_for()
    page.locator(f'[id="{ids[1]}"].here').wait_for()
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("i")
    page.keyboard.type("looks <b>fine</b>, c and d")
    page.keyboard.press("Escape")
    page.keyboard.press("d")
    page.locator(f'[id="{ids[1]}"] .decision.dismissed').wait_for()
    page.locator(f'[id="{ids[2]}"].here').wait_for()
    assert "50 %" in page.locator("#detectors").inner_text()
    page.keyboard.press("u")
    page.locator(f'[id="{ids[1]}"]:not([data-decided])').wait_for()
    said = [(line["rollout"], line["decision"]) for line in reviews(site.home)]
    assert said == [(rollouts[0], "confirmed"), (rollouts[1], "dismissed"), (rollouts[1], "withdrawn")]
    assert reviews(site.home)[1]["note"] == "looks <b>fine</b>, c and d"
    assert "100 %" in page.locator("#detectors").inner_text()
    site.check(page)


def test_what_others_decide_and_add_is_told(site: Site) -> None:
    page = site.open("/flags?run=hostile&decision=all")
    flag = site.service.index.flags(FlagFilter(run="hostile"), limit=1).items[0]
    until(lambda: page.locator("#live[data-state=on]").count())
    site.service.index.decide("hostile", flag.seq, flag.detector, flag.version, Decision.DISMISSED)
    page.locator("#detectors .interval").wait_for()
    site.service.index.decide("hostile", flag.seq, flag.detector, flag.version, Decision.WITHDRAWN)
    site.check(page)


def test_new_attempts_are_counted_while_one_looks(site: Site) -> None:
    path = trained(site.home, "growing", steps=1, finish=False)
    site.service.index.refresh()
    page = site.open("/runs/growing/rollouts?outcome=correct")
    heading = page.locator(".heading")
    until(lambda: page.locator("#live[data-state=on]").count())
    there = site.service.index.run("growing").rollouts
    with RunFolder.reopen(path) as run:
        train_step(run, Judge(), 2, make_task(2))
    heading.get_by_text(f"of {there + 3}").wait_for()
    rows = page.locator("tr[data-row]").count()
    heading.get_by_text("Reload").click()
    until(lambda: page.locator("tr[data-row]").count() > rows)
    site.check(page)


def test_flags_are_reviewed_without_scripts(site: Site) -> None:
    page = site.open("/flags?run=trained", script=False)
    first = page.locator(".flag-card").first
    name = first.get_attribute("id")
    first.get_by_role("button", name="Dismiss").click()
    until(lambda: reviews(site.home, "trained"))
    assert page.url.endswith(f"/flags?run=trained#{name}")
    assert page.locator(f'[id="{name}"]').count() == 0
    page.context.close()


def test_attempts_are_walked_judged_again_and_explained_by_keyboard(site: Site) -> None:
    page = site.open("/runs/sampled/rollouts?outcome=correct")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/sampled/rollouts/2")
    page.keyboard.press("n")
    page.wait_for_url("**/runs/sampled/rollouts/3")
    page.keyboard.press("v")
    page.locator("#again-result").get_by_text("The same verdict.").wait_for()
    page.get_by_text("Explain step by step").click()
    page.locator("#steps ol").wait_for()
    page.get_by_text("With another checker").click()
    page.locator("textarea[name=checker]").fill('{"type": "exact", "config": {"answer": "no"}}')
    page.get_by_role("button", name="Judge with this checker").click()
    page.locator("#again-result").get_by_text("exact@").wait_for()
    site.check(page)


def test_a_flag_is_decided_beside_its_attempt(site: Site) -> None:
    page = site.open("/runs/episodes/rollouts/2")
    page.locator("#flags .flag-card").get_by_role("button", name="Confirm").click()
    page.locator("#flags .decision.confirmed").wait_for()
    assert reviews(site.home, "episodes")[0]["decision"] == "confirmed"
    site.check(page)


@pytest.mark.parametrize(
    "path",
    [
        "/runs/sampled/rollouts",
        "/runs/episodes/rollouts/2",
        "/runs/hostile/rollouts/1",
        "/flags?decision=all",
        "/diff?a=episodes:1&b=episodes:2",
    ],
)
def test_views_fit_both_widths_and_themes(site: Site, path: str) -> None:
    site.looks(path)


@pytest.mark.parametrize(
    "path",
    [
        "/runs/hostile/rollouts",
        "/runs/hostile/rollouts/2",
        "/runs/hostile/rollouts/2?raw=true",
        "/runs/hostile/rollouts/3",
        "/diff?a=hostile:1&b=hostile:2",
        "/diff?a=hostile:4&b=sampled:1",
        "/flags?run=hostile&decision=all",
    ],
)
def test_hostile_words_do_nothing(site: Site, path: str) -> None:
    page = site.open(path, width=360)
    assert "pwned" in page.locator("main").inner_text() or "flags" in path or "/3" in path
    assert page.locator("main script, main img, main [onerror]").count() == 0
    site.check(page)


def test_hostile_notes_and_all_of_a_long_text(site: Site) -> None:
    flags = site.service.index.flags(FlagFilter(run="hostile"), limit=50).items
    assert flags
    page = site.open("/flags?run=hostile")
    card = page.locator(".flag-card").first
    card.locator("input[name=note]").fill(f'{NASTY}" onfocus="window.pwned=1')
    card.get_by_role("button", name="Confirm").click()
    page.locator(".decision.confirmed").first.wait_for()
    page.goto(site.url + "/flags?run=hostile&decision=confirmed")
    assert page.locator("input[name=note]").first.input_value().startswith(NASTY)
    page.goto(site.url + "/runs/hostile/rollouts/4")
    page.locator("[data-more]").first.click()
    until(lambda: page.locator(".turn.assistant .gap").count() == 0)
    assert "</textarea>" in page.locator(".turn.assistant pre").last.inner_text()
    site.check(page)

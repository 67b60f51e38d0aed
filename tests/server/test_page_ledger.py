"""``/runs/RUN/ledger``: head, audit, proofs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from page_making import Site, serving
from server_making import ANSWERS, HOSTILE, sampled

from lydite.cli import main
from lydite.ledger import RunFolder, verify_run
from lydite.server.service import Service


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    path = sampled(home, "sampled", answers=(*ANSWERS, HOSTILE))
    with pytest.raises(SystemExit):
        main(["ledger", "rescore", str(path), "--name", "again"])
    with serving(home) as site:
        yield site


def test_the_head_is_shown_and_records_with_their_hashes(site: Site) -> None:
    page = site.open("/runs/sampled/ledger")
    run = RunFolder.open(site.home / "runs" / "sampled")
    said = page.locator("main").inner_text()
    assert run.info.head in said
    assert "again" in page.locator("section[aria-labelledby=rescorings]").inner_text()
    first = page.locator("table.chain tbody tr").first
    assert first.locator("td[title]").get_attribute("title") == run.info.head
    site.check(page)


def test_it_is_verified_in_place(site: Site) -> None:
    page = site.open("/runs/sampled/ledger")
    page.keyboard.press("v")
    page.locator("#audit .note.good").wait_for()
    assert verify_run(site.home / "runs" / "sampled").root in page.locator("#audit").inner_text()
    page.click("text=Hold it against a head noted elsewhere")
    page.fill("[name=head]", "0" * 64)
    page.click("text=Verify now")
    page.locator("#audit .note.bad").wait_for()
    assert "not in the head that was noted elsewhere" in page.locator("#audit").inner_text()
    site.check(page)


def test_it_is_verified_without_scripts_too(site: Site) -> None:
    page = site.open("/runs/sampled/ledger", script=False)
    page.click("text=Verify now")
    assert page.locator("#audit .note.good").count() == 1
    page.context.close()


def test_it_looks_as_it_should_everywhere(site: Site) -> None:
    site.looks("/runs/sampled/ledger")


@pytest.fixture
def run(home: Path, service: Service) -> Path:
    path = sampled(home)
    service.index.refresh()
    return path


@pytest.mark.parametrize("named", ["3", " sample/t0/2 "])
def test_a_proof_is_made_by_line_or_by_id(client: TestClient, run: Path, tmp_path: Path, named: str) -> None:
    answer = client.get("/runs/sampled/ledger/proof", params={"of": named})
    assert answer.status_code == 200
    file = tmp_path / "x.json"
    file.write_bytes(answer.content)
    with pytest.raises(SystemExit) as left:
        main(["ledger", "check", str(file), "--head", RunFolder.open(run).info.head])
    assert left.value.code == 0
    assert json.loads(json.loads(answer.content)["record"]["line"])["rollout"] == "sample/t0/2"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("ledger/proof?of=nothing", 404),
        ("ledger/proof?of=99", 404),
        ("ledger/proof?of=3&verdicts=x", 400),
        ("ledger/proof", 400),
        ("ledger/continuation?extends=x", 400),
        ("ledger/continuation?extends=", 400),
    ],
)
def test_what_cannot_be_proved_is_told_as_a_page(client: TestClient, run: Path, path: str, status: int) -> None:
    answer = client.get(f"/runs/sampled/{path}")
    assert answer.status_code == status
    assert "<h1>" in answer.text
    assert str(run) not in answer.text


def test_a_ledger_that_was_changed_is_shown_all_the_same(client: TestClient, run: Path) -> None:
    data = (run / "ledger.jsonl").read_bytes()
    (run / "ledger.jsonl").write_bytes(data.replace(b'"correct"', b'"corrupt"', 1) + b"\xff\n{}")
    answer: Any = client.get("/runs/sampled/ledger")
    assert answer.status_code == 200
    answer = client.post("/runs/sampled/ledger/verify")
    assert answer.status_code == 200
    assert "<b>Broken.</b> ledger.jsonl, line 1" in answer.text

"""A run as one HTML file: complete, bounded, and harmless wherever it is opened."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st
from page_making import Site, serving
from server_making import ANSWERS, HOSTILE, sampled, trained

from lydite.cli import main
from lydite.evaluation.markup import Markup, tag, words
from lydite.evaluation.single_page import single_page
from lydite.ledger import RunFolder
from lydite.server.service import Service


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    sampled(home, "hostile", tasks=1, answers=(HOSTILE + "x" * 2_000_000 + "\ud800\x00", *ANSWERS))
    with serving(home) as site:
        yield site


class _Elements(HTMLParser):
    """Names of elements, and attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes.update(name for name, _ in attrs)
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "action")]


@settings(max_examples=50)
@given(st.text(st.characters(exclude_categories=())), st.text(st.characters(exclude_categories=())))
def test_no_text_becomes_markup(text: str, value: str) -> None:
    made = tag("p", text, words(text, 50), title=value)
    found = _Elements(made)
    assert found.names[0] == "p"
    assert set(found.names) <= {"p", "span"}
    assert found.attributes <= {"title", "class"}
    made.encode()


def test_what_is_markup_stays_so() -> None:
    assert tag("b", tag("i", "<"), None, ["a", 1]) == "<b><i>&lt;</i>a1</b>"
    assert isinstance(tag("b", "x"), Markup)


def test_only_elements_of_ours_are_in_the_file_and_no_address(tmp_path: Path) -> None:
    text = single_page(RunFolder.open(sampled(tmp_path, answers=(*ANSWERS, HOSTILE))))
    found = _Elements(text)
    assert not {"script", "img", "iframe", "a", "link", "form", "object"} & set(found.names)
    assert not {name for name in found.attributes if name.startswith("on") or name == "style"}
    assert found.links == []
    assert "&lt;script&gt;window.pwned=1" in text


def test_its_policy_allows_its_own_style_sheets_alone(tmp_path: Path) -> None:
    text = single_page(RunFolder.open(trained(tmp_path, steps=4)))
    hashes = set(re.findall(r"sha256-([A-Za-z0-9+/=]+)", text))
    sheets = set(re.findall(r"<style>(.*?)</style>", text, re.DOTALL))
    assert {base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode() for sheet in sheets} == hashes
    assert "default-src &#x27;none&#x27;" in text
    assert "script-src" not in text


def test_it_holds_the_first_groups_and_those_with_a_flag_and_says_so(tmp_path: Path) -> None:
    path = sampled(tmp_path, tasks=9, answers=(ANSWERS[2], ANSWERS[3]))
    text = single_page(RunFolder.open(path), groups=4)
    assert text.count("<details><summary><b>t") == 4
    assert "4 of 9 groups: the first 4 and 0 of 0 with a flag" in text
    flagged = sampled(tmp_path, "flagged", tasks=9, answers=(ANSWERS[1],))
    assert single_page(RunFolder.open(flagged), groups=1).count("<details><summary><b>t") == 9
    assert "All 9 groups" in single_page(RunFolder.open(flagged))


def test_long_texts_are_cut_and_say_so(tmp_path: Path) -> None:
    text = single_page(RunFolder.open(sampled(tmp_path, tasks=1, answers=("y" * 50_000,))))
    assert "30,000 characters more" in text
    assert len(text) < 100_000


def test_a_run_without_attempts_is_a_file_too(tmp_path: Path) -> None:
    assert "No attempts." in single_page(RunFolder.open(sampled(tmp_path, tasks=0)))


def test_the_command_line_writes_the_same_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = sampled(tmp_path)
    with pytest.raises(SystemExit) as left:
        main(["report", str(path), "--html", str(tmp_path / "x.html"), "--groups", "2"])
    assert left.value.code == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "x.html")
    assert (tmp_path / "x.html").read_text().startswith("<!doctype html>")
    with pytest.raises(SystemExit) as left:
        main(["report", str(path), "--html", str(path / "run.json")])
    assert left.value.code == 2


def test_the_service_sends_it_with_a_policy_of_its_own(client: TestClient, home: Path, service: Service) -> None:
    sampled(home)
    service.index.refresh()
    answer = client.get("/runs/sampled/export.html")
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; style-src 'sha256-")
    assert answer.headers["content-disposition"] == 'inline; filename="sampled.html"'
    assert client.get("/runs/nowhere/export.html").status_code == 404
    assert client.get("/runs/sampled/export.html?groups=x").status_code == 400


def test_a_damaged_run_is_told_without_saying_where_it_lies(client: TestClient, home: Path, service: Service) -> None:
    path = sampled(home)
    service.index.refresh()
    data = (path / "rollouts.jsonl").read_bytes()
    (path / "rollouts.jsonl").write_bytes(data.replace(b"think", b"thonk"))
    answer = client.get("/runs/sampled/export.html")
    assert answer.status_code == 400
    assert "not the sample that was judged" in answer.text
    assert str(home) not in answer.text


def test_it_opens_offline_and_nothing_in_it_runs(site: Site, tmp_path: Path) -> None:
    page: Any = site.open("/runs/hostile/export.html", width=360)
    assert page.locator("h1").inner_text() == "hostile"
    site.check(page)
    file = tmp_path / "run.html"
    file.write_text(single_page(RunFolder.open(site.home / "runs" / "hostile")))
    context = site.browser.new_context(offline=True)
    page = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(file.as_uri())
    page.locator("details details >> nth=0").evaluate("element => element.open = true")
    assert asked == [file.as_uri()]
    assert said == []
    assert page.evaluate("window.pwned === undefined")
    assert page.evaluate("getComputedStyle(document.querySelector('details')).borderTopStyle") == "solid"
    context.close()

"""The table of attempts and the view of one: what is shown, where it links, what judging again does and does not."""

from __future__ import annotations

import html
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from attempts_making import LONG, NASTY, episodes, hostile
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from server_making import make_task, sampled, trained

from lydite.cli import main
from lydite.flag import Flag
from lydite.ledger import RunFolder
from lydite.server.app import create_app
from lydite.server.page import reasons, reverify
from lydite.server.page.expected import expectations
from lydite.server.page.marked import Hit, escaped, pieces
from lydite.server.page.quotes import Quote, hits_in, quotes_of, told
from lydite.server.page.transcript import AROUND, LIMIT, show, thinking, turns
from lydite.server.page.why import own_types, scheme_told
from lydite.server.service import Service
from lydite.server.settings import Settings
from lydite.task import Checker
from lydite.verdict import Verdict
from lydite.verifiers import verify
from lydite.verifiers.registry import BUILTIN, find

ODD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    home = tmp_path_factory.mktemp("attempts")
    sampled(home)
    trained(home)
    episodes(home)
    hostile(home)
    service = Service(Settings(home=home, poll_seconds=60))
    service.index.refresh()
    yield TestClient(create_app(service), base_url="http://127.0.0.1:7799", follow_redirects=False)
    service.close()


def text_of(markup: str) -> str:
    """What a reader sees of markup."""
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


def ledger(site: TestClient, run: str) -> bytes:
    return (site.app.state.service.home.run_folder(run) / "ledger.jsonl").read_bytes()  # type: ignore[attr-defined]


# pieces


@given(st.text(alphabet=st.characters(codec=None) | st.sampled_from("\x1b[0;31m\x00\u202e\ud800\r\n"), max_size=200))
def test_pieces_hold_every_character_and_none_that_steers(text: str) -> None:
    found = pieces(text, raw=True)
    back = "".join(chr(int(piece.why[2:], 16)) if piece.kind == "odd" else piece.text for piece in found)
    assert back == text
    assert not ODD.search("".join(piece.text for piece in found))
    assert not ODD.search(escaped(text))


def test_colours_become_classes_and_raw_spells_them() -> None:
    text = "a \x1b[1;31mred\x1b[0m b \x1b]0;title\x07"
    assert [(piece.text, piece.kind) for piece in pieces(text)][:3] == [
        ("a ", ""),
        ("red", "sgr-bold sgr-fg-red"),
        (" b ", ""),
    ]
    assert "ESC]0;title^G" in "".join(piece.text for piece in pieces(text))
    assert "ESC[1;31mred" in "".join(piece.text for piece in pieces(text, raw=True))


def test_hits_divide_pieces_and_spelled_out_characters() -> None:
    found = pieces("ab\x00\x00cd", [Hit(1, 3, "hit", "why")])
    assert [(piece.text, piece.kind) for piece in found] == [
        ("a", ""), ("b", "hit"), ("^@", "odd hit"), ("^@", "odd"), ("cd", ""),
    ]  # fmt: skip


def test_a_text_of_nothing_but_odd_characters_has_few_pieces() -> None:
    found = pieces("a\x00" * 20_000)
    assert len(found) <= 3001
    assert "".join(piece.text for piece in found).count("a") == 20_000
    assert found[-1].text.endswith("a\\x00a\\x00")


# transcripts


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("<think>a</think>b", ["<think>a</think>"]),
        ("a</think>b", ["a</think>"]),
        ("b<think>never ends", ["<think>never ends"]),
        ("x<thinking>a</thinking>y<think>b</think>", ["<thinking>a</thinking>", "<think>b</think>"]),
        ("<think>a <think> b</think>c", ["<think>a <think> b</think>"]),
        ("plain", []),
    ],
)
def test_thinking_is_found(text: str, spans: list[str]) -> None:
    assert [text[start:end] for start, end in thinking(text)] == spans


def test_a_long_text_keeps_its_beginning_its_end_and_marked_places() -> None:
    text = "A" * LIMIT + "needle" + "B" * LIMIT + "end"
    shown = show(text, hits_in(text, [Quote("needle", "why")]) or [Hit(LIMIT, LIMIT + 6, "hit", "why")])
    said = "".join(piece.text for segment in shown.segments for piece in segment.pieces)
    assert shown.cut
    assert said.startswith("A" * 100)
    assert said.endswith("end")
    assert "needle" in said
    assert len(said) <= LIMIT + 2 * AROUND + 6
    assert sum(segment.length for segment in shown.segments) == len(text)


def test_quotes_are_whole_words_whatever_white_space_is_between() -> None:
    text = "12 and 2, then 2 +\n 3"
    assert [text[hit.start : hit.end] for hit in hits_in(text, [Quote("2", "")])] == ["2", "2"]
    assert [text[hit.start : hit.end] for hit in hits_in(text, [Quote("2 + 3", "")])] == ["2 +\n 3"]


def test_evidence_names_calls() -> None:
    sign = {"sign": "fetches", "where": "call 2", "line": 1, "text": "curl x"}
    flag = Flag(detector="d", version=1, bars=False, evidence={"found": 1, "signs": [sign], "min_words": 3})
    (quote,) = quotes_of([flag])
    assert (quote.text, quote.call) == ("curl x", 2)
    assert hits_in("curl x", [quote], call=2)
    assert not hits_in("curl x", [quote], call=1)
    assert told(flag.evidence)[-1] == ("min_words", "3")


def test_times_stand_at_the_answers_of_tools(site: TestClient) -> None:
    row = site.app.state.service.index.row("episodes", 1)  # type: ignore[attr-defined]
    found, left_out = turns(row.rollout)
    assert [turn.seconds for turn in found if turn.role == "tool"] == [0.012, 1.5]
    assert [call.number for turn in found for call in turn.calls] == [1, 2]
    assert not left_out


# reasons, expectations


def test_every_reason_of_the_examples_has_words() -> None:
    for name in ("math", "exact", "choice", "format", "json_schema"):
        for example in find(name).examples:  # type: ignore[attr-defined]
            for said in (example.right, example.wrong, "", *example.hacks.values()):
                verdict = verify({"type": name, "config": example.config}, said, example.prompt)
                assert reasons.told(verdict.reason), (name, verdict.reason)
                if verdict.reason != "schema":  # whose parts name words of JSON Schema
                    assert all(reasons.told(part.reason) for part in verdict.parts), verdict.parts


def test_a_verdict_is_told_in_a_sentence() -> None:
    verdict = Verdict.of(0.5, "missing", "file_exists@1")
    assert reasons.sentence(verdict).endswith("of the first that fell short: what is asked for is not there.")
    assert reasons.sentence(Verdict.of(0.5, "my_own", "mine@1")) == "Some of several checks passed."


def test_reasons_of_composites_name_the_part() -> None:
    assert reasons.told("work:too_few_claims") == "work: it makes fewer claims than it has to"
    assert "could not be judged" in reasons.told("invalid:work")
    assert reasons.told("of_my_own") == ""


def test_tests_of_a_program_stand_beside_their_parts() -> None:
    tests = [
        {"call": "add", "args": [1, 2], "expected": 3},
        {"input": "a\n", "expected": "b\n"},
        "assert add(1, 1) == 2",
    ]
    task = msgspec.structs.replace(make_task(1), checker=Checker(type="code", config={"tests": tests, "timeout": 2}))
    found = expectations(task)
    assert found.parts["t1"] == "add(1, 2) → 3"
    assert found.parts["t3"] == "assert add(1, 1) == 2"
    assert [one.label for one in found.whole] == ["settings"]


def test_terms_of_a_scheme_are_told_where_they_say_something() -> None:
    assert len(scheme_told("asymmetric+format=0+flagged=keep")) == 1
    assert scheme_told("binary+format=0.2+flagged=mask+control=random")[1:] == [
        "format: × 0.2 for an answer that can be read",
        "flagged: of an attempt with a barring flag: mask",
        "control: a control in place of the reward: random",
    ]


# the table


def test_cells_add_filters(site: TestClient) -> None:
    page = site.get("/runs/sampled/rollouts?phase=sample").text
    links = {html.unescape(link) for link in re.findall(r'href="([^"]*)"', page)}
    assert "/runs/sampled/rollouts?phase=sample&outcome=unparseable" in links
    assert "/runs/sampled/rollouts?phase=sample&flag=no_visible_work" in links
    assert "/runs/sampled/rollouts?phase=sample&task=t1" in links


@pytest.mark.parametrize(
    ("query", "seqs"),
    [
        ("outcome=incorrect", [3, 7, 11]),
        ("outcome=incorrect&outcome=unparseable&task=t0", [3, 4]),
        ("reward=0.5..&task=t2&sort=-seq", [10, 9]),
        ("q=NO+IDEA", [4, 8, 12]),
        ("flag=none&reason=refused", [4, 8, 12]),
        ("step=40..60", []),
    ],
)
def test_filters_of_the_url(site: TestClient, query: str, seqs: list[int]) -> None:
    page = site.get(f"/runs/sampled/rollouts?{query}").text
    assert [int(seq) for seq in re.findall(r'data-href="/runs/sampled/rollouts/(\d+)"', page)] == seqs


def test_empty_fields_of_a_form_are_dropped(site: TestClient) -> None:
    answer = site.get("/runs/sampled/rollouts?q=&stage=&outcome=correct&sort=")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/runs/sampled/rollouts?outcome=correct"


@pytest.mark.parametrize("query", ["outcome=great", "step=a..b", "after=nonsense", "sort=colour"])
def test_unusable_filters_are_refused(site: TestClient, query: str) -> None:
    answer = site.get(f"/runs/sampled/rollouts?{query}")
    assert answer.status_code == 400
    assert "text/html" in answer.headers["content-type"]


# an attempt


def test_why_says_expected_extracted_reward_and_ledger(site: TestClient) -> None:
    page = site.get("/runs/sampled/rollouts/3").text
    said = text_of(page)
    assert "what was extracted is not what is expected" in said
    assert re.search(r"extracted\s*3\s*expected\s*2", said)
    assert "attempt 3 of 4" in said
    assert "the same version and source" in said
    line = ledger(site, "sampled").splitlines()[2]
    assert line[-66:-2].decode() in page


def test_siblings_and_their_diffs_are_linked(site: TestClient) -> None:
    page = site.get("/runs/sampled/rollouts/2").text
    assert re.search(r'href="/runs/sampled/rollouts/1" rel="prev"', page)
    assert re.search(r'href="/runs/sampled/rollouts/3" rel="next"', page)
    assert 'value="sampled:4"' in page


def test_an_episode_shows_calls_thinking_times_and_evidence(site: TestClient) -> None:
    page = site.get("/runs/episodes/rollouts/2").text
    assert '<details class="think">' in page
    assert "1.5 s" in page
    assert re.search(r"<mark[^>]*>curl -s https://example.org/answer</mark>", page)
    assert '<span class="sgr-fg-green">ok</span>' in page
    assert 'id="turn-5"' in page
    raw = site.get("/runs/episodes/rollouts/2?raw=true").text
    assert '<details class="think">' not in raw
    assert ">ESC</span>[32mok" in raw


def test_a_long_attempt_is_cut_and_served_whole_as_plain_text(site: TestClient) -> None:
    page = site.get("/runs/hostile/rollouts/3")
    assert len(page.content) < 200_000
    assert "characters are left out here" in page.text
    whole = site.get("/runs/hostile/rollouts/3/turns/2")
    assert len(whole.content) > LONG * 0.95
    assert whole.headers["content-type"] == "text/plain; charset=utf-8"
    assert whole.headers["x-content-type-options"] == "nosniff"
    assert whole.headers["content-disposition"].startswith("attachment;")
    inline = site.get("/runs/hostile/rollouts/3/turns/2?inline=1")  # goes into a page as markup
    assert inline.headers["content-type"] == "text/html; charset=utf-8"
    assert "<img" not in inline.text


def test_arguments_of_calls_are_served(site: TestClient) -> None:
    place = "/runs/episodes/rollouts/1/turns/3"
    assert site.get(f"{place}?call=1&name=content").text == "a\nb\n" * 3
    assert site.get(f"{place}?call=2").status_code == 404
    assert site.get("/runs/episodes/rollouts/1/turns/99").status_code == 404
    assert "First one." in site.get(place).text
    inline = site.get(f"{place}?call=1&name=content&inline=1")
    assert "<pre" in inline.text


@pytest.mark.parametrize("seq", [1, 2, 3, 4])
def test_hostile_words_are_text(site: TestClient, seq: int) -> None:
    for path in (f"/runs/hostile/rollouts/{seq}", f"/runs/hostile/rollouts/{seq}?raw=true", "/runs/hostile/rollouts"):
        answer = site.get(path)
        assert answer.status_code == 200
        body = answer.content.decode()
        assert NASTY not in body
        assert "<img src=x" not in body
        assert "javascript:" not in " ".join(re.findall(r'(?:href|src|action)="([^"]*)"', body))
        assert not ODD.search(re.sub(r'"[^"]*"', "", body))


def test_explaining_is_for_math(site: TestClient) -> None:
    page = site.get("/runs/sampled/rollouts/1/explain", headers={"HX-Request": "true"}).text
    assert page.lstrip().startswith("<ol")
    assert "in a box" in text_of(page)
    assert "explain" not in site.get("/runs/episodes/rollouts/1").text.lower().replace("explained", "")


# judging again


def test_judging_again_says_the_same_and_writes_nothing(site: TestClient) -> None:
    before = ledger(site, "sampled")
    page = site.post("/runs/sampled/rollouts/1/verify", data={})
    assert page.status_code == 200
    assert "The same verdict." in text_of(page.text)
    assert "lydite ledger rescore runs/sampled --id sample/t0/0" in text_of(page.text)
    assert ledger(site, "sampled") == before


def test_another_checker_judges_and_its_command_keeps_that(site: TestClient, tmp_path: Path) -> None:
    other = '{"type": "exact", "config": {"answer": "2", "normalise": ["strip"]}}'
    answer = site.post("/runs/sampled/rollouts/1/verify", data={"checker": other}, headers={"HX-Request": "true"})
    assert "Another verdict." in text_of(answer.text)
    (command,) = re.findall(r'data-copy="(lydite ledger rescore[^"]*)"', answer.text)
    words = shlex.split(html.unescape(command))

    run = sampled(tmp_path)
    with pytest.raises(SystemExit) as done:
        main([*words[1:3], str(run), *words[4:], "--name", "exact"])
    assert not done.value.code
    ((old, new),) = RunFolder.open(run).rescored("exact")
    assert old.record.verdict.outcome == "correct"
    assert new.record.verdict.outcome == "incorrect"
    assert new.record.verdict.verifier.startswith("exact@")


def test_states_are_judged_from_the_kept_workspace(site: TestClient) -> None:
    page = text_of(site.post("/runs/episodes/rollouts/1/verify", data={}, headers={"HX-Request": "true"}).text)
    assert "The same verdict." in page
    other = '{"type": "file_exists", "config": {"paths": ["a.txt", "c.txt"]}}'
    page = site.post("/runs/episodes/rollouts/1/verify", data={"checker": other}, headers={"HX-Request": "true"}).text
    assert "partial" in page
    assert "missing" in text_of(page)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("{", "no JSON"),
        ("[" * 50_000, "no JSON"),
        ("[]", "an object with type and config"),
        ('{"type": "math", "config": {"answer": "4"}, "prompt": "x"}', "type and config alone"),
        ('{"type": "math", "config": {"answer": NaN}}', "no JSON"),
        ('{"type": "math", "config": {"anwser": "4"}}', "anwser"),
        ('{"type": "/tmp/evil.py:check", "config": {}}', "no verifier of this installation"),
        (
            '{"type": "all_of", "config": {"checkers": {"a": {"type": "evil.py:f"}}}}',
            "no verifier of this installation",
        ),
        ('{"type": "no_such", "config": {}}', "no verifier of this installation"),
    ],
)
def test_documents_that_are_no_checkers_are_told(site: TestClient, document: str, said: str) -> None:
    answer = site.post("/runs/sampled/rollouts/1/verify", data={"checker": document})
    assert answer.status_code == 400
    assert said in text_of(answer.text)


def test_names_of_files_are_found_at_any_depth() -> None:
    inner: dict[str, object] = {"type": "evil.py:f"}
    for _ in range(30):
        inner = {"type": "all_of", "config": {"checkers": {"a": inner}}}
    assert own_types(inner)
    assert not any(own_types({"type": name, "config": {}}) for name in BUILTIN)


def test_what_takes_too_long_is_told(site: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reverify, "SECONDS", 0.001)
    answer = site.post("/runs/sampled/rollouts/1/verify", data={})
    assert "takes longer than 0.001 s" in text_of(answer.text)

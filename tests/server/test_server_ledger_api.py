"""Ledgers over HTTP: head, audit, proofs that are checked without the run, exports."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from server_making import ANSWERS, sampled, trained

from lydite.cli import main
from lydite.ledger import RunFolder, verify_run
from lydite.server.rlvr import audits
from lydite.server.service import Service

BASE = "/v1/rlvr/runs/sampled"
WORK = "First 1 + 1 = 2, which is what has to be added. Then {a} + 2 = {sum}.\n\n\\boxed{{{sum}}}"
"""Right, and with work that no detector misses."""


@pytest.fixture
def run(home: Path, service: Service) -> Path:
    path = sampled(home, answers=(*ANSWERS[1:], WORK))
    service.index.refresh()
    return path


def test_a_head_is_told_and_a_root_once_the_ledger_was_verified(client: TestClient, run: Path) -> None:
    told = client.get(f"{BASE}/ledger").json()
    assert (told["head"], told["records"], told["root"]) == (RunFolder.open(run).info.head, 12, None)
    found = client.post(f"{BASE}/ledger/verify").json()
    assert found["ok"]
    assert found["sealed"]
    assert found["root"] == verify_run(run).root
    assert client.get(f"{BASE}/ledger").json()["root"] == found["root"]


def test_an_audit_is_made_once_and_again_when_a_file_changed(client: TestClient, run: Path) -> None:
    first = client.post(f"{BASE}/ledger/verify").json()
    assert client.post(f"{BASE}/ledger/verify", json={}).json()["checked"] == first["checked"]
    data = (run / "ledger.jsonl").read_bytes()
    (run / "ledger.jsonl").write_bytes(data.replace(b'"reward":1.0', b'"reward":2.0', 1))
    found = client.post(f"{BASE}/ledger/verify").json()
    assert (found["ok"], found["file"], found["line"]) == (False, "ledger.jsonl", 1)
    assert client.get(f"{BASE}/ledger").json()["root"] is None


def test_a_ledger_is_held_against_what_was_noted_elsewhere(client: TestClient, run: Path) -> None:
    head = RunFolder.open(run).info.head
    assert client.post(f"{BASE}/ledger/verify", json={"head": head}).json()["ok"]
    assert not client.post(f"{BASE}/ledger/verify", json={"head": "0" * 64}).json()["ok"]
    answer = client.post(f"{BASE}/ledger/verify", json={"head": "short"})
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "--head"


def check(*arguments: Any) -> int:
    with pytest.raises(SystemExit) as left:
        main(["ledger", "check", *map(str, arguments)])
    return int(left.value.code or 0)


def test_a_misspelt_field_of_a_body_that_may_be_left_out_names_the_nearest(client: TestClient, run: Path) -> None:
    error = client.post(f"/v1/rlvr/runs/{run.name}/ledger/verify", json={"haed": "x"}).json()["error"]
    assert error["message"] == "haed: unknown field (did you mean head?)"


def test_a_proof_is_checked_without_the_run(client: TestClient, run: Path, tmp_path: Path) -> None:
    answer = client.get(f"{BASE}/proofs/3?sample=true")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == 'attachment; filename="sampled-3.proof.json"'
    file = tmp_path / "proof.json"
    file.write_bytes(answer.content)
    head = RunFolder.open(run).info.head
    assert check(file, "--head", head) == 0
    assert check(file, "--head", "0" * 64) == 1


def test_a_continuation_is_proved(client: TestClient, run: Path, tmp_path: Path) -> None:
    earlier = json.loads((run / "ledger.jsonl").read_bytes().splitlines()[3])["hash"]
    answer = client.get(f"{BASE}/proofs", params={"extends": earlier})
    assert answer.status_code == 200, answer.text
    file = tmp_path / "proof.json"
    file.write_bytes(answer.content)
    assert check(file, "--head", RunFolder.open(run).info.head, "--extends", earlier) == 0


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/proofs/99", 404),
        ("/proofs/3?verdicts=nothing", 400),
        ("/proofs?extends=abc", 400),
        ("/proofs?extends=" + "a" * 64, 400),
        ("/proofs", 400),
        ("/export/nothing", 400),
        ("/export/kto?format=openai", 400),
        ("/export/sft?cap=0", 400),
        ("/export/sft?verdicts=nothing", 400),
        ("/export/rollouts?step=x", 400),
    ],
)
def test_what_cannot_be_made_is_refused(client: TestClient, run: Path, path: str, status: int) -> None:
    answer = client.get(BASE + path)
    assert answer.status_code == status, answer.text
    assert str(run) not in answer.text


def test_rescorings_stand_beside_and_can_be_proved(
    client: TestClient, run: Path, service: Service, tmp_path: Path
) -> None:
    with pytest.raises(SystemExit):
        main(
            [
                "ledger",
                "rescore",
                str(run),
                "--name",
                "strict",
                "--checker",
                '{"type": "math", "config": {"extraction": "strict"}}',
            ]
        )
    service.index.refresh()
    (told,) = client.get(f"{BASE}/ledger").json()["rescorings"]
    assert (told["name"], told["done"], told["covers"], told["complete"]) == ("strict", 12, 12, True)
    (other,) = client.get(f"{BASE}/rollouts/1/verdicts").json()["data"]
    assert (other["name"], other["seq"]) == ("strict", 14)
    file = tmp_path / "proof.json"
    file.write_bytes(client.get(f"{BASE}/proofs/1?verdicts=strict&sample=true").content)
    assert json.loads(json.loads(file.read_bytes())["record"]["line"])["kind"] == "rescore"
    assert check(file, "--head", RunFolder.open(run).info.head) == 0


def test_no_more_than_a_few_whole_runs_are_read_at_once(
    client: TestClient, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audits, "_SECONDS", 0.01)
    with contextlib.ExitStack() as stack:
        for _ in range(audits.AT_ONCE):
            stack.enter_context(audits.reading())
        assert client.get("/runs/sampled/export.html").status_code == 503
        answer = client.get(f"{BASE}/proofs/3")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert client.get(f"{BASE}/proofs/3").status_code == 200


def lines(answer: Any) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def test_preference_pairs_are_those_of_the_command_line(client: TestClient, run: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["export", "preferences", str(run), "-o", str(tmp_path / "p.jsonl")])
    written = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert lines(client.get(f"{BASE}/export/preferences")) == written
    assert "preferred_output" in lines(client.get(f"{BASE}/export/preferences?format=openai"))[0]


def test_held_out_attempts_are_left_out_unless_named(client: TestClient, home: Path, service: Service) -> None:
    trained(home, "trained", steps=4)
    service.index.refresh()
    base = "/v1/rlvr/runs/trained/export/kto"
    assert len(lines(client.get(base))) == 6  # those of training that are wrong: the right ones are barred
    assert len(lines(client.get(base, params={"phase": "before"}))) == 3


def test_a_dismissed_flag_bars_nothing(client: TestClient, run: Path) -> None:
    before = len(lines(client.get(f"{BASE}/export/sft")))
    client.post("/v1/rlvr/flags/sampled/1/no_visible_work", json={"decision": "dismissed"})
    assert len(lines(client.get(f"{BASE}/export/sft"))) == before + 1
    assert len(lines(client.get(f"{BASE}/export/sft?reviews=false"))) == before


def test_attempts_of_a_filter_are_exported_with_words_and_records(client: TestClient, run: Path) -> None:
    found = lines(client.get(f"{BASE}/export/rollouts", params={"outcome": "incorrect"}))
    assert [one["seq"] for one in found] == [2, 6, 10]
    assert all("I think" in one["rollout"]["completion"][0]["content"] for one in found)
    assert all(one["record"]["verdict"]["outcome"] == "incorrect" for one in found)
    assert lines(client.get(f"{BASE}/export/rollouts", params={"task": "none"})) == []


def test_a_damaged_run_is_told_before_anything_is_sent(client: TestClient, run: Path) -> None:
    data = (run / "rollouts.jsonl").read_bytes()
    (run / "rollouts.jsonl").write_bytes(data.replace(b"think", b"thonk"))
    answer = client.get(f"{BASE}/export/preferences")
    assert answer.status_code == 400
    assert "not the sample" in answer.json()["error"]["message"]

"""``/v1/rlvr/flags``: what people say of flags goes to the run's folder, and counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from server_making import sampled

from lydite.ledger import RunFolder
from lydite.ledger.reviews import Reviews
from lydite.server.service import Service

FLAG = "/v1/rlvr/flags/sampled/2/no_visible_work"


@pytest.fixture
def run(home: Path, service: Service) -> Path:
    path = sampled(home)
    service.index.refresh()
    return path


def flags(client: TestClient, **asked: Any) -> list[dict[str, Any]]:
    answer = client.get("/v1/rlvr/flags", params=asked)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["data"]
    return found


def test_flags_come_with_their_attempt_and_evidence(client: TestClient, run: Path) -> None:
    found = flags(client)
    assert {one["seq"] for one in found if one["detector"] == "no_visible_work"} >= {2, 6, 10}
    assert all(one["rollout"]["run"] == "sampled" and one["evidence"] is not None for one in found)


@pytest.mark.parametrize(
    ("word", "decision"), [("confirmed", "confirmed"), ("dismissed", "dismissed"), ("withdrawn", None)]
)
def test_a_decision_is_written_to_the_run(client: TestClient, run: Path, word: str, decision: str | None) -> None:
    answer = client.post(FLAG, json={"decision": word, "note": "looked at it"})
    assert answer.status_code == 200, answer.text
    assert answer.json()["decision"] == decision
    row = next(row for row in RunFolder.open(run).rows() if row.seq == 2)
    flag = next(flag for flag in row.record.flags if flag.detector == "no_visible_work")
    review = Reviews(run).of(row.rollout.id, flag)
    assert (review.decision if review else None) == decision


def test_precision_follows_from_decisions(client: TestClient, run: Path) -> None:
    for seq, word in ((2, "confirmed"), (6, "confirmed"), (10, "dismissed")):
        client.post(f"/v1/rlvr/flags/sampled/{seq}/no_visible_work", json={"decision": word})
    told = {one["detector"]: one for one in client.get("/v1/rlvr/flags/detectors").json()["data"]}["no_visible_work"]
    assert (told["confirmed"], told["dismissed"], told["open"]) == (2, 1, told["flags"] - 3)
    assert told["precision"] == pytest.approx(2 / 3)
    assert told["low"] < 2 / 3 < told["high"]
    assert {one["seq"] for one in flags(client, decision="confirmed")} == {2, 6}
    assert not {2, 6, 10} & {one["seq"] for one in flags(client, decision="open", detector="no_visible_work")}


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/rlvr/flags/sampled/2/nobody", {"decision": "confirmed"}, 404),
        ("/v1/rlvr/flags/sampled/3/no_visible_work", {"decision": "confirmed"}, 404),
        ("/v1/rlvr/flags/nowhere/1/no_visible_work", {"decision": "confirmed"}, 404),
        (FLAG, {"decision": "confirmed", "version": 99}, 404),
        (FLAG, {"decision": "perhaps"}, 400),
        (FLAG, {"decision": "confirmed", "extra": 1}, 400),
        (FLAG, {"decision": "confirmed", "note": "x" * 2001}, 400),
        (FLAG, {}, 400),
    ],
)
def test_a_decision_on_what_is_no_flag_is_refused(
    client: TestClient, run: Path, path: str, body: dict[str, Any], status: int
) -> None:
    assert client.post(path, json=body).status_code == status
    assert not (run / "flags-review.jsonl").exists()


@pytest.mark.parametrize("asked", [{"decision": "maybe"}, {"limit": 501}, {"after": "zz"}])
def test_a_list_that_makes_no_sense_is_refused(client: TestClient, run: Path, asked: dict[str, Any]) -> None:
    assert client.get("/v1/rlvr/flags", params=asked).status_code == 400

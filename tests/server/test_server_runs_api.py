"""``/v1/rlvr/runs``: what is asked about runs over HTTP."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from server_making import ANSWERS, HOSTILE, sampled, trained

from lydite.ledger import RunFolder
from lydite.server.app import create_app
from lydite.server.errors import RefusedError
from lydite.server.index.rows import Series
from lydite.server.rlvr.filters import parse_range
from lydite.server.rlvr.series import thinned
from lydite.server.service import Service
from lydite.server.settings import Settings


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    home = tmp_path_factory.mktemp("home")
    sampled(home, "sampled", answers=(*ANSWERS, HOSTILE))
    trained(home, "trained", steps=4)
    service = Service(Settings(home=home))
    service.index.refresh()
    with TestClient(create_app(service), base_url="http://127.0.0.1:7799") as client:
        yield client
    service.close()


def get(api: TestClient, path: str, **parameters: Any) -> Any:
    answer = api.get(f"/v1/rlvr/runs{path}", params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def everything(api: TestClient, path: str, **parameters: Any) -> list[Any]:
    """All pages of a list."""
    found, after = [], None
    while True:
        page = get(api, path, **parameters, **({"after": after} if after else {}))
        assert page["object"] == "list"
        assert page["has_more"] == (page["next"] is not None)
        found += page["data"]
        if not page["has_more"]:
            return found
        after = page["next"]


def test_runs_are_listed_and_told(api: TestClient) -> None:
    assert {run["id"] for run in get(api, "")["data"]} == {"sampled", "trained"}
    assert [run["id"] for run in get(api, "", kind="train")["data"]] == ["trained"]
    told = get(api, "/trained")
    assert (told["kind"], told["state"], told["steps"]) == ("train", "complete", 4)


def test_what_a_run_depends_on_comes_from_its_folder(api: TestClient) -> None:
    told = get(api, "/trained/config")
    assert told["settings"] == {"policy": "builtin:tiny"}
    assert told["versions"]["lydite"]


def test_parts_of_a_run_come_in_their_order(api: TestClient) -> None:
    phases = [one["phase"] for one in get(api, "/trained/phases")["data"]]
    assert phases[0] == "before"
    assert phases[-1] == "after"
    assert "train-0-1" in phases


def test_a_list_is_whole_whatever_the_size_of_its_pages(api: TestClient) -> None:
    whole = everything(api, "/sampled/rollouts")
    assert [one["seq"] for one in whole] == list(range(1, 16))
    for limit in (1, 4, 15):
        assert everything(api, "/sampled/rollouts", limit=limit) == whole


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ({"outcome": ["correct", "unparseable"]}, 12),
        ({"outcome": "incorrect"}, 3),
        ({"task": "t1"}, 5),
        ({"reward": "0.5.."}, 9),
        ({"reward": "..0"}, 6),
        ({"flag": "none", "outcome": "correct"}, None),
        ({"phase": "nowhere"}, 0),
        ({"q": "I think it is 4"}, 1),
    ],
)
def test_attempts_are_found_by_filter(api: TestClient, asked: dict[str, Any], count: int | None) -> None:
    found = everything(api, "/sampled/rollouts", **asked)
    assert len(found) == count if count is not None else all(not one["flags"] for one in found)


def test_steps_are_a_range(api: TestClient) -> None:
    assert {one["step"] for one in everything(api, "/trained/rollouts", step="2..3")} == {2, 3}
    assert {one["step"] for one in everything(api, "/trained/groups", step="..1")} == {1}


def test_a_group_tells_advantages_and_its_neighbours(api: TestClient) -> None:
    groups = everything(api, "/sampled/groups")
    told = get(api, f"/sampled/groups/{groups[1]['number']}")
    assert (told["before"], told["after"]) == (groups[0]["number"], groups[2]["number"])
    rewards = [one["reward"] for one in told["rollouts"]]
    assert sum(told["advantages"]) == pytest.approx(0, abs=1e-6)
    assert told["advantages"].index(max(told["advantages"])) == rewards.index(max(rewards))


def test_an_attempt_comes_with_or_without_its_words(api: TestClient) -> None:
    told = get(api, "/sampled/rollouts/5")
    assert told["rollout"]["completion"][0]["content"] == HOSTILE.format(sum=2)
    assert told["record"]["verdict"]["outcome"] == told["row"]["outcome"]
    assert get(api, "/sampled/rollouts/5", words="false")["rollout"] is None


def test_the_verdicts_of_rescorings_stand_beside(api: TestClient) -> None:
    assert get(api, "/sampled/rollouts/1/verdicts")["data"] == []


def test_tasks_of_a_run(api: TestClient) -> None:
    assert [(one["id"], one["attempts"]) for one in get(api, "/sampled/tasks")["data"]] == [
        ("t0", 5),
        ("t1", 5),
        ("t2", 5),
    ]
    assert get(api, "/sampled/tasks/t1")["checker"]["config"] == {"answer": "3"}


def test_series_are_columns(api: TestClient) -> None:
    told = get(api, "/trained/series", keys="reward,entropy", **{"from": 2})
    assert told["line"] == [2, 3, 4]
    assert told["step"] == [2, 3, 4]
    assert set(told["columns"]) == {"reward", "entropy"}
    assert "pass_rate" in told["known"]
    assert told["columns"]["reward"] == [0.4, 0.5, 0.6]
    assert get(api, "/trained/series", keys=["reward"], points=2)["line"][:1] == [1]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/nowhere", 404),
        ("/nowhere/rollouts", 404),
        ("/nowhere/series", 404),
        ("/nowhere/config", 404),
        ("/..~..~etc/config", 404),
        ("/sampled/rollouts/999", 404),
        ("/sampled/rollouts/0", 400),
        ("/sampled/rollouts/99999999999999999999999999", 400),
        ("/sampled/rollouts/999/verdicts", 404),
        ("/sampled/groups/2", 404),
        ("/sampled/tasks/nothing", 404),
        ("/sampled/rollouts?after=nonsense", 400),
        ("/sampled/rollouts?step=a..b", 400),
        ("/sampled/rollouts?reward=nan", 400),
        ("/sampled/rollouts?step=" + "9" * 40, 400),
        ("/sampled/rollouts?outcome=good", 400),
        ("/sampled/rollouts?limit=0", 400),
        ("/sampled/rollouts?sort=words", 400),
        ("/sampled/series?from=-1", 400),
    ],
)
def test_what_cannot_be_served_is_told_in_one_shape(api: TestClient, path: str, status: int) -> None:
    answer = api.get(f"/v1/rlvr/runs{path}")
    assert answer.status_code == status
    error = answer.json()["error"]
    assert error["message"]
    assert "/tmp" not in error["message"]


def test_a_run_that_was_damaged_is_told_as_unusable(tmp_path: Path) -> None:
    path = sampled(tmp_path, "broken", tasks=1)
    service = Service(Settings(home=tmp_path))
    service.index.refresh()
    (path / "rollouts.jsonl").write_bytes(b"x" * 10)
    with TestClient(create_app(service), base_url="http://127.0.0.1:7799") as client:
        answer = client.get("/v1/rlvr/runs/broken/rollouts/1")
    assert answer.status_code in (400, 404), answer.text
    assert str(tmp_path) not in answer.text
    service.close()


@given(st.text(st.sampled_from("0123456789.-+einfa _"), max_size=12))
def test_a_range_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(RefusedError):
        low, high = parse_range(text, float, "reward")
        assert all(end is None or -(2**53) <= end <= 2**53 for end in (low, high))


@given(
    st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), min_size=3, max_size=300),
    st.integers(2, 50),
)
def test_fewer_points_are_points_of_the_run_with_its_ends(values: list[float | None], points: int) -> None:
    count = len(values)
    lines = tuple(range(1, count + 1))
    series = Series(line=lines, stage=(0,) * count, step=lines, columns={"x": tuple(values)}, known=("x",))
    found = thinned(series, points)
    assert (found.line[0], found.line[-1]) == (1, count)
    assert len(found.line) <= max(points, 3)
    assert list(found.line) == sorted(set(found.line))
    assert all(values[line - 1] == value for line, value in zip(found.line, found.columns["x"], strict=True))


def test_a_spike_is_seen_among_few_points() -> None:
    values = [0.0] * 5000
    values[3777] = 1.0
    lines = tuple(range(1, 5001))
    series = Series(line=lines, stage=(0,) * 5000, step=lines, columns={"x": tuple(values)}, known=("x",))
    assert 3778 in thinned(series, 20).line


def test_a_run_that_is_being_written_is_followed(tmp_path: Path) -> None:
    service = Service(Settings(home=tmp_path, poll_seconds=0.02))
    with TestClient(create_app(service), base_url="http://127.0.0.1:7799") as client:
        path = trained(tmp_path, "going", steps=2, finish=False)
        service.index.refresh()
        told = client.get("/v1/rlvr/runs/going").json()
    assert told["steps"] == 2
    assert told["rollouts"] == RunFolder.open(path).info.records
    service.close()

"""Task documents: authored, validated, probed; and what of a request never runs."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from lydite.server.app import create_app
from lydite.server.errors import RefusedError
from lydite.server.probes import Probes
from lydite.server.service import Service
from lydite.server.settings import Settings
from lydite.server.tasks import MOST_TRIED, Tasks
from lydite.tasksets.documents import parse_task

MATH: dict[str, Any] = {
    "prompt": "What is 19 + 23?",
    "checker": {"type": "math", "config": {"answer": "42"}},
    "solution": "19 + 23 = \\boxed{42}",
}
OWN = "/tmp/own.py:check"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    made = Service(Settings(home=tmp_path_factory.mktemp("tasks")))
    yield made
    made.close()


@pytest.fixture(scope="module")
def api(kept: Service) -> TestClient:
    return TestClient(create_app(kept), base_url="http://127.0.0.1:7799")


@pytest.fixture(scope="module")
def tasks(kept: Service) -> Tasks:
    return kept.tasks


def rules(tasks: Tasks, text: str, *, tried: bool = False) -> list[tuple[int, str, str | None]]:
    return [(one.index, one.rule, one.field) for one in tasks.validate(text, tried=tried)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (json.dumps(MATH), []),
        (json.dumps([MATH]), []),
        (json.dumps({"type": "rlTask", "rawTrainingData": {"task_spec": MATH}}), []),
        ("prompt: What is 19 + 23?\nchecker:\n  type: math\n  config: {answer: '42'}\n", []),
        ('{"question": "What is 1 + 2?", "answer": "#### 3"}', []),
        ("", [(0, "malformed", None)]),
        ("5", [(0, "malformed", None)]),
        ('{"prompt": "x"', [(0, "malformed", None)]),
        ('{"prompt": "x"}', [(0, "malformed", "checker")]),
        (json.dumps({**MATH, "max_steps": 65}), [(0, "malformed", "max_steps")]),
        (json.dumps({**MATH, "checker": {"type": "maths"}}), [(0, "malformed", "checker.type")]),
        (json.dumps({**MATH, "checker": {"type": OWN}}), [(0, "checker", "checker.type")]),
        (json.dumps({**MATH, "env": "a.py:E"}), [(0, "checker", "env")]),
        ("[" * 100_000, [(0, "malformed", None)]),
        ("\ud800", [(0, "malformed", None)]),
        ("a: &a [x]\nb: *a\n", [(0, "malformed", "a")]),
        ("!!python/object/apply:os.system ['true']", [(0, "malformed", None)]),
    ],
)
def test_a_text_of_any_kind_is_validated(tasks: Tasks, text: str, expected: list[Any]) -> None:
    assert rules(tasks, text) == expected


def test_each_of_several_documents_has_its_place(tasks: Tasks) -> None:
    text = f'{json.dumps(MATH)}\n{{"broken"\n{json.dumps({**MATH, "prompt": ""})}\n{json.dumps(MATH)}\n'
    found = tasks.validate(text, tried=False)
    assert [(one.index, one.line, one.rule, one.severity) for one in found] == [
        (1, 2, "malformed", "error"),
        (2, 3, "malformed", "error"),
        (3, 4, "duplicate_id", "error"),
        (3, 4, "duplicate_prompt", "warning"),
    ]
    assert found[2].message == "the same task stands at document 0"


def test_what_is_tried_is_set_up_solved_and_judged(tasks: Tasks) -> None:
    task = {
        "prompt": "Leave a file.",
        "checker": {"type": "exit_code", "config": {"command": "test -f a || test -f b"}},
        "setup_files": {"b": ""},
    }
    assert rules(tasks, json.dumps(task)) == []
    assert rules(tasks, json.dumps(task), tried=True) == [(0, "passes_untouched", "checker")]
    broken = {**task, "setup_commands": ["exit 3"]}
    assert rules(tasks, json.dumps(broken), tried=True) == [(0, "setup_fails", "setup_commands.0")]


def test_a_file_of_this_machine_is_never_run(tasks: Tasks, tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\ndef check(submission, config): return 1.0\n")
    nested = {"type": "all_of", "config": {"checkers": {"a": {"type": f"{own}:check", "config": {}}}}}
    for checker in ({"type": f"{own}:check"}, nested):
        document = {"prompt": "x", "checker": checker}
        assert [one.rule for one in tasks.validate(json.dumps(document))] == ["checker"]
        with pytest.raises(RefusedError):
            tasks.probe(parse_task(document))
    assert not (tmp_path / "ran").exists()


def test_too_many_are_not_tried(tasks: Tasks) -> None:
    text = "\n".join(json.dumps(MATH) for _ in range(MOST_TRIED + 1))
    with pytest.raises(RefusedError, match="tried=false"):
        tasks.validate(text)


def test_a_document_is_made_read_replaced_and_deleted(api: TestClient) -> None:
    made = api.post("/v1/rlvr/tasks", json={"task": MATH, "title": "t", "topics": ["sums"]}).json()
    (document,), id = made["data"], made["data"][0]["id"]
    assert (document["workspace"], document["status"], document["probed"]) == ("default", "published", False)
    assert api.get(f"/v1/rlvr/tasks/{id}").json() == document
    assert [one["id"] for one in api.get("/v1/rlvr/tasks?topic=sums&q=19").json()["data"]] == [id]
    changed = api.put(f"/v1/rlvr/tasks/{id}", json={"status": "draft", "title": "u"}).json()
    assert (changed["status"], changed["title"], changed["digest"]) == ("draft", "u", document["digest"])
    assert api.delete(f"/v1/rlvr/tasks/{id}").json() == {"id": id, "deleted": True}
    assert api.get(f"/v1/rlvr/tasks/{id}").status_code == 404


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "task"),
        ([], None),
        ({"task": {"prompt": "x"}}, "task.checker"),
        ({"documents": [{"task": MATH}, {"task": {}}]}, "documents[1].task.prompt"),
        ({"documents": [{"task": MATH, "spec": 1}]}, "documents[0].spec"),
        ({"task": MATH, "status": "x"}, "status"),
    ],
)
def test_a_document_that_cannot_be_used_is_refused(api: TestClient, body: Any, param: str | None) -> None:
    answer = api.post("/v1/rlvr/tasks", json=body)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)


def test_validating_over_the_wire_keeps_nothing(api: TestClient) -> None:
    before = api.get("/v1/rlvr/tasks").json()["data"]
    one = api.post("/v1/rlvr/tasks/validate?tried=false", json=MATH).json()
    text = api.post("/v1/rlvr/tasks/validate?tried=false", json={"text": "prompt: x\n"}).json()
    assert one == {"valid": True, "problems": []}
    assert (text["valid"], text["problems"][0]["field"]) == (False, "checker")
    assert api.get("/v1/rlvr/tasks").json()["data"] == before


def test_a_checker_that_is_too_easy_has_a_card_that_says_so(api: TestClient) -> None:
    easy = {"prompt": "Leave a note.", "checker": {"type": "file_exists", "config": {"paths": ["note.txt"]}}}
    id = api.post("/v1/rlvr/tasks", json={"task": easy}).json()["data"][0]["id"]
    assert api.get(f"/v1/rlvr/tasks/{id}/card").json()["error"]["code"] == "card_not_found"
    begun = api.post(f"/v1/rlvr/tasks/{id}/probe").json()["probing"]
    assert begun["status"] in ("queued", "running")
    until, found = time.monotonic() + 120, {"probing": begun}
    while found["probing"]["status"] not in ("done", "failed") and time.monotonic() < until:
        found = api.get(f"/v1/rlvr/tasks/probes/{begun['digest']}?wait=5").json()
    assert found["probing"]["status"] == "done", found
    assert found["card"]["attacks"] == found["probing"]["attacks"] > 0
    card = api.get(f"/v1/rlvr/tasks/{id}/card")
    assert card.json() == found["card"]
    assert card.json()["warned"] + card.json()["got_through"] > 0
    told = api.get(f"/v1/rlvr/tasks/{id}/card", headers={"accept": "text/markdown, application/json"})
    assert told.headers["content-type"].startswith("text/markdown")
    assert "## All attacks" in told.text
    assert api.get(f"/v1/rlvr/tasks/{id}").json()["probed"] is True


def test_one_task_is_probed_at_a_time_and_only_one(api: TestClient) -> None:
    answer = api.post("/v1/rlvr/tasks/probe", json=[MATH, {**MATH, "prompt": "And what is 20 + 22?"}])
    assert answer.status_code == 400
    assert api.get("/v1/rlvr/tasks/probes/abc").status_code == 404


def test_a_probing_that_takes_too_long_is_ended(kept: Service) -> None:
    probes = Probes(kept.home, seconds=0.05)
    task = parse_task({**MATH, "prompt": "How much is 19 + 23?"})
    assert probes.begin(task).digest == probes.begin(task).digest
    until = time.monotonic() + 60
    while not (state := probes.state(task.digest)).over and time.monotonic() < until:
        time.sleep(0.02)
    assert (state.status, state.error) == ("failed", "not done within 0 s")
    assert probes.card(task.digest) is None
    probes.close()


def test_closing_ends_what_is_probed(kept: Service) -> None:
    probes = Probes(kept.home)
    task = parse_task({**MATH, "prompt": "Add 19 and 23."})
    probes.begin(task)
    until = time.monotonic() + 60
    while probes.state(task.digest).status == "queued" and time.monotonic() < until:
        time.sleep(0.02)
    probes.close()
    assert probes.state(task.digest).status == "failed"
    with pytest.raises(RefusedError):
        probes.begin(task)

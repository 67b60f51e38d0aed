"""The verification service: the verdicts of ``lydite verify``, whatever comes; quick ones never behind slow ones."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st

from lydite.server.app import create_app
from lydite.server.judging import STATE, is_quick
from lydite.server.rlvr.verify_routes import MOST
from lydite.server.service import Service
from lydite.server.settings import Settings
from lydite.server.verdicts import Verdicts
from lydite.verifiers.registry import BUILTIN

CODE = {"type": "code", "config": {"tests": [{"call": "f", "args": [2], "expected": 4}], "timeout": 60}}
NESTED = {"type": "gate", "config": {"checkers": {"a": {"type": "x.py:f"}}, "gate": "a"}}
RIGHT = "```python\ndef f(x):\n    return x * 2\n```"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    service = Service(Settings(home=tmp_path_factory.mktemp("verify")))
    client = TestClient(create_app(service), base_url="http://127.0.0.1:7799")
    yield client
    service.close()


def asked(api: TestClient, body: Any) -> Any:
    answer = api.post("/v1/rlvr/verify", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_one_completion_has_a_verdict(api: TestClient) -> None:
    said = asked(api, {"id": "a", "completion": "6 * 7 = 42, so \\boxed{42}", "verifier": "math", "gold": "42"})
    assert said.pop("seconds") >= 0
    assert said == {
        "id": "a",
        "outcome": "correct",
        "score": 1.0,
        "reward": 1.0,
        "reason": "correct",
        "extracted": "42",
        "flags": ["no_visible_work"],
        "verifier": said["verifier"],
    }
    assert said["verifier"].startswith("math@")


def test_many_come_back_in_their_order_with_their_ids(api: TestClient) -> None:
    items = [{"id": number, "completion": str(number), "gold": "7"} for number in range(100)]
    said = asked(api, {"items": items, "verifier": "math"})["items"]
    assert [one["id"] for one in said] == list(range(100))
    assert [one["id"] for one in said if one["outcome"] == "correct"] == [7]


def test_an_items_own_checker_comes_before_the_default(api: TestClient) -> None:
    items = [
        {"completion": "x", "checker": {"type": "exact", "config": {"answer": "x"}}, "gold": "y"},
        {"completion": "b", "verifier": "choice", "config": {"choices": ["a", "b"]}, "gold": "b"},
        {"completion": "5 km", "gold": "5 km"},
    ]
    said = asked(api, {"items": items, "verifier": "math"})["items"]
    assert [one["verifier"].partition("@")[0] for one in said] == ["exact", "choice", "math"]
    assert [one["outcome"] for one in said] == ["correct"] * 3


@pytest.mark.parametrize(
    ("item", "param"),
    [
        ({"completion": "x"}, "checker"),
        ({"completion": "x", "verifier": "maths", "gold": "1"}, "checker.type"),
        ({"completion": "x", "verifier": "math"}, "checker.config.answer"),
        ({"completion": "x", "checker": {"config": {}}}, "checker.type"),
        ({"completion": "x", "verifier": "math", "config": {"colour": 1}, "gold": "1"}, "checker.config.colour"),
        ({"completion": "x", "checker": {"type": "code", "config": {"tests": []}}}, "checker.config.tests"),
        ({"completion": "x", "checker": {"type": "/etc/x.py:f"}}, "checker.type"),
        ({"completion": "x", "verifier": "x.py:f", "gold": "1"}, "checker.type"),
        ({"completion": "x", "checker": NESTED}, "checker.type"),
    ],
)
def test_an_unusable_checker_is_refused_alone_and_told_in_a_batch(api: TestClient, item: Any, param: str) -> None:
    alone = api.post("/v1/rlvr/verify", json=item)
    assert (alone.status_code, alone.json()["error"]["param"]) == (400, param)
    good = {"completion": "1", "verifier": "math", "gold": "1"}
    first, second, third = asked(api, {"items": [good, item, good]})["items"]
    assert (second["outcome"], second["reason"], second["index"]) == ("invalid", "bad_item", 1)
    assert second["detail"].startswith(param)
    assert first["outcome"] == third["outcome"] == "correct"
    assert "index" not in first


@pytest.mark.parametrize("body", ["[1]", "5", "", "{", '{"items": 5}', '{"items": [], "config": 5}', '{"verifier": 1}'])
def test_a_body_that_is_none_is_refused(api: TestClient, body: str) -> None:
    answer = api.post("/v1/rlvr/verify", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"


def test_too_many_items_are_refused(api: TestClient) -> None:
    answer = api.post("/v1/rlvr/verify", json={"items": [{"completion": "1"}] * (MOST + 1), "verifier": "steps"})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "items")


@pytest.mark.parametrize(
    "completion",
    [None, "", "\x00", "\u202e42", "x" * 2_000_000, "\\boxed{" * 20_000, [], [{"role": "assistant", "content": None}]],
)
def test_no_completion_is_our_fault(api: TestClient, completion: Any) -> None:
    said = asked(api, {"completion": completion, "verifier": "math", "gold": "42"})
    assert said["outcome"] in ("incorrect", "unparseable", "correct")


def test_half_a_character_is_no_trouble(api: TestClient) -> None:
    for body in (b'{"completion": "\\ud800 42", "id": "\\udfff", "verifier": "math", "gold": "42"}',):
        answer = api.post("/v1/rlvr/verify", content=body, headers={"content-type": "application/json"})
        assert (answer.status_code, answer.json()["outcome"], answer.json()["id"]) == (200, "correct", "\ufffd")
    many = b'{"items": [{"completion": "\\ud800 42", "verifier": "math", "gold": "42"}]}'
    answer = api.post("/v1/rlvr/verify", content=many, headers={"content-type": "application/json"})
    assert answer.json()["items"][0]["outcome"] == "correct"


def test_what_stands_twice_is_not_judged(api: TestClient) -> None:
    body = b'{"completion": "1", "completion": "2", "verifier": "math", "gold": "2"}'
    answer = api.post("/v1/rlvr/verify", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "completion")


def test_a_workspace_is_not_here_to_be_judged(api: TestClient) -> None:
    said = asked(api, {"completion": "x", "checker": {"type": "exit_code", "config": {"command": "true"}}})
    assert (said["outcome"], said["reason"], said["reward"]) == ("invalid", "no_workspace", None)


def test_programs_are_judged_in_the_sandbox(api: TestClient) -> None:
    items = [{"completion": text, "checker": CODE} for text in (RIGHT, RIGHT.replace("* 2", "* 3"), "no code")]
    said = asked(api, {"items": items})["items"]
    assert [one["outcome"] for one in said] == ["correct", "incorrect", "unparseable"]


@pytest.mark.parametrize("kind", sorted(BUILTIN))
def test_what_waits_or_looks_at_files_is_not_quick(kind: str) -> None:
    waits = {"code", "grader", "json_schema", "proof", "regex", "sql", "text_transform", *STATE}
    assert is_quick({"type": kind, "config": {}}) is (kind not in waits)
    nested = {"type": "all_of", "config": {"checkers": {"a": {"type": "math"}, "b": {"type": kind, "config": {}}}}}
    assert is_quick(nested) is (kind not in waits)


@pytest.mark.parametrize(
    ("config", "size"),
    [
        ({"answer": "a", "normalise": ["nfkc"] * 100}, 0),
        ({"answer": "a" * 20_000}, 0),
        ({"answer": "a"}, 1 << 24),
        ({"checkers": {str(number): {"type": "math", "config": {"answer": "1"}} for number in range(20)}}, 0),
    ],
)
def test_what_a_caller_makes_long_is_not_quick(config: dict[str, Any], size: int) -> None:
    assert not is_quick({"type": "all_of" if "checkers" in config else "exact", "config": config}, size)


def test_a_checker_that_takes_long_to_build_is_ended() -> None:
    twice = [{"properties": {"a": {"$ref": f"#/$defs/d{at}"}}} for at in range(40)]
    defs = {f"d{at + 1}": {"allOf": [twice[at], twice[at]]} for at in range(40)} | {"d0": {"type": "integer"}}
    deep: Any = 0
    for _ in range(40):
        deep = {"a": deep}
    schema = {"$defs": defs, "$ref": "#/$defs/d40"}
    item = {"completion": "0", "checker": {"type": "json_schema", "config": {"schema": schema, "expected": deep}}}
    verdicts = Verdicts(slow=1, seconds=1.0)

    async def ask() -> tuple[Any, Any]:
        waiting = asyncio.create_task(verdicts.one(json.dumps(item).encode()))
        quick = await verdicts.one(json.dumps({"completion": "42", "verifier": "math", "gold": "42"}).encode())
        return json.loads(quick), json.loads(await waiting)

    try:
        quick, late = asyncio.run(ask())
    finally:
        verdicts.close()
    assert quick["outcome"] == "correct"
    assert (late["outcome"], late["reason"]) == ("invalid", "verifier_error")
    assert "not ready within 1 s" in late["detail"]


def test_what_takes_too_long_is_the_candidates_fault() -> None:
    slow = {"completion": "```python\ndef f(x):\n    while True: pass\n```", "checker": CODE}

    async def ask(verdicts: Verdicts) -> list[bytes]:
        return await verdicts.many([json.dumps(slow).encode(), json.dumps({**slow, "completion": RIGHT}).encode()])

    verdicts = Verdicts(slow=1, seconds=2.0)
    try:
        late, fine = (json.loads(line) for line in asyncio.run(ask(verdicts)))
    finally:
        verdicts.close()
    assert (late["outcome"], late["reason"], late["score"], late["reward"]) == ("incorrect", "timeout", 0.0, -0.1)
    assert late["verifier"].startswith("code@")
    assert fine["outcome"] == "correct"


def test_slow_checks_hold_no_quick_one_up() -> None:
    slow = {"completion": "```python\nimport time\ntime.sleep(30)\n```", "checker": CODE}
    quick = json.dumps({"completion": "42", "verifier": "math", "gold": "42"}).encode()
    verdicts = Verdicts(slow=1, seconds=60.0)

    async def ask() -> None:
        waiting = asyncio.create_task(verdicts.many([json.dumps(slow).encode()] * 8))
        await asyncio.sleep(0.5)
        for _ in range(20):
            assert json.loads(await verdicts.one(quick))["outcome"] == "correct"
        assert not waiting.done()
        waiting.cancel()

    asyncio.run(ask())
    closing = threading.Thread(target=verdicts.close)
    closing.start()
    closing.join(20)
    assert not closing.is_alive()


def test_nothing_is_started_before_there_is_something_to_judge() -> None:
    before = threading.active_count()
    verdicts = Verdicts()
    assert threading.active_count() == before
    verdicts.close()


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["type", "config", "checkers"]) | st.text(), inner),
)


@settings(max_examples=50)
@given(JSON)
def test_any_checker_is_judged_or_refused(api: TestClient, checker: Any) -> None:
    item = {"completion": "x", "checker": checker}
    for body in (item, {"items": [item]}):
        answer = api.post("/v1/rlvr/verify", content=json.dumps(body), headers={"content-type": "application/json"})
        assert answer.status_code in (200, 400)


def test_verdicts_are_those_of_the_command(api: TestClient, tmp_path: Path, shared: Path) -> None:
    rows = [json.loads(line) for line in (shared / "cases" / "math.jsonl").read_text().splitlines()]
    items = [{"id": row["id"], "completion": row["completion"], "gold": row["gold"]} for row in rows]
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(item) + "\n" for item in items))
    command = [sys.executable, "-m", "lydite", "verify", str(source), "--verifier", "math"]
    done = subprocess.run(command, capture_output=True, check=True)
    expected = [json.loads(line) for line in done.stdout.splitlines()]
    said = [
        one
        for start in range(0, len(items), 64)
        for one in asked(api, {"items": items[start : start + 64], "verifier": "math"})["items"]
    ]
    for one in (*expected, *said):
        del one["seconds"]
    assert said == expected


def test_answers_come_while_others_are_judged(api: TestClient) -> None:
    """Requests from threads, as trainers send them: none is lost, none is another's."""
    found: dict[int, list[str]] = {}

    def ask(number: int) -> None:
        items = [{"id": f"{number}.{at}", "completion": "1", "verifier": "math", "gold": "1"} for at in range(40)]
        found[number] = [one["id"] for one in asked(api, {"items": items})["items"]]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + 60
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    assert found == {number: [f"{number}.{at}" for at in range(40)] for number in range(6)}

"""Bodies that no schema thinks of: examples of the OpenAPI document with one part made nasty, and what is no object."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from jobs_making import plan, rows, upload
from server_making import sampled

from lydite.server.app import create_app
from lydite.server.service import Service
from lydite.server.settings import Settings

MARK = "@@HERE@@"
NASTY = (  # JSON as it is written
    '"\\ud800"',
    "9" * 400,
    "NaN",
    "[" * 3000 + "]" * 3000,
    '"\\u0000"',
    '"' + "a" * 100_000 + '"',
    "1e400",
    "-1",
    "0",
    "1.5",
    "true",
    "null",
    "[]",
    "{}",
    '""',
    '{"a":' * 2000 + "1" + "}" * 2000,
    "[null]",
    '["\\ud800"]',
    '{"\\ud800":1}',
    '{"":""}',
    "2147483648",
    "9223372036854775808",
    '"../../etc/passwd"',
)
WHOLE = (
    b"",
    b"null",
    b"[]",
    b'"x"',
    b'{"a":1',
    b"\xff\xfe",
    b"\xef\xbb\xbf{}",
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b"\x00",
    b'{"\\ud800":"\\ud800"}',
)
GRADER = {
    "type": "string_check",
    "name": "boxed",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.boxed }}",
    "operation": "like",
}
EXAMPLES: dict[str, Any] = {
    "/v1/fine_tuning/jobs": {
        "model": "builtin:tiny",
        "training_file": "FILE",
        "seed": 3,
        "metadata": {"a": "b"},
        "method": {
            "type": "reinforcement",
            "reinforcement": {"grader": GRADER, "hyperparameters": {"n_epochs": 1, "compute_multiplier": 0.5}},
        },
    },
    "/v1/rlvr/flags/{run}/{seq}/{detector}": {"decision": "confirmed", "note": "x"},
    "/v1/rlvr/runs/{run}/ledger/verify": {"head": "a" * 64},
    "/aggregate_metrics": {"verify_responses": [{"reward": 1.0, "more": {"a": 2}}]},
}
"""Of operations whose document gives none."""
ELSEWHERE = {"/v1/chat/completions"}
"""Answers of a model: their tests look at this themselves."""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    home: Path = tmp_path_factory.mktemp("bodies")
    sampled(home, "a")
    service = Service(Settings(home=home, jobs=0, poll_seconds=60))
    service.index.refresh()
    with TestClient(create_app(service), base_url="http://127.0.0.1:7799") as client:
        yield client
    service.close()


@pytest.fixture(scope="module")
def operations(client: TestClient) -> list[tuple[str, str, Any]]:
    """Method, path with names of what is there, example."""
    service: Service = client.app.state.service  # type: ignore[attr-defined]
    spec = {"prompt": "What is 2 + 2?", "checker": {"type": "math", "config": {"answer": "4"}}}
    document = service.documents.create([{"spec": spec}], "w")[0].id
    manifest = client.post("/finetuning/create", json={"workspaceid": "w", "model": "builtin:tiny-tools"}).json()["id"]
    file, job = upload(service.files, rows(4)), service.jobs.create(plan()).id
    names = {"run": "a", "seq": "1", "detector": "no_visible_work", "job": job, "file": file}
    found = []
    for path, methods in client.get("/openapi.json").json()["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if content is None or path in ELSEWHERE:
                continue
            example = json.loads(json.dumps(content.get("example", EXAMPLES.get(path))).replace("FILE", file))
            named = {**names, "id": manifest if path.startswith("/finetuning") else document}
            found.append((method, re.sub(r"{(\w+)}", lambda part, by=named: by[part[1]], path), example))  # type: ignore[misc]
    assert len(found) > 10
    return found


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _places(inner, (*at, key))


def _marked(value: Any, at: tuple[Any, ...]) -> str:
    if not at:
        return json.dumps(MARK)
    made = copy.deepcopy(value)
    holder = made
    for key in at[:-1]:
        holder = holder[key]
    holder[at[-1]] = MARK
    return json.dumps(made)


def _ask(client: TestClient, method: str, path: str, body: bytes) -> None:
    answer = client.request(method, path, content=body, headers={"Content-Type": "application/json"})
    told = f"{method} {path}: {answer.status_code} {answer.text[:300]}\n{body[:300]!r} ... {body[-200:]!r}"
    assert answer.status_code < 500, told
    if answer.status_code >= 400:
        assert set(answer.json()["error"]) == {"message", "type", "param", "code"}, told
    else:
        answer.json()


def test_what_is_no_object_is_refused(client: TestClient, operations: list[tuple[str, str, Any]]) -> None:
    for method, path, _ in operations:
        for body in WHOLE:
            _ask(client, method, path, body)


def _mutated(client: TestClient, operations: list[tuple[str, str, Any]], nasty: tuple[str, ...]) -> None:
    for method, path, example in operations:
        for at in _places(example) if example is not None else ():
            text = _marked(example, at)
            for value in nasty:
                _ask(client, method, path, text.replace(json.dumps(MARK), value).encode())


def test_no_part_of_an_example_makes_the_service_fail(
    client: TestClient, operations: list[tuple[str, str, Any]]
) -> None:
    _mutated(client, operations, NASTY[:3])


@pytest.mark.slow
def test_no_other_part_of_an_example_makes_the_service_fail(
    client: TestClient, operations: list[tuple[str, str, Any]]
) -> None:
    _mutated(client, operations, NASTY[3:])

"""The OpenAPI document is whole and true, and nothing that follows it, or just misses it, gets a 5xx."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import requests
import schemathesis
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from jobs_making import plan, rows, upload
from schemathesis.core.failures import FailureGroup
from schemathesis.generation import GenerationMode
from schemathesis.python import asgi
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from server_making import sampled, trained

from lydite.server.answers import for_api
from lydite.server.app import create_app
from lydite.server.service import Service
from lydite.server.settings import Settings

CHECKS = [response_schema_conformance, content_type_conformance, status_code_conformance]
METHODS = {"get", "post", "put", "patch", "delete"}


def _known(service: Service) -> dict[str, list[Any]]:
    """Names of what a home holds, by the parameters that take them."""
    answers = '{"prompt": "What is 2 + 2?", "checker": {"type": "math", "config": {"answer": "4"}}}'
    documents = service.documents.create([{"spec": json.loads(answers)}], "w")
    jobs = [service.jobs.create(plan(name)).id for name in ("one", "two")]
    file = upload(service.files, rows(4))
    asker = TestClient(create_app(service), base_url="http://127.0.0.1")
    manifest = asker.post("/finetuning/create", json={"workspaceid": "w", "model": "builtin:tiny-tools"}).json()["id"]
    return {
        "run": ["a", "b"],
        "seq": [1, 2, 3],
        "number": [1, 5],
        "task": ["t0", "t1"],
        "detector": ["no_visible_work"],
        "kind": ["preferences", "sft", "kto", "html"],
        "file": [file],
        "job": jobs,
        "id": [documents[0].id, manifest, *jobs],
        "model": ["builtin:tiny", "run:b", f"run:{jobs[0]}"],
    }


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    """An application over a home that holds a bit of everything; jobs are taken and never started."""
    home = tmp_path_factory.mktemp("openapi")
    sampled(home, "a")
    trained(home, "b", steps=2)
    service = Service(Settings(home=home, jobs=0, allowed_hosts=(asgi.HOST,), poll_seconds=0.2))
    service.index.refresh()
    app = create_app(service)
    app.state.known = _known(service)
    yield app
    asgi.shutdown_lifespans()
    service.close()


@pytest.fixture(scope="module")
def document(app: FastAPI) -> dict[str, Any]:
    return app.openapi()


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if method in METHODS:
                yield f"{method.upper()} {path}", operation


def test_every_operation_says_what_it_may_answer(document: dict[str, Any]) -> None:
    for name, operation in _operations(document):
        answers = operation["responses"]
        assert any(status.startswith("2") for status in answers), name
        assert "422" not in answers, name
        for status in (status for status in answers if status >= "4"):
            content = answers[status]["content"]["application/json"]
            assert content["schema"] == {"$ref": "#/components/schemas/Error"}, (name, status)
        assert "400" in answers, name
        assert ("413" in answers) == ("requestBody" in operation), name


def test_every_operation_has_a_tag_that_is_told(document: dict[str, Any]) -> None:
    told = {tag["name"] for tag in document["tags"] if tag.get("description")}
    for name, operation in _operations(document):
        assert operation["tags"], name
        assert set(operation["tags"]) <= told, (name, operation["tags"])
        assert operation.get("summary"), name


def test_names_of_operations_are_unique(document: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, operation in _operations(document)]
    assert len(set(names)) == len(names)


def test_security_is_told(document: dict[str, Any]) -> None:
    assert set(document["components"]["securitySchemes"]) == {"bearer", "key"}
    assert {"bearer": []} in document["security"]
    assert document["paths"]["/healthz"]["get"]["security"] == []


def test_its_paths_are_known_as_those_of_the_api(document: dict[str, Any]) -> None:
    assert [path for path in document["paths"] if not for_api(path)] == []


def test_examples_of_bodies_are_what_they_are_examples_of(document: dict[str, Any]) -> None:
    told = 0
    for name, operation in _operations(document):
        for content in operation.get("requestBody", {}).get("content", {}).values():
            if "example" in content:
                schema = {**content["schema"], "components": document["components"]}
                assert jsonschema_rs.is_valid(schema, content["example"]), name
                told += 1
    assert told > 10


def test_views_are_no_part_of_it(document: dict[str, Any]) -> None:
    assert not {"/", "/login", "/runs/{run}", "/flags"} & set(document["paths"])


def explore(app: FastAPI, examples: int, only: str = "") -> list[str]:
    """Ask every operation with what fits the document (three times of four about something that is there) and with what
    does not; what was answered with a 5xx, not in the shape of errors, or not as the document says."""
    found: dict[str, str] = {}
    known, turns = app.state.known, itertools.count(1)
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    for result in schema.get_all_operations():
        operation = result.ok()
        if only not in operation.label:
            continue
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

            def ask(case: Any) -> None:
                label, turn = case.operation.label, next(turns)
                if case.meta.generation.mode is GenerationMode.POSITIVE and case.method != "DELETE" and turn % 4:
                    for name in set(case.path_parameters or ()) & set(known):
                        case.path_parameters[name] = known[name][turn % len(known[name])]
                kinds = case.operation.definition.raw["responses"].get("200", {}).get("content", {})
                streams = set(kinds) == {"text/event-stream"}
                try:
                    response = case.call(timeout=0.2 if streams else 60)
                except requests.exceptions.ReadTimeout:
                    if streams:  # nothing has happened yet
                        return
                    raise
                try:
                    case.validate_response(response, checks=CHECKS)
                except FailureGroup as failures:
                    for failure in failures.exceptions:
                        found.setdefault(f"{label} {response.status_code} {failure.title}", failure.message[:600])
                if response.status_code >= 500 or (response.status_code >= 400 and not _told(response)):
                    body = response.text[:300]
                    found.setdefault(f"{label} {response.status_code}", f"{case.as_curl_command()[:600]}\n    {body}")

            strategy = operation.as_strategy(generation_mode=mode)
            run = settings(
                max_examples=examples,
                derandomize=True,
                deadline=None,
                database=None,
                phases=[Phase.explicit, Phase.generate],
                suppress_health_check=list(HealthCheck),
            )(given(case=strategy)(ask))
            try:
                run()
            except Unsatisfiable:  # nothing can miss an operation without parameters
                continue
    return [f"{name}\n    {told}" for name, told in found.items()]


def _told(response: Any) -> bool:
    try:
        error = response.json()["error"]
    except (ValueError, KeyError, TypeError):
        return False
    return bool(error["message"]) and {"type", "param", "code"} <= set(error)


def test_no_request_makes_the_service_fail(app: FastAPI) -> None:
    found = explore(app, int(os.environ.get("EXAMPLES", "2")), os.environ.get("ONLY", ""))
    assert not found, "\n".join(found)


@pytest.mark.battery
def test_no_request_of_many_makes_the_service_fail(app: FastAPI, tmp_path: Path) -> None:
    found = explore(app, 10)
    assert not found, "\n".join(found)

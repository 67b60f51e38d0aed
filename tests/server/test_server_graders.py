"""Graders over HTTP, in the shapes that the real ``openai`` client reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import openai
import pytest
from fastapi.testclient import TestClient
from server_asking import Asked, asking

from lydite.server.openai import graders_routes

TEXT = "{{ sample.output_text }}"
CHECK: dict[str, Any] = {
    "type": "string_check",
    "name": "capital",
    "input": TEXT,
    "reference": "{{ item.answer }}",
    "operation": "ilike",
}
CLOSE: dict[str, Any] = {
    "type": "text_similarity",
    "name": "close",
    "input": TEXT,
    "reference": "{{ item.answer }}",
    "evaluation_metric": "fuzzy_match",
}
PYTHON: dict[str, Any] = {
    "type": "python",
    "name": "near",
    "source": "def grade(sample, item):\n    return 1 - abs(float(sample['output_text']) - item['n']) / 10\n",
}
MULTI: dict[str, Any] = {
    "type": "multi",
    "name": "both",
    "graders": {"a": {**CHECK, "operation": "eq"}, "b": CLOSE},
    "calculate_output": "0.5 * a + 0.5 * b",
}
MODEL: dict[str, Any] = {
    "type": "score_model",
    "name": "judge",
    "model": "gpt-4o",
    "input": [{"role": "user", "content": "How good is it?"}],
}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    with asking(tmp_path_factory.mktemp("graders") / "home") as made:
        yield made


def run(asked: Asked, grader: Any, item: Any, said: str) -> Any:
    return asked.client.fine_tuning.alpha.graders.run(grader=grader, item=item, model_sample=said)


def test_the_client_runs_every_type(asked: Asked) -> None:
    done = run(asked, CHECK, {"answer": "Paris"}, "It is PARIS.")
    assert (done.reward, done.metadata.name, done.metadata.type) == (1.0, "capital", "string_check")
    assert done.metadata.scores == {"capital": 1.0}
    assert done.metadata.execution_time >= 0
    assert run(asked, CLOSE, {"answer": "kitten"}, "sitting").reward == pytest.approx(8 / 13)
    assert run(asked, PYTHON, {"n": 7}, "5").reward == pytest.approx(0.8)
    both = run(asked, MULTI, {"answer": "kitten"}, "sitting")
    assert both.sub_rewards == {"a": 0.0, "b": pytest.approx(8 / 13)}
    assert both.reward == pytest.approx(4 / 13)
    assert not any(value is True for value in both.metadata.errors.to_dict().values())


def test_the_client_validates_every_type(asked: Asked) -> None:
    for grader in (CHECK, CLOSE, PYTHON, MULTI):
        done = asked.client.fine_tuning.alpha.graders.validate(grader=grader)
        assert done.grader.name == grader["name"]


@pytest.mark.parametrize("grader", [MODEL, {**MULTI, "graders": {"a": MODEL, "b": CLOSE}}])
def test_a_model_is_no_verifier(asked: Asked, grader: Any) -> None:
    for ask in (
        lambda: run(asked, grader, {"answer": "x"}, "x"),
        lambda: asked.client.fine_tuning.alpha.graders.validate(grader=grader),
    ):
        with pytest.raises(openai.BadRequestError) as caught:
            ask()
        assert "a model is no verifier" in caught.value.message
        assert caught.value.param in ("grader.type", "grader.graders.a.type")


@pytest.mark.parametrize(
    ("grader", "said", "flag", "reward"),
    [
        ({**CHECK, "input": "{{ sample.output_json.x }}"}, "no", "sample_parse_error", 0.0),
        (PYTHON, "seven", "python_grader_runtime_error", 0.0),
        ({**PYTHON, "source": "def grade(sample, item): return item['m']"}, "7", "python_grader_runtime_error", None),
        ({**MULTI, "calculate_output": "1 / b"}, "zzz", "formula_parse_error", 0.0),
        (CHECK, " ", "unresponsive_reward_error", 0.0),
        (CLOSE, "a" * 200_000, "truncated_observation_error", 0.0),
    ],
)
def test_what_went_wrong_is_flagged(client: TestClient, grader: Any, said: str, flag: str, reward: Any) -> None:
    """A broken grader is no score: ``null``, and never 0."""
    body = {"grader": grader, "item": {"answer": "x", "n": 7}, "model_sample": said}
    done = client.post("/v1/fine_tuning/alpha/graders/run", json=body).json()
    assert done["reward"] == reward
    assert [name for name, value in done["metadata"]["errors"].items() if value is True] == [flag]
    assert (done["verdict"]["outcome"] == "invalid") is (reward is None)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"model_sample": "x"}, "grader"),
        ({"grader": CHECK, "item": {"answer": "x"}}, "model_sample"),
        ({"grader": CHECK, "item": [], "model_sample": "x"}, "item"),
        ({"grader": CHECK, "item": {"answer": "x"}, "model_sample": {"a": 1}}, "model_sample"),
        ({"grader": CHECK, "model_sample": "x"}, "grader.reference"),
        ({"grader": {"type": "no"}, "model_sample": "x"}, "grader.type"),
        ({"grader": {}, "model_sample": "x"}, "grader.type"),
        ({"grader": {**CHECK, "reward": 1}, "model_sample": "x"}, "grader.reward"),
        ({"grader": CHECK, "model_sample": "x", "extra": 1}, "extra"),
        ([], None),
        (None, None),
    ],
)
def test_an_unusable_request_is_refused(client: TestClient, body: Any, param: str | None) -> None:
    answer = client.post("/v1/fine_tuning/alpha/graders/run", json=body)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)


def test_a_grader_that_is_not_fit_is_refused_by_validate(client: TestClient) -> None:
    for change, param in (({"operation": "re"}, "grader.operation"), ({"input": "{{ item.a"}, "grader.input")):
        answer = client.post("/v1/fine_tuning/alpha/graders/validate", json={"grader": {**CHECK, **change}})
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)


def test_a_grader_that_goes_on_for_ever_is_ended(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graders_routes, "SECONDS", 2.0)
    grader = {"type": "python", "source": "def grade(sample, item):\n    while True: pass", "timeout": 120}
    done = client.post("/v1/fine_tuning/alpha/graders/run", json={"grader": grader, "model_sample": "x"}).json()
    assert (done["reward"], done["verdict"]["reason"]) == (None, "timeout")
    assert done["metadata"]["errors"]["python_grader_server_error"] is True

"""Reward servers in the shapes of OpenRLHF and NeMo Gym."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from lydite.server.app import create_app
from lydite.server.service import Service
from lydite.server.settings import Settings

PROMPT = "<|im_start|>user\nWhat is 6 * 7?<|im_end|>\n<|im_start|>assistant\n"
ASKED = {"responses_create_params": {"input": [{"role": "user", "content": "What is 6 * 7?"}]}}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    service = Service(Settings(home=tmp_path_factory.mktemp("compat")))
    yield TestClient(create_app(service), base_url="http://127.0.0.1:7799")
    service.close()


def rewarded(api: TestClient, responses: list[str], labels: list[Any], query: str = "verifier=math") -> Any:
    body = {
        "query": [PROMPT + response for response in responses],
        "prompts": [PROMPT] * len(responses),
        "labels": labels,
    }
    return api.post(f"/get_reward?{query}", json=body)


def response(*words: str) -> dict[str, Any]:
    parts = [{"type": "output_text", "text": text, "annotations": []} for text in words]
    message = {"type": "message", "role": "assistant", "id": "m", "status": "completed", "content": parts}
    return {"response": {"id": "r", "object": "response", "output": [{"type": "reasoning", "summary": []}, message]}}


def test_openrlhf_gets_rewards_scores_and_logs(api: TestClient) -> None:
    said = rewarded(api, ["6 * 7 is \\boxed{42}<|im_end|>", "\\boxed{41}<|im_end|>", ""], ["42"] * 3).json()
    assert said["rewards"] == [1.0, -0.1, -0.1]
    assert said["scores"] == [1.0, 0.0, 0.0]
    assert said["extra_logs"]["acc"] == [1.0, 0.0, 0.0]
    assert said["extra_logs"]["invalid"] == said["extra_logs"]["fault"] == [0.0, 0.0, 0.0]


@pytest.mark.train
def test_openrlhf_gets_what_its_file_would_say(api: TestClient) -> None:
    pytest.importorskip("torch")
    from lydite.exports.openrlhf import OpenRLHFReward

    responses = ["so \\boxed{42}<|im_end|>", "41", "", "I cannot", "42<|endoftext|>\n"]
    labels = ["42", "42", "42", "42", "???"]
    queries, prompts = [PROMPT + response for response in responses], [PROMPT] * len(responses)
    expected = OpenRLHFReward("math").reward_func(queries, prompts, labels)
    said = rewarded(api, responses, labels).json()
    for name in ("rewards", "scores"):
        assert said[name] == pytest.approx(expected[name].tolist())
    for name in ("acc", "fault"):
        assert said["extra_logs"][name] == expected["extra_logs"][name].tolist()


def test_labels_may_be_checkers(api: TestClient) -> None:
    checker = {"type": "exact", "config": {"answer": "yes"}}
    said = rewarded(api, ["yes", "no"], [checker, json.dumps(checker)], "scheme=binary").json()
    assert said["rewards"] == [1.0, 0.0]


def test_a_verdict_that_is_none_is_counted_and_costs_nothing(api: TestClient) -> None:
    said = rewarded(api, ["42", "42"], ["???", "42"]).json()
    assert (said["rewards"], said["extra_logs"]["invalid"]) == ([0.0, 1.0], [1.0, 0.0])
    body = {"query": ["cut off 42"], "prompts": ["a prompt that is not there"], "labels": ["42"]}
    said = api.post("/get_reward?verifier=math", json=body).json()
    assert (said["rewards"], said["extra_logs"]["invalid"]) == ([0.0], [1.0])


@pytest.mark.parametrize(
    ("labels", "query", "param"),
    [
        (["42"], "", "labels[0]"),
        ([{"type": "x.py:f"}], "", "labels[0]"),
        ([{"type": "maths"}], "", "labels[0]"),
        ([None], "verifier=math", "labels[0]"),
        (["42"], "verifier=/etc/x.py:f", "labels[0]"),
        (["42"], "verifier=math&config=5", "config"),
        (["42"], "verifier=math&config={", "config"),
        (["42"], "config={}", "config"),
        (["42"], "verifier=math&scheme=cubic", "scheme"),
        (["42", "43"], "verifier=math", "labels"),
    ],
)
def test_a_reward_that_cannot_be_is_refused(api: TestClient, labels: list[Any], query: str, param: str) -> None:
    answer = rewarded(api, ["42"], labels, query)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)


@pytest.mark.parametrize("body", [[], {}, {"query": "x"}, {"query": [1], "prompts": ["a"], "labels": ["b"]}])
def test_a_body_in_another_shape_is_refused(api: TestClient, body: Any) -> None:
    assert api.post("/get_reward?verifier=math", json=body).status_code == 400


def test_nemo_gym_gets_back_what_it_sent_with_a_reward(api: TestClient) -> None:
    body = {
        **ASKED,
        **response("6 * 7 = ", "42, so \\boxed{42}"),
        "verifier": "math",
        "expected_answer": "42",
        "uuid": 5,
    }
    said = api.post("/verify", json=body).json()
    assert said.items() >= body.items()
    assert (said["reward"], said["mask_sample"]) == (1.0, False)
    assert said["verdict"]["extracted"] == "42"


def test_a_wrong_answer_is_worth_nothing_and_the_scheme_can_be_chosen(api: TestClient) -> None:
    body = {**ASKED, **response("41"), "verifier_metadata": {"answer": "42"}}
    assert api.post("/verify?verifier=math", json=body).json()["reward"] == 0.0
    assert api.post("/verify?verifier=math&scheme=asymmetric", json=body).json()["reward"] == -0.1


def test_parts_are_components(api: TestClient) -> None:
    checkers = {
        "right": {"type": "math", "config": {"answer": "42"}},
        "form": {"type": "format", "config": {"required": ["answer"]}},
    }
    checker = {"type": "weighted", "config": {"checkers": checkers}}
    said = api.post("/verify", json={**ASKED, **response("\\boxed{42}"), "checker": checker}).json()
    assert said["reward_components"] == {"right": 1.0, "form": 0.0}
    assert said["reward"] == 0.5


def test_a_turn_that_ends_with_a_call_has_no_answer(api: TestClient) -> None:
    call = {"type": "function_call", "name": "add", "arguments": '{"a": 42}', "call_id": "c"}
    body = {**ASKED, "response": {"output": [call]}, "verifier": "math", "gold": "42"}
    assert api.post("/verify", json=body).json()["reward"] == 0.0


def test_what_could_not_be_judged_is_masked(api: TestClient) -> None:
    said = api.post("/verify", json={**ASKED, **response("42"), "verifier": "math", "gold": "???"}).json()
    assert (said["reward"], said["mask_sample"], said["failure_kind"]) == (0.0, True, "lydite:unparseable_gold")
    assert said["failure_reason"]


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ([], "body"),
        ({}, "responses_create_params"),
        (ASKED, "response"),
        ({**ASKED, "response": {"output": "x"}}, "response.output"),
        ({**ASKED, "response": {"output": [1]}}, "response.output"),
        ({"responses_create_params": {"input": 5}, "response": {"output": []}}, "responses_create_params.input"),
        ({**ASKED, **response("x")}, "checker"),
        ({**ASKED, **response("x"), "checker": {"type": "x.py:f"}}, "checker.type"),
        ({**ASKED, **response("x"), "checker": "math"}, "checker"),
    ],
)
def test_a_rollout_in_another_shape_is_refused(api: TestClient, body: Any, param: str) -> None:
    answer = api.post("/verify", json=body)
    assert answer.status_code == 400, answer.text
    assert (answer.json()["error"]["param"] or param) == param


def test_sessions_begin_and_end_without_a_trace(api: TestClient) -> None:
    assert api.post("/seed_session", json={}).json() == {}
    assert api.post("/seed_session").json() == {}
    seed = {"resources_session_id": "s", "episode_id": "e", "task_id": "t", "task_data": {}}
    assert api.post("/seed_session", json=seed).json() == {"resources_session_id": "s"}
    assert api.post("/close_session", json=seed).json() == {"resources_session_id": "s"}
    assert api.get("/reverify_mode").json() == "stateless"


def test_metrics_are_of_tasks_and_of_all_without_what_is_masked(api: TestClient) -> None:
    responses = [
        {"_ng_task_index": 0, "_ng_rollout_index": 0, "reward": 1.0, "right": True},
        {"_ng_task_index": 0, "_ng_rollout_index": 1, "reward": 0.0, "right": False},
        {"_ng_task_index": 1, "_ng_rollout_index": 0, "reward": 0.0, "mask_sample": True},
        {"_ng_task_index": 2, "_ng_rollout_index": 0, "reward": 1.0, "right": True},
    ]
    said = api.post("/aggregate_metrics", json={"verify_responses": responses}).json()
    assert [(one["_ng_task_index"], one["mean/reward"]) for one in said["group_level_metrics"]] == [(0, 0.5), (2, 1.0)]
    assert said["agent_metrics"]["masked"] == 1
    assert said["key_metrics"]["mean/reward"] == pytest.approx(2 / 3)
    assert api.post("/aggregate_metrics", json={"verify_responses": []}).json()["agent_metrics"] == {}

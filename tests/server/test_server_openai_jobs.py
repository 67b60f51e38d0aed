"""Fine-tuning jobs as the real ``openai`` client makes them; one of them trains for true."""

from __future__ import annotations

import hashlib
import http.client
import io
import json
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from fastapi.testclient import TestClient
from jobs_making import jsonl, rows, upload
from server_asking import Asked, asking

from lydite.server.app import create_app
from lydite.server.service import Service
from lydite.server.settings import Settings

LIKE = {
    "type": "string_check",
    "name": "boxed",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.boxed }}",
    "operation": "like",
}
TRICK = {"type": "python", "name": "math", "source": "from rlvr import verifier; grade = verifier('math')"}
SMALL = {"lora": {"r": 2, "alpha": 4}, "max_completion_length": 24, "dynamic_sampling": False}


def reinforcement(grader: dict[str, Any] | None = None, **hyper: Any) -> dict[str, Any]:
    return {"type": "reinforcement", "reinforcement": {"grader": grader or LIKE, "hyperparameters": hyper}}


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client of a service that starts no job; one for all tests."""
    service = Service(Settings(home=tmp_path_factory.mktemp("idle"), jobs=0, poll_seconds=0.2))
    with TestClient(create_app(service), base_url="http://127.0.0.1:7799") as client:
        yield client
    service.close()


def made(idle: TestClient, values: list[Any] | bytes | None = None, **body: Any) -> Any:
    service: Service = idle.app.state.service  # type: ignore[attr-defined]
    file = upload(service.files, rows(4) if values is None else values)
    asked = {"model": "builtin:tiny", "training_file": file, "method": reinforcement()} | body
    return idle.post("/v1/fine_tuning/jobs", json={key: value for key, value in asked.items() if value is not None})


def recipe(idle: TestClient, answer: Any) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = idle.get(f"/v1/rlvr/jobs/{answer.json()['id']}").json()["recipe"]
    return found


def tasks(idle: TestClient, answer: Any, name: str = "tasks.jsonl") -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.text
    service: Service = idle.app.state.service  # type: ignore[attr-defined]
    path = service.home.folder("jobs") / answer.json()["id"] / name
    return [json.loads(line) for line in path.read_text().splitlines() if line]


@pytest.mark.train
def test_a_job_from_upload_to_an_answer(home: Path) -> None:
    pytest.importorskip("trl")
    with asking(home, poll_seconds=0.1) as asked:
        client = asked.client
        file = client.files.create(file=("rows.jsonl", io.BytesIO(jsonl(rows()))), purpose="fine-tune")
        job = client.fine_tuning.jobs.create(
            model="builtin:tiny",
            training_file=file.id,
            method=reinforcement(n_epochs=1, batch_size=2, compute_multiplier=0.5, eval_interval=2),  # type: ignore[arg-type]
            seed=7,
            metadata={"team": "a"},
            extra_body={"x_rlvr": SMALL},
        )
        assert job.method is not None
        assert job.method.reinforcement is not None
        assert job.method.reinforcement.grader.name == "boxed"
        assert (job.seed, job.metadata, job.fine_tuned_model) == (7, {"team": "a"}, None)
        seen = watched(asked, job.id)
        job = client.fine_tuning.jobs.retrieve(job.id)
        assert job.status == "succeeded", job.error
        assert job.fine_tuned_model == f"run:{job.id}"
        assert job.trained_tokens
        assert job.finished_at
        assert [one.id for one in client.fine_tuning.jobs.list(metadata={"team": "a"})] == [job.id]

        events = list(client.fine_tuning.jobs.list_events(job.id, limit=3))  # several pages
        metrics = [event for event in events if event.type == "metrics"][::-1]
        assert [event.data["step"] for event in metrics] == [1, 2, 3, 4]  # type: ignore[index]
        for name in ("reward", "train_mean_reward", "completion_tokens_mean", "train_sample_parse_error_count"):
            assert name in metrics[0].data  # type: ignore[operator]
        assert seen == [event.id for event in events][::-1]

        checkpoint, earlier = client.fine_tuning.jobs.checkpoints.list(job.id)
        assert (earlier.step_number, earlier.fine_tuned_model_checkpoint) == (2, f"run:{job.id}@0-grpo/2")
        assert checkpoint.step_number == 4
        assert checkpoint.metrics.step == 4
        assert checkpoint.fine_tuned_model_checkpoint == f"run:{job.id}@0-grpo/final"

        kept = home / "runs" / job.id / "checkpoints" / "0-grpo" / "checkpoint-2"
        assert not {"optimizer.pt", "README.md"} & {path.name for path in kept.iterdir()}
        assert json.loads((kept / "adapter_config.json").read_text())["base_model_name_or_path"] == "builtin:tiny"

        series = client.get(f"/rlvr/jobs/{job.id}/metrics?keys=reward&from=2", cast_to=object)
        assert series["line"] == [2, 3, 4]  # type: ignore[index]
        (table,) = (client.files.content(one).text for one in job.result_files)
        assert len(table.splitlines()) == 5
        assert table.startswith("stage,kind,step,")

        downloaded(asked, job.id)
        for model in (job.fine_tuned_model, earlier.fine_tuned_model_checkpoint):
            said = client.chat.completions.create(
                model=model, messages=rows(1)[0]["messages"], max_tokens=24, temperature=0
            )
            assert said.choices[0].message.content


def watched(asked: Asked, job: str) -> list[str]:
    """Ids of events as they come, to the end of the job, over a connection that is cut off once."""
    seen: list[str] = []
    last = "0"
    end = time.monotonic() + 120
    for cut in (True, False):
        connection = http.client.HTTPConnection(asked.url.removeprefix("http://"), timeout=60)
        connection.request("GET", f"/v1/rlvr/jobs/{job}/stream", headers={"Last-Event-ID": last})
        response = connection.getresponse()
        assert response.status == 200
        fields: dict[str, str] = {}
        while line := response.readline().decode():
            assert time.monotonic() < end
            if line != "\n":
                name, _, value = line.rstrip("\n").partition(": ")
                fields[name] = value
                continue
            last = fields.get("id", last)
            name, data = fields.get("event", ""), json.loads(fields.get("data", "{}")).get("data", {})
            fields = {}
            if name == "event":
                seen.append(data["id"])
                if cut and len(seen) == 3:
                    break
            elif name == "status" and data["status"] in ("succeeded", "failed"):
                time.sleep(0.2)  # the last event is told behind the status
                rest = asked.service.bus.past([f"job:{job}"], after=int(last))
                seen += [event.data["id"] for event in rest if event.kind == "event"]
                break
        connection.close()
    return seen


def downloaded(asked: Asked, job: str) -> None:
    client = asked.client
    path = f"/rlvr/checkpoints/run:{job}/adapter"
    answer = client.get(path, cast_to=openai._legacy_response.HttpxBinaryResponseContent)
    data, headers = answer.content, answer.response.headers
    assert hashlib.sha256(data).hexdigest() == headers["x-checksum-sha256"] == headers["etag"].strip('"')
    with zipfile.ZipFile(io.BytesIO(data)) as held:
        assert held.testzip() is None
        names = held.namelist()
        config = json.loads(held.read("adapter_config.json"))
    assert {"adapter_model.safetensors", "adapter_config.json", "tokenizer.json", "README.md"} <= {*names}
    assert config["base_model_name_or_path"] == "builtin:tiny"
    assert not any(name.endswith((".pt", ".bin")) for name in names)
    other = client.get(f"/rlvr/jobs/{job}/adapter", cast_to=openai._legacy_response.HttpxBinaryResponseContent)
    assert other.content == data
    connection = http.client.HTTPConnection(asked.url.removeprefix("http://"), timeout=60)
    connection.request("GET", f"/v1{path}", headers={"If-None-Match": headers["etag"]})
    assert connection.getresponse().status == 304
    connection.close()


def test_hyperparameters_become_a_recipe(idle: TestClient) -> None:
    answer = made(
        idle,
        rows(9),
        method=reinforcement(
            n_epochs=3,
            batch_size=2,
            learning_rate_multiplier=0.5,
            compute_multiplier=2,
            eval_interval=5,
            eval_samples=6,
        ),
        seed=3,
        x_rlvr={"tasks": {"eval_fraction": 0.5}, "reward": {"preset": "binary"}, "loss_type": "grpo", "lora": {"r": 4}},
    )
    found = recipe(idle, answer)
    (stage,) = found["stages"]
    assert stage["optimizer_steps"] == 14  # 27 prompts, two a step
    assert (stage["prompts_per_step"], stage["num_generations"], stage["save_every"]) == (2, 16, 5)
    assert (stage["learning_rate"], stage["loss_type"], stage["keep_checkpoints"]) == (5e-4, "grpo", "all")
    assert (found["evaluation"]["n"], found["tasks"]["eval_fraction"]) == (6, 0.5)
    assert (found["reward"]["preset"], found["lora"]["r"], found["policy"]) == ("binary", 4, "builtin:tiny")
    hyper = answer.json()["method"]["reinforcement"]["hyperparameters"]
    assert (hyper["n_epochs"], hyper["reasoning_effort"]) == (3, "default")
    events = idle.get(f"/v1/fine_tuning/jobs/{answer.json()['id']}/events").json()["data"]
    assert any(event["level"] == "warn" and "eval_interval" in event["message"] for event in events)


def test_auto_is_what_is_taken_where_nothing_is_said(idle: TestClient) -> None:
    first = recipe(idle, made(idle, method=reinforcement(n_epochs="auto", batch_size="auto"), seed=1))
    assert first == recipe(idle, made(idle, seed=1))


def test_rows_become_tasks_line_for_line(idle: TestClient) -> None:
    values = rows(2)
    data = jsonl(values[:1]) + b"\n" + jsonl(values[1:])
    answer = made(idle, data, validation_file=None)
    one, _ = tasks(idle, answer)
    assert one["checker"] == {
        "type": "grader",
        "config": {"grader": LIKE, "item": {key: values[0][key] for key in ("answer", "boxed")}},
    }
    for body in (
        {"method": reinforcement(TRICK)},
        {"method": reinforcement({"type": "lydite", "verifier": "math"})},
        {"method": reinforcement({"type": "rlvr", "verifier": "math@3", "name": "x"})},
        {"x_rlvr": {"verifier": "math"}},
    ):
        one, _ = tasks(idle, made(idle, data, **body))
        assert one["checker"] == {"type": "math", "config": {"answer": "14"}}
        assert one["metadata"] == {"boxed": "\\boxed{14}"}


def test_rows_with_checkers_of_their_own_and_task_documents(idle: TestClient) -> None:
    row = {"messages": rows(1)[0]["messages"], "checker": {"type": "choice", "config": {"answer": "B"}}}
    document = {
        "task_spec": {"prompt": "Make a.txt", "checker": {"type": "file_exists", "config": {"paths": ["a.txt"]}}}
    }
    method = {"type": "reinforcement", "reinforcement": {"max_episode_steps": 5}}
    answer = made(idle, [row, document], method=method)
    one, other = tasks(idle, answer)
    assert (one["checker"]["type"], other["checker"]["type"]) == ("choice", "file_exists")
    assert recipe(idle, answer)["stages"][0]["max_tool_calling_iterations"] == 5


def test_a_validation_file_is_what_is_measured_by(idle: TestClient) -> None:
    service: Service = idle.app.state.service  # type: ignore[attr-defined]
    answer = made(idle, validation_file=upload(service.files, rows(3, start=50)))
    assert recipe(idle, answer)["tasks"]["eval"]["files"] == ["eval.jsonl"]
    assert len(tasks(idle, answer, "eval.jsonl")) == 3


SPOKEN = {"messages": [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]}
PAIR = {
    "input": {"messages": SPOKEN["messages"][:1], "tools": [], "parallel_tool_calls": True},
    "preferred_output": [{"role": "assistant", "content": "4"}],
    "non_preferred_output": [{"role": "assistant", "content": "5"}],
}


def test_supervised_with_and_without_a_method(idle: TestClient) -> None:
    old = made(idle, [SPOKEN], method=None, hyperparameters={"n_epochs": 2})
    assert recipe(idle, old)["stages"][0] | {"kind": "sft", "epochs": 2.0} == recipe(idle, old)["stages"][0]
    assert old.json()["hyperparameters"]["n_epochs"] == 2
    hyper = {"n_epochs": 2, "batch_size": 1, "learning_rate_multiplier": 2}
    new = made(idle, [SPOKEN], method={"type": "supervised", "supervised": {"hyperparameters": hyper}})
    (stage,) = recipe(idle, new)["stages"]
    assert (stage["rows"], stage["batch_size"], stage["learning_rate"]) == ("rows.jsonl", 1, 2e-3)


def test_dpo(idle: TestClient) -> None:
    answer = made(idle, [PAIR], method={"type": "dpo", "dpo": {"hyperparameters": {"beta": 0.2}}})
    (stage,) = recipe(idle, answer)["stages"]
    assert (stage["kind"], stage["pairs"], stage["beta"], stage["epochs"]) == ("dpo", "rows.jsonl", 0.2, 1.0)


ROW = rows(1)[0]
TASK = {"question": "What is 2+2?", "answer": "It is 4.\n#### 4"}
HYPER = "method.reinforcement.hyperparameters"
REFUSED: list[tuple[Any, dict[str, Any], str, str]] = [
    (None, {"model": "gpt-4o-mini"}, "model", "no model"),
    (None, {"model": "hf:/etc"}, "model", "no model"),
    (None, {"training_file": "file-nothing"}, "training_file", "GET /v1/files"),
    (None, {"unknown": 1}, "unknown", "unknown: unknown field (known here: model,"),
    (None, {"hyperparameter": {}}, "hyperparameter", "did you mean hyperparameters?"),
    (None, {"model": 3}, "model", "model: must be a text, not 3"),
    (None, {"integrations": [{"typ": "wandb"}]}, "integrations.0.typ", "did you mean type?"),
    (None, {"integrations": [3]}, "integrations.0", "must be an object, not 3"),
    (None, {"method": {"type": "reinforcement", "dpo": {}}}, "method.dpo", "reinforcement"),
    (None, {"hyperparameters": {"n_epochs": 1}}, "hyperparameters", "method"),
    (None, {"method": reinforcement(n_epochs=0)}, "method.reinforcement.hyperparameters.n_epochs", ""),
    (None, {"method": reinforcement(n_epochs=1000000, batch_size=1)}, f"{HYPER}.n_epochs", "at most 1000000"),
    (None, {"method": reinforcement(reasoning_effort="high")}, "reasoning_effort", "effort"),
    (
        None,
        {"method": reinforcement() | {"reinforcement": {"grader": LIKE, "tools": [{"name": "x"}]}}},
        "tools",
        "network",
    ),
    (
        None,
        {"method": reinforcement() | {"reinforcement": {"grader": LIKE, "response_format": {"type": "json_object"}}}},
        "method.reinforcement.response_format",
        "json_schema",
    ),
    (None, {"method": reinforcement({"type": "score_model"})}, "method.reinforcement.grader.type", "no verifier"),
    (None, {"method": reinforcement(LIKE | {"operation": "is"})}, "method.reinforcement.grader.operation", "ilike"),
    (
        None,
        {"method": reinforcement(LIKE | {"reference": "{{ item.no }}"})},
        "method.reinforcement.grader.reference",
        "",
    ),
    (None, {"method": reinforcement({"type": "lydite", "verifier": "math@1"})}, "verifier", "at version"),
    (None, {"method": reinforcement({"type": "lydite", "verifier": "/tmp/x.py:f"})}, "verifier", "cannot be named"),
    (None, {"method": {"type": "reinforcement"}}, "training_file", "line 1: checker"),
    (None, {"integrations": [{"type": "wandb", "wandb": {"project": "p"}}]}, "integrations.0.type", "not installed"),
    (None, {"integrations": [{"type": "mlflow"}]}, "integrations.0.type", "only wandb"),
    (None, {"metadata": {"k": "v" * 513}}, "metadata.k", "512"),
    (None, {"x_rlvr": {"policy": "builtin:tiny"}}, "x_rlvr.policy", "model"),
    (None, {"x_rlvr": {"tasks": {"train": "x.jsonl"}}}, "x_rlvr.tasks.train", "training_file"),
    (None, {"x_rlvr": {"tasks": {"eval": "/etc/x.jsonl"}}}, "tasks.eval.files", "own"),
    (None, {"x_rlvr": {"evaluation": {"n": 2}}}, "tasks.eval", "held-out"),
    (None, {"x_rlvr": {"num_generation": 2}}, "x_rlvr.num_generation", "did you mean num_generations"),
    (
        None,
        {"method": reinforcement({"type": "string_chek"})},
        "method.reinforcement.grader.type",
        "did you mean string_check?",
    ),
    (None, {"method": reinforcement({"type": "own"})}, "method.reinforcement.grader.type", "multi, lydite"),
    (
        None,
        {"method": reinforcement(LIKE | {"referense": "4"})},
        "method.reinforcement.grader.referense",
        "did you mean reference?",
    ),
    (None, {"x_rlvr": {"lorra": {}}}, "x_rlvr.lorra", "did you mean lora?"),
    (None, {"x_rlvr": {"lora": {"r": "big"}}}, "x_rlvr.lora.r", "must be a whole number, not 'big'"),
    (None, {"x_rlvr": {"lora": {"rank": 4}}}, "x_rlvr.lora.rank", "known here: r, alpha"),
    (
        None,
        {"x_rlvr": {"lora": {"target_modules": 1}}},
        "x_rlvr.lora.target_modules",
        "must be a text or a list, not 1",
    ),
    (None, {"x_rlvr": {"loss": "ppo"}}, "x_rlvr.loss", "'grpo', 'dr_grpo'"),
    (None, {"x_rlvr": {"verifier_config": {"answer": "2"}}}, "x_rlvr.verifier_config", "not given"),
    (
        None,
        {"method": reinforcement({"type": "lydite", "config": {"answer": "2"}})},
        "method.reinforcement.grader.config",
        "none is named",
    ),
    (
        None,
        {"method": reinforcement({"type": "string_check", "input": "{{ sample.output_text }}", "operation": "eq"})},
        "method.reinforcement.grader.reference",
        "method.reinforcement.grader.reference: is missing",
    ),
    (
        None,
        {"method": reinforcement({"type": "python", "source": "def grade(sample, item)\n  return 1"})},
        "method.reinforcement.grader.source",
        "is no Python: expected ':' in its line 1 (mend it) (found with row 1 of training_file)",
    ),
    (None, {"x_rlvr": {"stages": [{"kind": "sft", "rows": "/etc/passwd", "steps": 1}]}}, "stages.0.rows", "own"),
    (None, {"x_rlvr": {"pip_packages": ["git+https://x"]}}, "x_rlvr.pip_packages", "no package name"),
    (None, {"x_rlvr": {"trl": {"output_dir": "/tmp"}}}, "x_rlvr.trl.output_dir", "cannot be set"),
    (None, {"x_rlvr": {"report_to": 1}}, "report_to", "list"),
    (b'{"messages": 1}\n', {}, "training_file", "line 1: messages"),
    (jsonl([ROW]) + b"\n{,}\n", {}, "training_file", "line 3: not JSON"),
    (jsonl([ROW]) + b"\xff\n", {}, "training_file", "line 2: not JSON"),
    ([SPOKEN], {}, "training_file", "line 1: messages: ends with the role assistant"),
    ([ROW, {"prompt": "?", "checker": {"type": "math"}}], {}, "training_file", "line 2: checker.config.answer"),
    ([{"prompt": "?", "checker": {"type": "/tmp/x.py:f"}}], {}, "training_file", "line 1: checker.type"),
    (b"\n\n", {}, "training_file", "no rows"),
    (
        [{"prompt": "2+2?", "answer": "4"}],
        {},
        "training_file",
        'line 1: messages: is missing (a row is {"messages": [{',
    ),
    ([{"question": "2+2?", "answer": "4"}], {}, "training_file", "line 1: messages: is missing"),
    (b'[\n  {"messages": []}\n]\n', {}, "training_file", "one JSON object on each line"),
    ([TASK], {}, "method.reinforcement.grader", "would judge no row of training_file"),
    ([TASK], {"x_rlvr": {"verifier": "math"}, "method": {"type": "reinforcement"}}, "x_rlvr.verifier", "no row"),
    ([ROW], {"method": None}, "training_file", "line 1: answer: is not learned from"),
    ([ROW, ROW], {}, "training_file", "line 2: the same task stands on line 1"),
    ([PAIR | {"input": []}], {"method": {"type": "dpo"}}, "training_file", "line 1: input"),
    ([PAIR | {"preferred_output": []}], {"method": {"type": "dpo"}}, "training_file", "line 1: preferred_output"),
]


@pytest.mark.parametrize(("values", "body", "param", "why"), REFUSED)
def test_what_is_refused_and_why(idle: TestClient, values: Any, body: dict[str, Any], param: str, why: str) -> None:
    before = idle.get("/v1/fine_tuning/jobs").json()["data"]
    answer = made(idle, values, **body)
    error = answer.json()["error"]
    assert answer.status_code in (400, 404), error
    assert error["type"] == "invalid_request_error"
    assert param in str(error["param"])
    assert why in error["message"]
    service: Service = idle.app.state.service  # type: ignore[attr-defined]
    assert str(service.home.path) not in error["message"]
    assert idle.get("/v1/fine_tuning/jobs").json()["data"] == before


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("n_epochs", "two", "must be 'auto' or a whole number from 1 to 1000000, not 'two'"),
        ("n_epochs", 1.5, "must be 'auto' or a whole number from 1 to 1000000, not 1.5"),
        ("batch_size", -1, "must be 'auto' or a whole number from 1 to 4096, not -1"),
        ("batch_size", True, "must be 'auto' or a whole number from 1 to 4096, not True"),
        ("learning_rate_multiplier", 1e9, "must be 'auto' or a number above 0, at most 1e+06, not 1000000000.0"),
        ("compute_multiplier", 0, "must be 'auto' or a number above 0, at most 512, not 0"),
        ("eval_samples", [1], "must be 'auto' or a whole number from 1 to 100000, not [1]"),
        ("n_epoch", 2, "unknown field (did you mean n_epochs?)"),
        ("reasoning_effort", "most", "must be 'default', 'low', 'medium' or 'high', not 'most'"),
    ],
)
def test_a_hyperparameter_is_refused_with_its_name_and_range(idle: TestClient, name: str, value: Any, why: str) -> None:
    error = made(idle, method=reinforcement(**{name: value})).json()["error"]
    assert error["param"] == f"{HYPER}.{name}"
    assert error["message"] == f"{HYPER}.{name}: {why}"


def test_a_limit_of_the_recipe_is_told_with_the_name_that_was_written(idle: TestClient) -> None:
    hyper = {"hyperparameters": {"n_epochs": 10_001}}
    error = made(idle, [SPOKEN], method={"type": "supervised", "supervised": hyper}).json()["error"]
    assert error["param"] == "method.supervised.hyperparameters.n_epochs"
    error = made(idle, [SPOKEN], method=None, x_rlvr={"max_grad_norm": -1}).json()["error"]
    assert error["message"] == "x_rlvr.max_grad_norm: must be at least 0, not -1"


def test_tasks_among_the_rows_are_told_to_be_judged_by_their_own_checkers(idle: TestClient) -> None:
    job = made(idle, [TASK, ROW]).json()["id"]
    (note,) = idle.get(f"/v1/rlvr/jobs/{job}").json()["notes"]
    assert note.startswith("1 of 2 rows of training_file are tasks with a checker of their own")
    events = idle.get(f"/v1/fine_tuning/jobs/{job}/events").json()["data"]
    assert ("warn", note) in {(event["level"], event["message"]) for event in events}


def test_thresholds_of_detectors_stand_in_a_rows_metadata(idle: TestClient) -> None:
    flags = {"no_visible_work": {"min_words": 3}}
    row = ROW | {"metadata": {"flags": flags, "source": "x"}}
    for grader in (LIKE, TRICK):
        (one,) = tasks(idle, made(idle, [row], method=reinforcement(grader)))
        assert one["metadata"]["flags"] == flags
    wrong = ROW | {"metadata": {"flags": {"no_visible_work": 3}}}
    assert "metadata.flags.no_visible_work" in made(idle, [wrong]).json()["error"]["message"]


@pytest.mark.parametrize(("suffix", "name"), [("sums", "sums"), ("my model/2", "my-model-2"), ("..", "job")])
def test_a_run_is_called_as_the_job_is(idle: TestClient, suffix: str, name: str) -> None:
    assert recipe(idle, made(idle, suffix=suffix))["name"] == name


def test_what_of_openai_is_not_served_is_told(idle: TestClient) -> None:
    error = idle.post("/v1/responses", json={}).json()["error"]
    assert "POST /v1/chat/completions" in error["message"]
    error = idle.post("/v1/chat/completions", json={"model": "no", "messages": ROW["messages"]}).json()["error"]
    assert (error["param"], "GET /v1/models" in error["message"]) == ("model", True)


@pytest.mark.parametrize(
    "where",
    [
        {"metadata": {"k": "\ud800"}},
        {"suffix": "\ud800"},
        {"x_rlvr": {"lora": {"target_modules": "\ud800"}}},
        {"x_rlvr": {"\ud800": 1}},
        {"method": reinforcement(LIKE | {"name": "\ud800\x00"})},
        {"method": reinforcement(LIKE | {"reference": "\ud800"})},
        {"model": "\ud800\x00"},
        {"training_file": "\ud800"},
        {"x_rlvr": {"verifier": "\ud800"}},
        {"x_rlvr": {"trl": {"optim": "\x00"}}},
    ],
)
def test_texts_that_are_none(idle: TestClient, where: dict[str, Any]) -> None:
    service: Service = idle.app.state.service  # type: ignore[attr-defined]
    body = {"model": "builtin:tiny", "training_file": upload(service.files, rows(1)), "method": reinforcement()} | where
    answer = idle.post("/v1/fine_tuning/jobs", content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert answer.status_code in (200, 400), answer.text
    for path in ("/v1/fine_tuning/jobs", "/v1/rlvr/jobs"):
        assert idle.get(path).status_code == 200


def test_rows_with_odd_characters(idle: TestClient) -> None:
    for text in ("\\ud800", "\\u0000", "\u202e"):
        data = f'{{"messages": [{{"role": "user", "content": "a{text}"}}], "answer": "b{text}"}}\n'.encode()
        answer = made(idle, data, method=reinforcement(TRICK))
        assert answer.status_code in (200, 400), answer.text


def test_states_and_unknown_jobs(idle: TestClient) -> None:
    job = made(idle).json()["id"]
    base = f"/v1/fine_tuning/jobs/{job}"
    assert idle.post(f"{base}/resume").json()["error"]["code"] == "invalid_state"
    assert idle.post(f"{base}/pause").json()["status"] == "paused"
    assert idle.post(f"{base}/resume").json()["status"] == "queued"
    assert idle.post(f"{base}/cancel").json()["status"] == "cancelled"
    assert idle.post(f"{base}/cancel").status_code == 400
    assert idle.get(f"{base}/checkpoints").json() == {
        "object": "list",
        "data": [],
        "has_more": False,
        "first_id": None,
        "last_id": None,
    }
    for path in ("", "/events", "/checkpoints"):
        assert idle.get(f"/v1/fine_tuning/jobs/ftjob-0{path}").status_code == 404
        assert idle.get(f"/v1/fine_tuning/jobs/..%2f..%2fx{path}").status_code == 404
    for path in ("", "/log", "/metrics", "/stream", "/adapter"):
        assert idle.get(f"/v1/rlvr/jobs/ftjob-0{path}").status_code == 404
    assert idle.get(f"/v1/rlvr/jobs/{job}/adapter").json()["error"]["code"] == "nothing_trained"
    assert idle.get("/v1/rlvr/checkpoints/run:x~..~y/adapter").status_code == 404
    assert idle.get("/v1/rlvr/checkpoints/builtin:tiny/adapter").status_code == 400
    assert idle.get(f"/v1/rlvr/jobs/{job}/metrics?keys=reward").json()["columns"] == {"reward": []}
    assert idle.get(f"{base}/events?after=x").status_code == 400
    assert idle.get("/v1/fine_tuning/jobs?metadata=x").status_code == 400
    assert idle.get("/v1/fine_tuning/jobs?metadata=null").json()["data"][0]["id"] == job

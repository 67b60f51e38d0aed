"""The platform document's own shapes: its examples as printed, jobs over manifests, settings moved or refused."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from fastapi.testclient import TestClient
from server_making import trained

from lydite.server.app import create_app
from lydite.server.models.models import Model
from lydite.server.platform.plans import missing_tools
from lydite.server.service import Service
from lydite.server.settings import Settings
from lydite.tasksets.documents import parse_task

TASK = """
    {"prompt": "Create a Python file named add.py that prints the sum of 2 and 3", "env": "tfcode", "max_steps": 8,
     "setup_files": {"README.md": "…"}, "setup_commands": ["…"],
     "checker": {"type": "exit_code", "config": {"command": "python3 add.py | grep -q 5", "expected_code": 0}}}"""
CREATE = """
    {"workspaceid": "…", "data": [{"autoParse": true, "rawTrainingData": {"task_spec": %s}, "type": "rlTask",
      "userid": "…", "title": "Greeting task", "topics": [], "status": "published", "scope": "training"}]}"""
START = """
    {"config": {"rl": {"enabled": true, "numGenerations": 8, "maxCompletionLength": 1024,
                       "maxToolCallingIterations": 16, "lossType": "dapo", "scaleRewards": "batch",
                       "entropyCoef": 0.05, "generationEngine": "auto"}}}"""
HEADERS = {"x-api-key": "…".encode(), "Content-Type": "application/json"}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that looks after no jobs: what is started waits."""
    made = Service(Settings(home=tmp_path_factory.mktemp("platform")))
    yield made
    made.close()


@pytest.fixture(scope="module")
def api(kept: Service) -> TestClient:
    return TestClient(create_app(kept), base_url="http://127.0.0.1:7799")


def file_task(number: int, **more: Any) -> dict[str, Any]:
    command = f"grep -q {number} out{number}.txt"
    task = {"prompt": f"Write {number} into out{number}.txt", "checker": {"type": "exit_code"}, **more}
    return task | {"checker": {"type": "exit_code", "config": {"command": command}}}


def math_task(number: int, **more: Any) -> dict[str, Any]:
    return {
        "prompt": f"What is {number} + 2?",
        "checker": {"type": "math", "config": {"answer": str(number + 2)}},
        **more,
    }


def published(api: TestClient, workspace: str, *tasks: dict[str, Any], **more: Any) -> list[str]:
    data = [{"rawTrainingData": {"task_spec": task}, "type": "rlTask", **more} for task in tasks]
    answer = api.post("/doc/create", json={"workspaceid": workspace, "data": data})
    assert answer.status_code == 200, answer.text
    ids: list[str] = answer.json()["ids"]
    return ids


def made(api: TestClient, workspace: str, model: str = "builtin:tiny-tools", **more: Any) -> dict[str, Any]:
    answer = api.post("/finetuning/create", json={"workspaceid": workspace, "model": model, "name": "n", **more})
    assert answer.status_code == 200, answer.text
    job: dict[str, Any] = answer.json()
    return job


def refused(answer: Any) -> tuple[str, str]:
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert error["type"] == "invalid_request_error"
    return error["param"], error["message"]


def rl(**settings: Any) -> dict[str, Any]:
    return {"training_type": "grpoTraining", "rlvr": True, "config": {"rl": {"enabled": True, **settings}}}


def test_the_examples_work_as_printed(api: TestClient) -> None:
    answer = api.post("/doc/create", headers=HEADERS, content=(CREATE % TASK).encode())
    assert answer.status_code == 200, answer.text
    (id,) = answer.json()["ids"]
    document = api.get(f"/doc/{id}").json()
    assert document["rawTrainingData"]["task_spec"] == json.loads(TASK)
    assert (document["title"], document["status"], document["scope"]) == ("Greeting task", "published", "training")
    job = api.post("/finetuning/create", json={"workspaceid": "…", "model": "builtin:tiny-tools", "name": "…"}).json()
    body = {"training_type": "grpoTraining", "rlvr": True, **json.loads(START)}
    started = api.post(f"/finetuning/start/{job['id']}", headers=HEADERS, content=json.dumps(body))
    assert started.status_code == 200, started.text
    assert started.json()["clamps"] == []
    assert started.json()["config"]["rl"].items() >= json.loads(START)["config"]["rl"].items()
    assert started.json()["config"]["rl"]["env"] == "workspace"
    assert api.get(f"/finetuning/status/{job['id']}").json()["status"] == "queued"


def test_documents_are_listed_changed_and_deleted(api: TestClient) -> None:
    a, b = published(api, "lists", math_task(1), math_task(2), topics=["sums"])
    listed = api.get("/doc/list", params={"workspaceid": "lists", "topics": "sums"}).json()
    assert [one["id"] for one in listed["data"]] == [b, a]
    assert api.post(f"/doc/update/{a}", json={"status": "archived"}).json()["status"] == "archived"
    assert [one["id"] for one in api.get("/doc/list?workspaceid=lists&status=published").json()["data"]] == [b]
    assert api.delete(f"/doc/{b}").json() == {"id": b, "deleted": True}
    assert api.get(f"/doc/{b}").status_code == 404
    page = api.get("/doc/list?workspaceid=lists&limit=1").json()
    assert (page["has_more"], page["next"], len(page["data"])) == (False, None, 1)


@pytest.mark.parametrize(
    ("entry", "param"),
    [
        (5, "data[1]"),
        ({"rawTrainingData": {}}, "data[1].rawTrainingData.task_spec"),
        ({"rawTrainingData": {"text": "x"}}, "data[1].rawTrainingData.text"),
        ({"title": "x"}, "data[1].rawTrainingData.task_spec"),
        ({"rawTrainingData": {"task_spec": {"prompt": "x"}}}, "data[1].rawTrainingData.task_spec.checker"),
        (
            {"rawTrainingData": {"task_spec": {**math_task(1), "max_steps": 65}}},
            "data[1].rawTrainingData.task_spec.max_steps",
        ),
        (
            {"rawTrainingData": {"task_spec": {**file_task(1), "setup_files": {"../x": "y"}}}},
            "data[1].rawTrainingData.task_spec.setup_files.../x",
        ),
        ({"rawTrainingData": {"task_spec": math_task(1)}, "autoParse": False}, "data[1].autoParse"),
        ({"rawTrainingData": {"task_spec": math_task(1)}, "type": "note"}, "data[1].type"),
        ({"rawTrainingData": {"task_spec": math_task(1)}, "status": "secret"}, "data[1].status"),
        ({"rawTrainingData": {"task_spec": math_task(1)}, "userid": 5}, "data[1].userid"),
    ],
)
def test_a_bad_document_is_refused_by_its_place_and_field(api: TestClient, entry: Any, param: str) -> None:
    good = {"rawTrainingData": {"task_spec": math_task(1)}}
    answer = api.post("/doc/create", json={"workspaceid": "refusing", "data": [good, entry]})
    assert refused(answer)[0] == param
    assert api.get("/doc/list?workspaceid=refusing").json()["data"] == []


def test_what_lint_only_warns_of_is_told_and_kept(api: TestClient) -> None:
    told = {"prompt": "The answer is 3. What is 1 + 2?", "checker": {"type": "math", "config": {"answer": "3"}}}
    answer = api.post("/doc/create", json={"workspaceid": "warned", "data": [{"rawTrainingData": {"task_spec": told}}]})
    (warning,) = answer.json()["warnings"]
    assert (warning["rule"], warning["field"]) == ("gold_in_prompt", "data[0].rawTrainingData.task_spec.prompt")
    assert len(answer.json()["ids"]) == 1


def test_a_job_is_of_the_published_documents_that_have_any_of_the_topics(api: TestClient, kept: Service) -> None:
    a = published(api, "topical", math_task(1), topics=["x"])
    published(api, "topical", math_task(2), topics=["y"])
    published(api, "topical", math_task(3), topics=["x"], status="draft")
    b = published(api, "topical", math_task(4), topics=["z", "x"])
    job = made(api, "topical", "builtin:tiny", topics=["x", "q"])
    assert (job["tasks"], job["status"], job["topics"]) == (2, "created", ["x", "q"])
    lines = (kept.home.private / "finetuning" / job["id"] / "tasks.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == [*a, *b]


def test_later_changes_of_documents_do_not_change_a_job(api: TestClient, kept: Service) -> None:
    a, b = published(api, "frozen", math_task(1), math_task(2))
    job = made(api, "frozen", "builtin:tiny")
    api.post(f"/doc/update/{a}", json={"rawTrainingData": {"task_spec": math_task(9)}})
    api.delete(f"/doc/{b}")
    started = api.post(f"/finetuning/start/{job['id']}", json=rl()).json()
    assert started["digest"] == job["digest"] != made(api, "frozen", "builtin:tiny")["digest"]
    files = kept.home.private / "jobs" / started["job"] / "tasks.jsonl"
    assert [json.loads(line)["prompt"] for line in files.read_text().splitlines()] == [
        "What is 1 + 2?",
        "What is 2 + 2?",
    ]


def test_tasks_that_were_changed_on_disk_are_not_trained_on(api: TestClient, kept: Service) -> None:
    published(api, "tampered", math_task(1))
    job = made(api, "tampered", "builtin:tiny")
    path = kept.home.private / "finetuning" / job["id"] / "tasks.jsonl"
    path.write_bytes(path.read_bytes().replace(b"3", b"4"))
    assert "changed on disk" in refused(api.post(f"/finetuning/start/{job['id']}", json=rl()))[1]


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"workspaceid": "empty"}, "workspaceid"),
        ({"workspaceid": ""}, "workspaceid"),
        ({"topics": ["nobody has it"]}, "workspaceid"),
        ({"topics": "x"}, "topics"),
        ({"model": "Qwen/none"}, "model"),
        ({"model": None}, "model"),
        ({"name": "x" * 201}, "name"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_job_that_cannot_be_made_is_refused_by_field(api: TestClient, change: dict[str, Any], param: str) -> None:
    published(api, "unmade", math_task(1))
    body = {"workspaceid": "unmade", "model": "builtin:tiny", "name": "n", **change}
    assert refused(api.post("/finetuning/create", json=body))[0] == param


def test_two_documents_with_one_task_id_are_named(api: TestClient) -> None:
    ids = published(api, "twice", math_task(1, id="same"), math_task(2, id="same"))
    message = refused(api.post("/finetuning/create", json={"workspaceid": "twice", "model": "builtin:tiny"}))[1]
    assert all(id in message for id in ids)


@pytest.fixture(scope="module")
def waiting(api: TestClient) -> str:
    """A job that is made and, as every start is refused, never started."""
    published(api, "waiting", file_task(1), file_task(2))
    id: str = made(api, "waiting")["id"]
    return id


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ([], None),
        ({}, "training_type"),
        ({"training_type": "ppoTraining"}, "training_type"),
        ({"training_type": "grpoTraining", "config": {"rl": {"enabled": True}}}, "rlvr"),
        ({"training_type": "grpoTraining", "rlvr": False}, "rlvr"),
        ({"training_type": "grpoTraining", "rlvr": "yes"}, "rlvr"),
        ({"training_type": "sftTraining", "rlvr": True}, "rlvr"),
        ({"training_type": "grpoTraining", "rlvr": True}, "config.rl.enabled"),
        ({**rl(), "seed": 1}, "seed"),
        ({**rl(), "config": {"rl": {"enabled": False}}}, "config.rl.enabled"),
        ({**rl(), "config": {"rl": {"enabled": True}, "lora": {}}}, "config.lora"),
        (rl(num_generations=8), "config.rl.num_generations"),
        (rl(numGenerations="8"), "config.rl.numGenerations"),
        (rl(numGenerations=True), "config.rl.numGenerations"),
        (rl(numGenerations=10**400), "config.rl.numGenerations"),
        (rl(learningRate=-(10**400)), "config.rl.learningRate"),
        (rl(lossType="ppo"), "config.rl.lossType"),
        (rl(scaleRewards="std"), "config.rl.scaleRewards"),
        (rl(generationEngine="sglang"), "config.rl.generationEngine"),
        (rl(env="none"), "config.rl.env"),
        (rl(env="../x.py:E"), "config.rl.env"),
        ({**rl(), "config": {"rl": {"enabled": True}, "batchSize": 0}}, "config.batchSize"),
        ({**rl(), "config": {"rl": {"enabled": True}, "batchSize": 17}}, "config.batchSize"),
        (
            {**rl(), "config": {"rl": {"enabled": True}, "gradientAccumulationSteps": 2}},
            "config.gradientAccumulationSteps",
        ),
        ({"training_type": "sftTraining"}, "training_type"),
        ({"training_type": "dpoTraining"}, "training_type"),
    ],
)
def test_a_start_that_cannot_be_is_refused_by_field(
    api: TestClient, waiting: str, body: Any, param: str | None
) -> None:
    assert refused(api.post(f"/finetuning/start/{waiting}", json=body))[0] == param
    assert api.get(f"/finetuning/status/{waiting}").json()["status"] == "created"


@pytest.mark.parametrize(
    "entry",
    [
        "git+https://example.org/x.git",
        "https://example.org/x.whl",
        "x @ https://example.org/x.whl",
        "file:///etc/passwd",
        "./local",
        "../up",
        "/etc/passwd",
        "~/x",
        "-r requirements.txt",
        "--index-url=https://example.org",
        "-e .",
        "x; python_version > '3'",
        "x[extra]",
        "x\n--pre",
        "x y",
        "",
        "$(id)",
        "lydite",
        "Lydite==0.1",
        5,
        None,
        ["numpy"],
        {"name": "numpy"},
    ],
)
def test_a_package_that_is_no_name_is_refused_by_entry(api: TestClient, waiting: str, entry: Any) -> None:
    answer = api.post(f"/finetuning/start/{waiting}", json=rl(pipPackages=["numpy>=1,<3", "six", entry]))
    assert refused(answer)[0] == "config.rl.pipPackages[2]"


def test_too_many_packages_are_refused(api: TestClient, waiting: str) -> None:
    answer = api.post(f"/finetuning/start/{waiting}", json=rl(pipPackages=[f"p{number}" for number in range(51)]))
    assert refused(answer)[0] == "config.rl.pipPackages"


def test_values_out_of_range_are_moved_and_told(api: TestClient) -> None:
    published(api, "clamped", math_task(1), math_task(2))
    job = made(api, "clamped", "builtin:tiny")
    settings = {"numGenerations": 2, "maxCompletionLength": 9999, "entropyCoef": 0.9, "beta": 0.1, "maxSteps": 3}
    answer = api.post(f"/finetuning/start/{job['id']}", json=rl(**settings, learningRate=1e-4)).json()
    moved = {clamp["field"]: (clamp["asked"], clamp["used"]) for clamp in answer["clamps"]}
    assert moved == {
        "config.rl.numGenerations": (2, 4),
        "config.rl.maxCompletionLength": (9999, 4096),
        "config.rl.entropyCoef": (0.9, 0.5),
        "config.rl.beta": (0.1, 0.0),
    }
    used = answer["config"]["rl"]
    assert (used["numGenerations"], used["maxCompletionLength"], used["maxSteps"]) == (4, 4096, 3)
    assert used["learningRate"] == 1e-4  # the cap is for models, not for the small built-in ones
    status = api.get(f"/finetuning/status/{job['id']}").json()
    assert any("numGenerations: 2 became 4" in warning for warning in status["warnings"])
    assert status["clamps"] == answer["clamps"]


def test_a_number_without_end_is_moved_like_any_other(api: TestClient) -> None:
    published(api, "endless", math_task(1))
    job = made(api, "endless", "builtin:tiny")["id"]
    body = json.dumps(rl(maxSteps=float("inf"), entropyCoef=float("-inf")))
    answer = api.post(f"/finetuning/start/{job}", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, len(answer.json()["clamps"])) == (200, 2)
    assert answer.json()["config"]["rl"]["maxSteps"] == 1_000_000
    assert api.get(f"/finetuning/status/{job}").status_code == 200


def test_the_group_size_divides_batch_times_accumulation(api: TestClient) -> None:
    published(api, "fitted", math_task(1))
    job = made(api, "fitted", "builtin:tiny")
    body = rl(numGenerations=8)
    body["config"] |= {"batchSize": 6, "gradientAccumulationSteps": 2}
    answer = api.post(f"/finetuning/start/{job['id']}", json=body).json()
    assert answer["config"]["rl"]["numGenerations"] == 6
    assert "12" in answer["clamps"][0]["why"]


def test_tfcode_is_another_name_of_the_workspace(api: TestClient, kept: Service) -> None:
    published(api, "tfcode", file_task(1))
    started = api.post(f"/finetuning/start/{made(api, 'tfcode')['id']}", json=rl(env="tfcode")).json()
    (stage,) = kept.jobs.get(started["job"]).document["recipe"]["stages"]
    assert (stage["kind"], stage["env"]) == ("grpo", "workspace")


def test_a_job_starts_once(api: TestClient) -> None:
    published(api, "once", math_task(1))
    job = made(api, "once", "builtin:tiny")["id"]
    assert api.post(f"/finetuning/start/{job}", json=rl()).status_code == 200
    assert "started already" in refused(api.post(f"/finetuning/start/{job}", json=rl()))[1]


def test_a_start_that_was_not_noted_is_found_again(api: TestClient, kept: Service) -> None:
    published(api, "unnoted", math_task(1))
    job = made(api, "unnoted", "builtin:tiny")["id"]
    started = api.post(f"/finetuning/start/{job}", json=rl()).json()
    (kept.home.private / "finetuning" / job / "started.json").unlink()
    assert api.get(f"/finetuning/status/{job}").json()["job"] == started["job"]
    assert "started already" in refused(api.post(f"/finetuning/start/{job}", json=rl()))[1]


def test_a_job_is_cancelled_before_and_after_its_start(api: TestClient) -> None:
    published(api, "given up", math_task(1))
    first, second = made(api, "given up", "builtin:tiny")["id"], made(api, "given up", "builtin:tiny")["id"]
    assert api.post(f"/finetuning/cancel/{first}").json()["status"] == "cancelled"
    assert "cancelled" in refused(api.post(f"/finetuning/start/{first}", json=rl()))[1]
    api.post(f"/finetuning/start/{second}", json=rl())
    assert api.post(f"/finetuning/cancel/{second}").json()["status"] == "cancelled"
    assert refused(api.get(f"/finetuning/adapter/{first}"))[0] == "id"
    listed = api.get("/finetuning/list", params={"workspaceid": "given up"}).json()["data"]
    assert [one["id"] for one in listed] == [second, first]


@pytest.mark.parametrize("id", ["ft-0", "doc-0", "..", "a/b", "x" * 64])
def test_an_unknown_job_is_not_found(api: TestClient, id: str) -> None:
    assert api.get(f"/finetuning/status/{id}").status_code == 404
    assert api.get(f"/finetuning/adapter/{id}").status_code == 404
    assert api.post(f"/finetuning/cancel/{id}").status_code == 404
    assert api.post(f"/finetuning/start/{id}", json=rl()).status_code == 404


def test_tasks_that_say_so_are_held_out(api: TestClient, kept: Service) -> None:
    published(api, "sides", math_task(1), math_task(2, split="eval"))
    started = api.post(f"/finetuning/start/{made(api, 'sides', 'builtin:tiny')['id']}", json=rl()).json()
    folder = kept.home.private / "jobs" / started["job"]
    assert [len((folder / name).read_text().splitlines()) for name in ("tasks.jsonl", "eval.jsonl")] == [1, 1]
    assert kept.jobs.get(started["job"]).document["recipe"]["evaluation"]["n"] == 4


def test_a_status_has_the_curves_under_the_platforms_names(api: TestClient, kept: Service) -> None:
    published(api, "curves", file_task(1))
    job = made(api, "curves")["id"]
    started = api.post(f"/finetuning/start/{job}", json=rl()).json()
    run = trained(kept.home.path, started["run"], steps=2)
    last = {"kind": "grpo", "stage": 0, "step": 3, "rewards/workspace/mean": 0.5, "rewards/workspace/std": 0.2}
    with open(run / "metrics.jsonl", "a") as file:
        file.write(json.dumps(last) + "\n")
    kept.index.refresh()
    status = api.get(f"/finetuning/status/{job}").json()
    assert status["steps"] == [1, 2, 3]
    assert status["metrics"]["rewards/TfcodeEnv/mean"] == [None, None, 0.5]
    assert status["latest"]["rewards/TfcodeEnv/std"] == 0.2
    assert len(status["metrics"]["frac_reward_zero_std"]) == len(status["metrics"]["entropy"]) == 3
    assert {"rewards/workspace/mean", "rewards/TfcodeEnv/mean"} <= set(status["known_metrics"])
    named = api.get(f"/finetuning/status/{job}?key=reward&key=nonsense").json()
    assert list(named["metrics"]) == ["reward"]


def test_sft_needs_solutions_and_dpo_answers(api: TestClient) -> None:
    published(api, "solved", math_task(1, solution="1 + 2 = 3"), math_task(2, solution="2 + 2 = 4"))
    published(api, "half", math_task(1, id="with", solution="3"), math_task(2, id="without"))
    message = refused(
        api.post(f"/finetuning/start/{made(api, 'half', 'builtin:tiny')['id']}", json={"training_type": "sftTraining"})
    )[1]
    assert "without" in message
    body = {"training_type": "sftTraining", "config": {"sft": {"epochs": 2}, "batchSize": 2}}
    sft = api.post(f"/finetuning/start/{made(api, 'solved', 'builtin:tiny')['id']}", json=body)
    assert (sft.status_code, sft.json()["config"]["sft"]["epochs"]) == (200, 2.0)
    dpo = api.post(
        f"/finetuning/start/{made(api, 'solved', 'builtin:tiny')['id']}", json={"training_type": "dpoTraining"}
    )
    assert (dpo.status_code, dpo.json()["config"]["dpo"]["beta"]) == (200, 0.1)


def test_models_say_whether_episodes_can_be_trained(api: TestClient) -> None:
    found = {one["id"]: one for one in api.get("/finetuning/models").json()["data"]}
    assert found["builtin:tiny-tools"]["supportsRl"] is True


def test_a_model_without_tools_is_no_use_for_episodes() -> None:
    model = Model(id="models/plain", spec="hf:plain", why="the tokenizer has no chat template")
    tasks = [parse_task(math_task(1)), parse_task(file_task(1, id="episode"))]
    assert missing_tools(tasks[:1], model) is None
    told = missing_tools(tasks, model)
    assert told is not None
    assert "episode" in told
    assert "no chat template" in told
    assert missing_tools(tasks, msgspec.structs.replace(model, supports_rl=True)) is None


@pytest.mark.slow
@pytest.mark.train
def test_a_job_runs_to_its_end(client: TestClient) -> None:
    published(client, "real", file_task(1), file_task(2))
    job = made(client, "real")["id"]
    body = rl(numGenerations=4, maxCompletionLength=256, maxToolCallingIterations=4, maxSteps=2)
    body["config"]["batchSize"] = 8
    assert client.post(f"/finetuning/start/{job}", json=body).status_code == 200
    until = time.monotonic() + 300
    while (status := client.get(f"/finetuning/status/{job}").json())["status"] not in ("succeeded", "failed"):
        assert time.monotonic() < until, status
        time.sleep(0.5)
    assert (status["status"], status["error"], status["progress"]["fraction"]) == ("succeeded", None, 1.0)
    until = time.monotonic() + 30
    while (status := client.get(f"/finetuning/status/{job}").json())["steps"] != [1, 2]:
        assert time.monotonic() < until, status
        time.sleep(0.1)
    for name in (
        "rewards/TfcodeEnv/mean",
        "rewards/TfcodeEnv/std",
        "frac_reward_zero_std",
        "entropy",
        "completions/mean_length",
        "completions/clipped_ratio",
    ):
        assert len(status["metrics"][name]) == 2, name
    one = client.get(f"/finetuning/status/{job}?key=tools/call_frequency").json()
    assert list(one["metrics"]) == ["tools/call_frequency"]
    packed = client.get(f"/finetuning/adapter/{job}")
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        assert {"adapter_config.json", "adapter_model.safetensors"} <= {
            name.split("/")[-1] for name in archive.namelist()
        }

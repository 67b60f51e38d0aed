"""Jobs that train for true, killed, paused and gone on with; servers that are killed under them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import openai
import pytest
from jobs_making import grpo, jsonl, plan, rows, until
from openai.types.fine_tuning import FineTuningJob

from lydite.ledger import verify_run
from lydite.server.jobs import process
from lydite.server.jobs.jobs import Jobs
from lydite.server.jobs.status import Status
from lydite.server.service import Service

pytest.importorskip("trl")
pytestmark = [pytest.mark.train, pytest.mark.slow]

STEPS = 12


@pytest.fixture
def jobs(service: Service) -> Iterator[Jobs]:
    service.jobs.start()
    yield service.jobs
    for row in service.jobs.page(limit=100).items:
        if not row.status.over:
            with contextlib.suppress(Exception):
                service.jobs.cancel(row.id)
    service.jobs.stop()


def steps(home: Path, run: str) -> list[int]:
    path = home / "runs" / run / "metrics.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line)["step"] for line in lines]


def at_step(jobs: Jobs, home: Path, job: str, step: int) -> int:
    """Wait until it has done so many steps; its process."""
    until(jobs, job, lambda row: len(steps(home, row.run)) >= step or row.status.over, 120)
    state = jobs.state(job)
    assert state is not None
    assert not jobs.get(job).status.over, jobs.get(job).error
    return state.pid


def whole(home: Path, run: str) -> None:
    """All steps, no verdict lost or doubled, and weights."""
    assert sorted(set(steps(home, run))) == list(range(1, STEPS + 1))
    assert verify_run(home / "runs" / run).problem is None
    assert (home / "runs" / run / "adapter" / "adapter_model.safetensors").exists()


def test_a_job_that_is_killed_tells_its_last_steps_and_goes_on(jobs: Jobs, home: Path) -> None:
    made = jobs.create(plan(stages=[grpo(steps=STEPS, save_every=2)]))
    os.killpg(at_step(jobs, home, made.id, 5), signal.SIGKILL)
    row = until(jobs, made.id, lambda row: row.status.over)
    assert row.status is Status.FAILED
    assert "killed by signal 9 (SIGKILL)" in str(row.error)
    assert f"Step 4/{STEPS}" in str(row.error)
    assert jobs.checkpoints(made.id).items[0].step >= 4
    jobs.resume(made.id)
    until(jobs, made.id, Status.SUCCEEDED, 120)
    whole(home, made.run)


def test_a_job_that_is_paused_repeats_nothing_when_it_goes_on(jobs: Jobs, home: Path) -> None:
    made = jobs.create(plan(stages=[grpo(steps=STEPS, save_every=100)]))
    at_step(jobs, home, made.id, 3)
    assert jobs.pause(made.id).status is Status.PAUSING
    until(jobs, made.id, Status.PAUSED)
    reached = max(steps(home, made.run))
    assert reached < STEPS
    assert [one.step for one in jobs.checkpoints(made.id).items] == [reached]
    jobs.resume(made.id)
    until(jobs, made.id, Status.SUCCEEDED, 120)
    assert max(Counter(steps(home, made.run)).values()) == 1
    whole(home, made.run)


def test_a_job_that_is_cancelled_in_a_step_is_gone(jobs: Jobs, home: Path) -> None:
    made = jobs.create(plan(stages=[grpo(steps=STEPS)]))
    number = at_step(jobs, home, made.id, 1)
    jobs.cancel(made.id)
    until(jobs, made.id, lambda row: row.status is Status.CANCELLED)
    assert process.began(number) is None


def test_supervised_and_preference_jobs(jobs: Jobs, home: Path) -> None:
    talks = [[*row["messages"], {"role": "assistant", "content": row["boxed"]}] for row in rows(4)]
    pairs = [
        {
            "input": {"messages": row["messages"]},
            "preferred_output": [{"role": "assistant", "content": row["boxed"]}],
            "non_preferred_output": [{"role": "assistant", "content": "no"}],
        }
        for row in rows(4)
    ]
    for kind, values, stage in (
        ("supervised", [{"messages": talk} for talk in talks], {"kind": "sft", "rows": "rows.jsonl"}),
        ("dpo", pairs, {"kind": "dpo", "pairs": "rows.jsonl"}),
    ):
        asked = plan(stages=[{**stage, "steps": 2, "batch_size": 2}])
        asked.files["rows.jsonl"] = jsonl(values)
        made = jobs.create(asked)
        row = until(jobs, made.id, Status.SUCCEEDED, 120)
        assert steps(home, row.run) == [1, 2], kind
        assert jobs.checkpoints(row.id).items[0].model == f"run:{row.run}@0-{stage['kind']}/final"


class Server:
    """``lydite serve`` in a process of its own."""

    def __init__(self, home: Path) -> None:
        command = [sys.executable, "-m", "lydite", "serve", "--home", str(home), "--port", "0", "--json"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout is not None
        url = json.loads(self.process.stdout.readline())["url"]
        self.client = openai.OpenAI(base_url=f"{url}/v1", api_key="none")

    def end(self, number: signal.Signals) -> None:
        self.process.send_signal(number)
        self.process.communicate(timeout=30)


def test_a_server_that_is_killed_leaves_its_job_and_a_new_one_sees_it_through(home: Path) -> None:
    first = Server(home)
    file = first.client.files.create(file=("rows.jsonl", jsonl(rows(STEPS))), purpose="fine-tune")
    grader = {"type": "python", "name": "math", "source": "from rlvr import verifier; grade = verifier('math')"}
    hyper = {"batch_size": 1, "compute_multiplier": 0.5}
    job = first.client.fine_tuning.jobs.create(
        model="builtin:tiny",
        training_file=file.id,
        method={"type": "reinforcement", "reinforcement": {"grader": grader, "hyperparameters": hyper}},  # type: ignore[typeddict-item]
        extra_body={"x_rlvr": {"max_completion_length": 24, "dynamic_sampling": False}},
    )
    wait(lambda: len(steps(home, job.id)) >= 2)
    first.end(signal.SIGKILL)
    reached = len(steps(home, job.id))
    assert reached < STEPS
    wait(lambda: len(steps(home, job.id)) > reached)  # nobody watches
    second = Server(home)
    try:
        assert look(second, job.id).status in ("running", "succeeded")
        wait(lambda: look(second, job.id).status not in ("running", "validating_files"))
        found = look(second, job.id)
        assert found.status == "succeeded", found.error
        assert found.result_files
        events = [event.data for event in second.client.fine_tuning.jobs.list_events(job.id) if event.type == "metrics"]
        assert [data["step"] for data in events][::-1] == list(range(1, STEPS + 1))  # type: ignore[index]
        whole(home, job.id)
    finally:
        second.end(signal.SIGTERM)


def look(server: Server, job: str) -> FineTuningJob:
    return server.client.fine_tuning.jobs.retrieve(job)


def wait(done: object, seconds: float = 120) -> None:
    assert callable(done)
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end
        time.sleep(0.1)

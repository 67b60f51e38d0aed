"""What jobs are made of in tests: rows, plans, and a quick process in place of training where that is not the point."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lydite.server.files import Files
from lydite.server.jobs.jobs import Jobs
from lydite.server.jobs.status import JobRow, Plan, Status
from lydite.server.service import Service

STANDIN = Path(__file__).with_name("job_standin.py")


def rows(count: int = 8, start: int = 11) -> list[dict[str, Any]]:
    """Rows of a reinforcement file that the built-in policy sometimes solves."""
    asked = "Compute {a} + 3. Show your work; end with \\boxed{{answer}}."
    return [
        {
            "messages": [{"role": "user", "content": asked.format(a=number)}],
            "answer": str(number + 3),
            "boxed": f"\\boxed{{{number + 3}}}",
        }
        for number in range(start, start + count)
    ]


def jsonl(values: list[Any]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def upload(files: Files, values: list[Any] | bytes, name: str = "rows.jsonl") -> str:
    data = values if isinstance(values, bytes) else jsonl(values)
    return files.add(io.BytesIO(data), name, "fine-tune", limit=1 << 20).id


def grpo(**changes: Any) -> dict[str, Any]:
    """A stage that takes seconds."""
    stage = {"kind": "grpo", "steps": 3, "num_generations": 4, "prompts_per_step": 2, "max_completion_length": 24}
    return stage | {"learning_rate": 1e-3, "save_every": 1, "dynamic_sampling": False} | changes


def plan(name: str = "", count: int = 4, **changes: Any) -> Plan:
    """A job on the built-in policy; ``changes`` are of the recipe."""
    documents = [
        {"prompt": row["messages"], "checker": {"type": "math", "config": {"answer": row["answer"]}}}
        for row in rows(count)
    ]
    recipe = {
        "tasks": {"train": {"files": ["tasks.jsonl"]}, "eval_fraction": 0.0},
        "lora": {"r": 2, "alpha": 4},
        "evaluation": None,
        "stages": [grpo()],
    }
    return Plan(
        kind="reinforcement",
        model="builtin:tiny",
        model_asked="builtin:tiny",
        recipe=recipe | changes,
        files={"tasks.jsonl": jsonl(documents)},
        name=name,
    )


def standing_in(service: Service, **keeper: Any) -> Jobs:
    """The service's jobs, with a quick process in place of training: what it does is the job's name."""
    service.jobs.keeper.command = (str(STANDIN),)
    for name, value in keeper.items():
        setattr(service.jobs.keeper, name, value)
    return service.jobs


def until(jobs: Jobs, job: str, wanted: Callable[[JobRow], bool] | Status, seconds: float = 60.0) -> JobRow:
    """Wait for a job to be as wanted."""
    end = time.monotonic() + seconds
    while True:
        row = jobs.get(job)
        if row.status is wanted if isinstance(wanted, Status) else wanted(row):
            return row
        over = row.status.over and not callable(wanted)
        assert not over, (row.status, row.error, jobs.log(job))
        assert time.monotonic() < end, (row, jobs.log(job))
        time.sleep(0.02)

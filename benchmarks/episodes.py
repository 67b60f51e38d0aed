"""What an episode costs outside of the model: set-up, four tool calls, freezing, the check of what was left.

    python benchmarks/episodes.py [-n 60] [--rounds 5] [--json]

The policy answers at once, from a script. ``episode``: one after another, median milliseconds of each part and of the
whole (goal: at most 60 ms). ``rollouts``: 64 attempts of four calls, sampled, verified and written to a run folder by
the engine, best and median of the rounds (goal: at most 3 s on 2 cores), and the processor time of all processes that
took part, the sandbox's start included: on a busy machine only that is comparable. Beside the episodes, interleaved,
what a bare ``python -c pass`` takes on this machine at this moment: about 10 ms where nothing else runs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from lydite.environments.workspace import WorkspaceEnvironment
from lydite.ledger import RunFolder
from lydite.policies.protocol import Attempt, Prompt, SamplingParams
from lydite.policies.scripted import ScriptedPolicy
from lydite.rollout import Message, Rollout, ToolCall
from lydite.sampling import Judge, sample
from lydite.task import Task
from lydite.tasksets import parse_task

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("list_dir", {}),
    ("read_file", {"path": "numbers.txt"}),
    ("run_command", {"command": "sort -n numbers.txt | tail -n 1 > largest.txt; cat largest.txt"}),
    ("write_file", {"path": "note.txt", "content": "42 is the largest.\n"}),
)
CHECK = 'test "$(cat largest.txt)" = 42 && grep -q 42 note.txt'


def task(number: int) -> Task:
    """A task with a file, a command to set it up, and a command that checks it."""
    return parse_task(
        {
            "id": f"t{number}",
            "prompt": f"Write the largest of the numbers to largest.txt, and say so in note.txt. ({number})",
            "env": "workspace",
            "setup_files": {"numbers.txt": "7\n42\n9\n"},
            "setup_commands": ["mkdir -p notes"],
            "checker": {"type": "exit_code", "config": {"command": CHECK}},
        }
    )


def bare() -> float:
    """Seconds of an interpreter that does nothing."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-I", "-c", "pass"], check=True)
    return time.perf_counter() - start


def episodes(count: int) -> dict[str, list[float]]:
    """Seconds of each part, of ``count`` episodes after a few that warm up. Every episode is a new attempt at one of
    four tasks, as in a group: the set-up commands run once a task."""
    environment, judge = WorkspaceEnvironment(), Judge()
    tasks = [task(number) for number in range(4)]
    parts: dict[str, list[float]] = {name: [] for name in ("start", "calls", "freeze", "check", "close", "all", "bare")}
    try:
        for number in range(-8, count):
            one = tasks[number % 4]
            moments = [time.perf_counter()]
            episode = environment.start(one)
            moments.append(time.perf_counter())
            for name, arguments in CALLS:
                assert not episode.call(name, arguments).failed
            moments.append(time.perf_counter())
            state = episode.freeze()
            moments.append(time.perf_counter())
            graded = judge.judge(Rollout(id="x", task=one.id, task_digest=one.digest), one, state)
            moments.append(time.perf_counter())
            episode.close()
            moments.append(time.perf_counter())
            assert graded.verdict.correct, graded.verdict
            if number < 0:
                continue
            for name, first, second in zip(parts, moments, moments[1:], strict=False):
                parts[name].append(second - first)
            parts["all"].append(moments[-1] - moments[0])
            parts["bare"].append(bare())
    finally:
        environment.close()
    return parts


def rollouts(folder: Path, seed: int) -> float:
    """Seconds for 64 attempts of four calls: 8 tasks, groups of 8; the sandbox's start included."""

    def answer(prompt: Prompt, seed: int, index: int) -> Attempt:
        turn = sum(message.role == "assistant" for message in prompt)
        if turn == len(CALLS):
            return Attempt(completion=(Message(role="assistant", content="Done."),), completion_tokens=4)
        name, arguments = CALLS[turn]
        message = Message(role="assistant", tool_calls=(ToolCall(name=name, arguments=arguments),))
        return Attempt(completion=(message,), completion_tokens=20)

    tasks = [task(number) for number in range(8)]
    policy = ScriptedPolicy(answer, batch=4)
    start = time.perf_counter()
    with RunFolder.create(folder, kind="sample", settings={}, tasks=tasks) as run:
        params = SamplingParams(max_tokens=1024)
        totals = asyncio.run(
            sample(tasks, policy, run, phase="sample", n=8, params=params, seed=seed, judge=Judge(), concurrency=2)
        )
        run.finish()
    seconds = time.perf_counter() - start
    assert totals.correct == 64, totals
    return seconds


def apart(folder: Path, seed: int) -> tuple[float, float]:
    """``rollouts`` in a process of its own: seconds, and seconds of processor time of all that was below it."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        seconds = rollouts(folder, seed)
        os.write(writing, repr(seconds).encode())
        sys.exit()  # closes what checks share
    os.close(writing)
    with open(reading) as file:
        seconds = float(file.read())
    _, status, used = os.wait4(pid, 0)
    assert status == 0
    return seconds, used.ru_utime + used.ru_stime


def main() -> None:
    """Print the table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=60, help="episodes of one round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:  # first, before this process has threads and a sandbox
        batches = [apart(Path(name) / str(number), number) for number in range(options.rounds)]
    parts = [episodes(options.n) for _ in range(options.rounds)]
    medians = [{name: statistics.median(values) * 1e3 for name, values in one.items()} for one in parts]
    quiet = min(medians, key=lambda one: one["bare"])
    middle = {name: statistics.median(one[name] for one in medians) for name in medians[0]}
    result = {
        "episode_ms": {name: round(value, 2) for name, value in middle.items()},
        "quietest_round_ms": {name: round(value, 2) for name, value in quiet.items()},
        "ratio_to_bare": round(statistics.median(one["all"] / one["bare"] for one in medians), 2),
        "rollouts_64_s": {
            "median": round(statistics.median(wall for wall, _ in batches), 2),
            "best": round(min(wall for wall, _ in batches), 2),
            "processor": round(statistics.median(cpu for _, cpu in batches), 2),
        },
        "load": [round(value, 1) for value in os.getloadavg()],
    }
    if options.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name:18} {value}")


if __name__ == "__main__":
    main()

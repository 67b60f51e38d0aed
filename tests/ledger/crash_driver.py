"""Kills a process at each of its writes, and looks at what is left: a program, run by test_crash_matrix.py.

    python crash_driver.py SCENARIO HOW FOLDER [STRIDE]

For each n a child is forked that works on a run folder and kills itself (SIGKILL) before its n-th write, sync, rename
or other change of the disk (``before``: this is also after the one before), or in its n-th write, when half of the
bytes are out (``torn``). What the child says is done goes through a pipe as it is said. Then the folder is looked at.
Another child goes on with it and is killed too, at some later place (with STRIDE: at each STRIDE-th; without it, for
every third n); the third works to the end. Prints a line for each fault, and at the end the number of boundaries.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from rescoring_making import MATH, attempt, judged_run

from lydite.errors import InputError
from lydite.ledger import RunFolder, verify_run, writing
from lydite.ledger.changes import Swap, by_swaps
from lydite.ledger.replay import Match, replay
from lydite.sampling import Judge, rescore, rescoring, settle
from lydite.sandbox import Snapshot
from lydite.tasksets import parse_task

CALLS = ("write", "fsync", "replace", "rename", "ftruncate", "mkdir", "unlink")
SWAP = Swap(None, "math", {"extraction": "strict"})
FILES = parse_task({"id": "f", "prompt": "x", "checker": {"type": "file_exists", "config": {"paths": ["a"]}}})
TASKS = (*MATH[:2], FILES)

Say = Callable[[str], None]


class Killer:
    """Counts the calls that change the disk, and kills this process at one of them. Not the writes to the pipe."""

    def __init__(self, at: int, how: str, pipe: int) -> None:
        self.count, self.at, self.how, self.pipe = 0, at, how, pipe
        self.real = {name: getattr(os, name) for name in CALLS}
        for name in CALLS:
            setattr(os, name, partial(self.called, name))

    def called(self, name: str, *rest: Any, **options: Any) -> Any:
        real = self.real[name]
        if (name == "write" and rest[0] == self.pipe) or (name != "write" and self.how == "torn"):
            return real(*rest, **options)
        self.count += 1
        if self.count != self.at:
            return real(*rest, **options)
        if self.how == "torn":
            real(rest[0], bytes(rest[1])[: len(rest[1]) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


def killed(work: Callable[[Path, Say], None], path: Path, at: int, how: str) -> tuple[list[str], bool]:
    """Work in a child that dies at its n-th change (0: never): what it said was done, and whether it died."""
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        code = 1
        try:
            os.close(reader)
            Killer(at, how, writer)
            writing.NOTE_SECONDS = 0.0  # run.json is written with every commit: more boundaries
            work(path, lambda name: void(os.write(writer, f"{name}\n".encode())))
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    with open(reader) as file:
        said = file.read().split()
    _, status = os.waitpid(child, 0)
    died = os.WIFSIGNALED(status)
    if not died and os.waitstatus_to_exitcode(status) != 0:
        said.append("FAILED")
    return said, died


def void(_: object) -> None:
    pass


def sample(path: Path, say: Say) -> None:
    """Two attempts at each task, a commit each; those at the last leave a state behind."""
    judge = Judge()
    with RunFolder.create(path, kind="sample", settings={"n": 2}, tasks=TASKS) as run:
        settle(run, judge)
        done = run.done("sample")
        for task in TASKS:
            for index in (0, 1):
                rollout, state = attempt_at(task, index)
                if rollout.id not in done:
                    if state is not None:
                        run.keep(state)
                    run.append([judge.judge(rollout, task, state)])
                    say(rollout.id)
        run.finish()
        say("end")


def attempt_at(task: Any, index: int) -> Any:
    import msgspec

    if task is not FILES:
        return attempt(task, index), None
    state = Snapshot.from_files({"ab"[index]: b"content"})
    rollout = attempt(MATH[0], index)
    changes = {"id": f"sample/f/{index}", "task": "f", "task_digest": task.digest, "workspace": state.digest}
    return msgspec.structs.replace(rollout, **changes), state


def check_sample(path: Path, said: list[str], final: bool) -> str | None:
    wanted = [f"sample/{task.id}/{index}" for task in TASKS for index in (0, 1)]
    try:
        ids = [row.rollout.id for row in RunFolder.open(path).recorded()]
    except InputError as error:
        return None if not said and not final else f"cannot be read: {error}"
    if lost := set(said) - {*ids, "end"}:
        return f"lost {sorted(lost)}"
    if ids != wanted[: len(ids)] or (final and ids != wanted):
        return f"doubled or out of order: {ids}"
    return None


def again(path: Path, say: Say) -> None:
    """A rescoring in commits of two."""
    rescoring._BATCH = rescoring._COMMIT_SIZE = 2
    settings = {"checker": {"type": "math", "config": SWAP.config}}
    rescore(path, by_swaps([SWAP], MATH), settings, name="strict", progress=lambda done, total: say(str(done)))
    say("end")


def check_again(path: Path, said: list[str], final: bool) -> str | None:
    old = (path.parent / "pristine" / "ledger.jsonl").read_bytes()
    if not (path / "ledger.jsonl").read_bytes().startswith(old):
        return "old records were touched"
    run = RunFolder.open(path)
    standing = run.rescorings().get("strict")
    done = standing.done if standing is not None else 0
    if done < max([int(name) for name in said if name.isdecimal()], default=0):
        return f"lost: {done} of what was acknowledged"
    places = [new.record.of.seq for _, new in run.rescored("strict")]  # type: ignore[attr-defined]
    if places != list(range(1, done + 1)) or (final and done != 12):
        return f"doubled or missing: {places}"
    return None


def look(path: Path, said: list[str], check: Callable[[Path, list[str], bool], str | None], final: bool) -> str | None:
    """What is wrong with a folder; nothing, hopefully."""
    if "FAILED" in said:
        return "the work failed"
    try:
        found = verify_run(path)
    except InputError:
        return None if not said and not final else "there is no run"
    if found.state == "unknown" and not said and not final:
        return None  # run.json is not there yet
    if found.problem is not None:
        return f"damaged: {found.problem}"
    if final and (found.state != "complete" or not found.sealed or found.standing):
        return f"not complete: {found.state} {found.standing}"
    return check(path, said, final)


def main(scenario: str, how: str, folder: Path, stride: int) -> None:
    work, check = {"sample": (sample, check_sample), "rescore": (again, check_again)}[scenario]
    pristine = folder / "pristine"
    if scenario == "rescore":
        judged_run(pristine)
    else:
        sample(folder / "warm", void)  # what is imported here is not imported by each child
    at, died = 0, True
    while died:
        at += 1
        path = folder / f"{at}"
        if pristine.exists():
            shutil.copytree(pristine, path)
        said, died = killed(work, path, at, how)
        seconds = range(1, 400, stride) if stride else [0 if at % 3 else 1 + at * 7 % (5 if how == "torn" else 23)]
        if fault := look(path, said, check, not died):
            print(f"killed at {at}: {fault}")
        for second in seconds if died else ():
            copy = folder / f"{at}-{second}"
            if path.exists():
                shutil.copytree(path, copy)
            more, again_died = killed(work, copy, second, how)
            if fault := look(copy, [*said, *more], check, not again_died):
                print(f"killed at {at}, then at {second}: {fault}")
            if again_died:
                more += killed(work, copy, 0, how)[0]
                if fault := look(copy, [*said, *more], check, True):
                    print(f"killed at {at}, then at {second}, then left alone: {fault}")
            if how == "torn" or not stride:
                differing = [item for item in replay(RunFolder.open(copy)) if item.match is not Match.SAME]
                if differing:
                    print(f"killed at {at}, then at {second}: other verdicts: {differing}")
            shutil.rmtree(copy)
            if not again_died:
                break
        shutil.rmtree(path, ignore_errors=True)
    print(json.dumps({"boundaries": at - 1}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 0)

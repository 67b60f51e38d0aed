"""The process of one job: ``python -m lydite.server.jobs.child FOLDER``.

Reads ``job.json`` and ``recipe.yaml`` there, trains, and says how far it is in ``state.json`` and ``events.jsonl``. It
needs nothing of the service, which may end and begin again meanwhile. A termination signal lets the step under way end
and writes a checkpoint; a second one ends it at once. Leaves with 0 done, 2 unusable input, 3 stopped, 1 anything else.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from lydite.errors import InputError, InterruptedRunError, LyditeError, StorageError
from lydite.server.jobs.heart import Heart
from lydite.server.jobs.judged import Following
from lydite.server.jobs.naming import named
from lydite.server.jobs.store import JobFolder

if TYPE_CHECKING:
    from lydite.server.jobs.pace import Pace
    from lydite.training.progress import Progress
    from lydite.training.recipe import Recipe

PATIENCE = 10.0
"""Seconds in which the service has to write down a process that it began."""


def main(arguments: list[str]) -> int:
    """Do the job of a folder; the exit code."""
    folder = JobFolder(Path(arguments[0]).resolve())
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever began the service may have had it ignored
    signal.signal(signal.SIGTERM, _stop)
    session = folder.standing().launches
    print(f"-- session {session}, {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}")
    with Heart(folder, session) as heart:
        try:
            _be_known(folder)
            _carry_out(folder, heart)
        except (KeyboardInterrupt, InterruptedRunError):
            print("stopped")
            heart.end("interrupted")
            return 3
        except LyditeError as error:
            print(f"error: {error}")
            _fail(folder, heart, error)
            return error.exit_code if isinstance(error, InputError) else 1
        except BaseException as error:
            traceback.print_exc()
            heart.end("failed", f"{type(error).__name__}: {error}"[:2000], code="job_error")
            return 1
        heart.end("complete")
    return 0


def _be_known(folder: JobFolder) -> None:
    """Wait until the service has written down which process this is. One that it does not know could not be stopped:
    where the service was killed at this very moment, the process ends.

    Raises:
        InterruptedRunError: it is not known.
    """
    until = time.monotonic() + PATIENCE
    while (known := folder.standing().pid) != os.getpid():
        if known is not None or time.monotonic() > until:
            raise InterruptedRunError("the service does not know this process")
        time.sleep(0.02)


def _stop(_number: int, _frame: FrameType | None) -> None:
    """As Ctrl-C, which event loops know how to end by."""
    signal.raise_signal(signal.SIGINT)


def _fail(folder: JobFolder, heart: Heart, error: LyditeError) -> None:
    from lydite.server.jobs.checks import told

    if not isinstance(error, InputError):
        code = "storage" if isinstance(error, StorageError) else "unavailable"
        heart.end("failed", str(error)[:2000], code=code)
        return
    known = told(error, folder.path)
    place = f"line {known.line}: " if known.line is not None else ""
    remedy = f" ({known.remedy})" if known.remedy else ""
    field = f"{known.field}: " if known.field else ""
    heart.end("failed", f"{place}{field}{known.message}{remedy}"[:2000], code="invalid_job", param=known.field)


def _carry_out(folder: JobFolder, heart: Heart) -> None:
    from lydite.server.jobs.pace import Pace, work
    from lydite.training import load_recipe, train

    run = folder.path.parents[2] / "runs" / folder.id
    resume = (run / "run.json").exists()
    recipe = load_recipe(folder.path / "recipe.yaml")
    heart.at("validating")
    sides = _sides(recipe, run, resume)
    parts = work(recipe, *sides)
    heart.at("preparing")
    _name_trackers(folder)
    folder.append(
        "The job goes on" if resume else "The job runs", data={"train_tasks": sides[0], "eval_tasks": sides[1]}
    )
    teller = _Teller(folder, heart, run, Pace(parts))
    train(recipe, run, resume=resume, progress=teller)
    teller.leave()


def _name_trackers(folder: JobFolder) -> None:
    """Where Weights & Biases is told of the job, as the request says."""
    for one in folder.document().get("request", {}).get("integrations") or ():
        settings = one.get("wandb") or {}
        for name in ("project", "entity", "name"):
            if settings.get(name):
                os.environ[f"WANDB_{name.upper()}"] = str(settings[name])
        os.environ.setdefault("WANDB_NAME", folder.id)
        os.environ["WANDB_TAGS"] = ",".join(map(str, settings.get("tags") or ()))


def _sides(recipe: Recipe, run: Path, resume: bool) -> tuple[int, int]:
    """How many tasks there are to train and to measure on, all of them looked at in a job that is new."""
    from lydite.ledger import RunFolder
    from lydite.server.jobs.checks import check_task
    from lydite.training.data import load_sides

    if resume:
        splits = [task.split == "eval" for task in RunFolder.open(run).tasks()]
        return len(splits) - sum(splits), sum(splits)
    train, held_out, _ = load_sides(recipe)
    for task in (*train, *held_out):
        try:
            check_task(task, alone=True)
        except InputError as error:
            raise InputError(f"task {task.id!r:.80}: {error.message}", field=error.field, remedy=error.remedy) from None
    return len(train), len(held_out)


class _Teller:
    """Tells what training reports: every step as an event of metrics, every part that begins, every warning."""

    def __init__(self, folder: JobFolder, heart: Heart, run: Path, pace: Pace) -> None:
        self._folder, self._heart, self._pace = folder, heart, pace
        self._ledger, self._part = Following(run), ""
        self._valid: float | None = None

    def __call__(self, progress: Progress) -> None:
        part, done, total = progress.part, progress.done, progress.total
        if part != self._part:
            self.leave()
            self._part = part
            self._say(f"{_words(part)} begins: {total} {'steps' if _staged(part) else 'attempts'}", {"part": part})
        share = self._pace.share(part, done, total)
        self._heart.at(part, done, total, share, self._pace.estimate(share))
        if progress.metrics:
            self._step(progress)
        for warning in progress.warnings:
            print(f"warning: {warning}")
            self._folder.append(warning, level="warn", data={"part": part})

    def leave(self) -> None:
        """What the held-out tasks said, when they were all attempted."""
        if self._part.partition("-")[0] in ("before", "after"):
            self._valid = self._ledger.of(self._part).mean
            if self._valid is not None:
                data = {"part": self._part, "full_valid_mean_reward": self._valid}
                self._say(f"{_words(self._part)}: mean reward {self._valid:.4f}", data)

    def _step(self, progress: Progress) -> None:
        stage, _, kind = progress.part.partition(" ")
        values = named(progress.metrics)
        if kind == "grpo":
            phase = f"train-{stage}-{progress.done}"
            found = self._ledger.of(phase)
            self._ledger.forget(phase)
            values |= {"train_sample_parse_error_count": found.unparseable, "train_other_error_count": found.invalid}
        if self._valid is not None:
            values["full_valid_mean_reward"], self._valid = self._valid, None
        shown = [f"{name} {values[name]:.4f}" for name in ("loss", "reward", "pass_rate") if name in values]
        message = f"Step {progress.done}/{progress.total}: {', '.join(shown)}"
        print(f"{progress.part}  {message}")
        data = {"stage": int(stage), "kind": kind, "step": progress.done, "total_steps": progress.total, **values}
        self._folder.append(message, kind="metrics", data=data)

    def _say(self, message: str, data: dict[str, object]) -> None:
        print(message)
        self._folder.append(message, data=data)


def _staged(part: str) -> bool:
    return part.partition(" ")[0].isdigit()


def _words(part: str) -> str:
    name, _, number = part.partition("-")
    if _staged(part):
        return f"Stage {part}"
    if name == "sample":
        return f"Sampling of stage {number}"
    return f"Evaluation {name}" + (f" stage {number}" if number else " training")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

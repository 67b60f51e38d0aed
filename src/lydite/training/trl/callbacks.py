"""What happens between two steps: metrics are written, the bar moves, a request to stop is honoured."""

from __future__ import annotations

import math
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Literal

import msgspec
from transformers import PrinterCallback, TrainerCallback

from lydite.evaluation.collect import read_metrics
from lydite.ledger import RunFolder
from lydite.training.alarms import Alarms

__all__ = ["Keep", "PrinterCallback", "Stop", "Watch", "keep_checkpoints", "last_checkpoint"]

WARNINGS = 100
"""Kept in ``run.json`` at most."""
COMPLETE = "complete"
"""Name of the empty file that marks a checkpoint as whole: it is made after everything else in its folder."""
WEIGHTS_ONLY = "weights-only"
"""Name of the empty file that marks a checkpoint from which training cannot go on: it is made before anything goes."""
_STATE = ("optimizer.*", "scheduler.pt", "scaler.pt", "rng_state*.pth", "training_args.bin", "README.md")
"""What goes then: the optimizer's state, and PEFT's empty card, which names a path of this machine."""


class Stop:
    """A request to stop, by Ctrl-C or a termination signal. The first one waits for the step to end, the second not."""

    def __init__(self) -> None:
        self.requested = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """While inside, the first SIGINT or SIGTERM only sets ``requested`` and the next raises ``KeyboardInterrupt``.

        Elsewhere than in the main thread signals are left alone.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._handle) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        again, self.requested = self.requested, True
        if again:
            raise KeyboardInterrupt


class Keep(TrainerCallback):  # type: ignore[misc]
    """Puts something of ours into every checkpoint. Must come before ``Watch``, which marks checkpoints as whole."""

    def __init__(self, save: Callable[[Path], None]) -> None:
        self._save = save

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._save(Path(args.output_dir) / f"checkpoint-{state.global_step}")


class Watch(TrainerCallback):  # type: ignore[misc]
    """Writes metrics, reports progress and what goes bad, stops when asked, marks checkpoints that are whole."""

    def __init__(
        self,
        run: RunFolder,
        index: int,
        kind: str,
        stop: Stop,
        report: Callable[[int, int, dict[str, float], tuple[str, ...]], None],
    ) -> None:
        self._run, self._index, self._kind, self._stop, self._report = run, index, kind, stop, report
        self._alarms = Alarms() if kind == "grpo" else None

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Steps before a checkpoint are looked at again, so that a resumed stage compares with its true beginning."""
        if self._alarms is None or not state.global_step:
            return
        lines = {}
        for line in read_metrics(self._run.path / "metrics.jsonl"):
            if line.get("stage") == self._index and line.get("step", 0) <= state.global_step:
                lines[int(line["step"])] = line
        for step, line in sorted(lines.items()):
            self._alarms.look(step, {name: value for name, value in line.items() if isinstance(value, int | float)})

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        if not logs or "loss" not in logs:
            return  # the summary at the end of training; every step has its own line
        values = {
            name: value
            for name, value in logs.items()
            if isinstance(value, int | float) and math.isfinite(value) and not name.startswith("rewards/score/")
        }
        values.pop("epoch", None)  # of the schedule of prompts, which is one epoch long by construction
        self._run.metric({"stage": self._index, "kind": self._kind, "step": state.global_step, **values})
        self._report(state.global_step, state.max_steps, values, self._warned(state.global_step, logs, values))

    def _warned(self, step: int, logs: dict[str, Any], values: dict[str, float]) -> tuple[str, ...]:
        if self._alarms is None:
            return ()
        alarms = self._alarms.look(step, {**values, "loss": float(logs["loss"])})
        if alarms:
            told = [{"stage": self._index, **msgspec.to_builtins(alarm)} for alarm in alarms]
            self._run.note(warnings=[*self._run.info.notes.get("warnings", ()), *told][-WARNINGS:])
        return tuple(f"step {alarm.step}: {alarm.message}" for alarm in alarms)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        last = state.global_step >= state.max_steps
        if last:
            control.should_save = False  # the stage's own result is saved next
        elif self._stop.requested:
            control.should_save = control.should_training_stop = True

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        (Path(args.output_dir) / f"checkpoint-{state.global_step}" / COMPLETE).touch()
        for older in whole_checkpoints(Path(args.output_dir))[:-2]:
            strip(older)


def whole_checkpoints(folder: Path) -> list[Path]:
    """The whole checkpoints of a stage, the newest last."""
    found = (path.parent for path in folder.glob(f"checkpoint-*/{COMPLETE}"))
    return sorted(found, key=lambda path: int(path.name.removeprefix("checkpoint-")))


def last_checkpoint(folder: Path) -> Path | None:
    """The newest whole checkpoint of a stage from which training can go on."""
    found = [path for path in whole_checkpoints(folder) if not (path / WEIGHTS_ONLY).exists()]
    return found[-1] if found else None


def strip(checkpoint: Path) -> None:
    """Leave the model, or its adapter, and take away what only training needs."""
    if (checkpoint / WEIGHTS_ONLY).exists():
        return
    (checkpoint / WEIGHTS_ONLY).touch()
    for pattern in _STATE:
        for path in checkpoint.glob(pattern):
            path.unlink(missing_ok=True)


def keep_checkpoints(folder: Path, keep: int | Literal["all"] | None) -> None:
    """When a stage is over: the newest ``keep`` stay, stripped; all else goes."""
    found = whole_checkpoints(folder)
    kept = found if keep == "all" else found[-keep:] if keep else []
    for path in folder.glob("checkpoint-*"):
        if path in kept:
            strip(path)
        else:
            shutil.rmtree(path, ignore_errors=True)

"""The progress of a training run, on standard error: a bar on a terminal, else a line now and then. Also the demo's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from lydite.cli.console import err

if TYPE_CHECKING:
    from rich.progress import TaskID

    from lydite.training import Progress as Report
    from lydite.training import Recipe
    from lydite.training.progress import Report as Reporter


_LINES = 10
"""Lines per part where there is no terminal."""


@contextmanager
def training_bar(recipe: Recipe) -> Iterator[Reporter]:
    """One line per part of the run; gives the function to report to."""
    if not err.is_terminal:
        yield _plain()
        return
    columns = (TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("{task.fields[note]}"), console=err) as bar:
        lines: dict[str, TaskID] = {}

        def report(progress: Report) -> None:
            _warn(progress)
            if progress.part not in lines:
                lines[progress.part] = bar.add_task(progress.part, total=progress.total, note="")
            bar.update(lines[progress.part], completed=progress.done, total=progress.total, note=_note(progress))

        yield report


def _plain() -> Reporter:
    told: dict[str, int] = {}

    def report(progress: Report) -> None:
        _warn(progress)
        tenth = _LINES * progress.done // max(1, progress.total)
        if tenth > told.get(progress.part, 0):
            told[progress.part] = tenth
            err.print(f"{progress.part:<10} {progress.done}/{progress.total}  {_note(progress)}".rstrip(), markup=False)

    return report


def _warn(progress: Report) -> None:
    for warning in progress.warnings:
        err.print(f"warning: {progress.part}, {warning}", markup=False)


def _note(progress: Report) -> str:
    shown = ("loss",) if "reward" not in progress.metrics else ("reward", "pass_rate")
    return "  ".join(f"{name} {progress.metrics[name]:.3f}" for name in shown if name in progress.metrics)

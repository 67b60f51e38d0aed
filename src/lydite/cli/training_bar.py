"""The progress bar of a training run, on standard error. The demo shows the same one."""

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


@contextmanager
def training_bar(recipe: Recipe) -> Iterator[Reporter]:
    """One line per part of the run; gives the function to report to."""
    columns = (TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("{task.fields[note]}"), console=err) as bar:
        lines: dict[str, TaskID] = {}

        def report(progress: Report) -> None:
            if progress.part not in lines:
                lines[progress.part] = bar.add_task(progress.part, total=progress.total, note="")
            bar.update(lines[progress.part], completed=progress.done, total=progress.total, note=_note(progress))

        yield report


def _note(progress: Report) -> str:
    shown = ("loss",) if "reward" not in progress.metrics else ("reward", "pass_rate")
    return "  ".join(f"{name} {progress.metrics[name]:.3f}" for name in shown if name in progress.metrics)

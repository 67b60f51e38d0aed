"""Checkpoints of a run that are whole: those of a stage under way, and what each stage left in the end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lydite.codec import digest
from lydite.errors import InputError
from lydite.evaluation.collect import read_metrics
from lydite.server.jobs.naming import named
from lydite.server.jobs.status import Checkpoint

FINAL = "final"
_STAGE = re.compile(r"(\d+)-([a-z]+)")
_STEP = re.compile(r"checkpoint-(\d+)")


def checkpoints_of(folder: Path, run: str) -> list[Checkpoint]:
    """Checkpoints of a run folder, the newest first.

    Args:
        folder: of the run; it need not be there.
        run: its slug.
    """
    metrics = _metrics(folder)
    found: dict[tuple[int, int], Checkpoint] = {}
    for stage, kind, step, place in _places(folder, metrics):
        values = {
            name: value for name, value in metrics.get((stage, step), {}).items() if isinstance(value, int | float)
        }
        model = f"run:{run}@{stage}-{kind}/{place.parent.name if place.name != FINAL else FINAL}"
        found[stage, step] = Checkpoint(
            id=f"ftckpt_{digest([run, stage, step])[:24]}",
            time=place.stat().st_mtime,
            step=step,
            model=model.replace("checkpoint-", ""),
            metrics={**named(values), "step": step},
        )
    return [found[key] for key in sorted(found, reverse=True)]


def _places(folder: Path, metrics: dict[tuple[int, int], dict[str, Any]]) -> Iterator[tuple[int, str, int, Path]]:
    """Stage, kind, step, and the file or folder that is there once all the rest is. What a stage left comes last."""
    root = folder / "checkpoints"
    for stage in sorted(root.iterdir()) if root.is_dir() else ():
        name = _STAGE.fullmatch(stage.name)
        if name is None:
            continue
        number = int(name[1])
        for mark in stage.glob("checkpoint-*/complete"):
            if step := _STEP.fullmatch(mark.parent.name):
                yield number, name[2], int(step[1]), mark
        if (stage / FINAL).is_dir():
            last = max((step for index, step in metrics if index == number), default=0)
            yield number, name[2], last, stage / FINAL


def _metrics(folder: Path) -> dict[tuple[int, int], dict[str, Any]]:
    try:
        lines = list(read_metrics(folder / "metrics.jsonl"))
    except (InputError, OSError):
        return {}
    return {(line["stage"], line["step"]): line for line in lines if "stage" in line and "step" in line}

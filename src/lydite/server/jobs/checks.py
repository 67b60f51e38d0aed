"""What a job may hold, looked at before it is one: no path of a request's reaches the file system, no file of a
request's is run by the service."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lydite.errors import InputError, MissingExtraError, UnavailableError
from lydite.server.apart import built
from lydite.server.errors import RefusedError
from lydite.server.jobs.store import RESERVED
from lydite.server.tasks import refuse_paths
from lydite.task import Task
from lydite.training.recipe import DpoStage, GrpoStage, Recipe, SampleStage, SftStage
from lydite.verifiers.build import build

REPORTERS = ("mlflow", "tensorboard", "trackio", "wandb")
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_WORD = re.compile(r"[A-Za-z0-9_.+-]{0,64}")
_OURS = re.compile(
    r"_dir$|path|deepspeed|fsdp|accelerator|resume|host|url|port$|kwargs|project|space|run_name"
    r"|completions$|debug|code"
    r"|compile|dynamo|^jit|num_workers|num_proc|^report_to$|hub|bucket|^local_rank$|^ddp_|^vllm_mode$"
)
"""Fields of TRL that would reach files, the network, or code, or have other processes started: compilers, loaders."""


def check_files(names: Iterable[str]) -> None:
    """Names of a plan's files are names.

    Raises:
        InputError: one is not.
    """
    for name in names:
        if _FILE.fullmatch(name) is None or name in RESERVED:
            raise InputError(f"{name[:80]!r} is no name for a file of a job", field="files")


def check_recipe(recipe: Recipe, policy: str, files: Iterable[str]) -> None:
    """A recipe names its policy, the files beside it, and nothing else of this machine.

    Raises:
        InputError: names the field.
    """
    if recipe.policy != policy:
        raise InputError("is set by the job's model", field="policy", remedy="name it with `model`")
    known = set(files)
    for field, name in _named(recipe):
        if name not in known:
            raise InputError("a job reads no files but its own", field=field, remedy="upload the file")
    for index, stage in enumerate(recipe.stages):
        where = f"stages.{index}"
        if isinstance(stage, GrpoStage) and stage.env is not None and ":" in stage.env:
            raise InputError("an environment of this machine's files cannot be named here", field=f"{where}.env")
        if not isinstance(stage, SampleStage):
            for name, value in stage.trl.items():
                if _OURS.search(name) or not _harmless(value):
                    raise InputError("cannot be set by a request", field=f"{where}.trl.{name}", remedy="leave it out")
    for name in recipe.report_to:
        if name not in REPORTERS or importlib.util.find_spec(name) is None:
            raise InputError(f"{name[:80]!r} is not installed here", field="report_to", remedy="leave it out")


def _named(recipe: Recipe) -> Iterable[tuple[str, str]]:
    """Fields that name files, and the names."""
    for side, source in (("train", recipe.tasks.train), ("eval", recipe.tasks.eval)):
        for name in (source.files or ()) if source else ():
            yield f"tasks.{side}.files", name
    for index, stage in enumerate(recipe.stages):
        if isinstance(stage, SftStage) and stage.rows is not None:
            yield f"stages.{index}.rows", stage.rows
        if isinstance(stage, DpoStage) and stage.pairs is not None:
            yield f"stages.{index}.pairs", stage.pairs


def _harmless(value: Any) -> bool:
    return (
        value is None
        or isinstance(value, bool | int | float)
        or (isinstance(value, str) and bool(_WORD.fullmatch(value)))
    )


def check_task(task: Task, *, alone: bool = False) -> None:
    """A task can be judged here, and names no code of this machine.

    Args:
        task: what is looked at.
        alone: whether this process is the job's own, which its checkers may hold up.

    Raises:
        InputError: names the field.
    """
    try:
        refuse_paths(task)
    except RefusedError as error:
        raise InputError(error.message, field=error.param) from None
    try:
        if alone:
            build(task.checker)
        else:
            built(task.checker)
    except (MissingExtraError, UnavailableError) as error:
        raise InputError(str(error), field="checker.type") from None


def told(error: InputError, folder: Path) -> InputError:
    """An error about a file of a job's folder, told without where that lies."""
    message = error.message.replace(f"{folder}/", "")
    if error.path is not None:
        message += f" (in {Path(error.path).name})"
    return InputError(message, line=error.line, field=error.field, remedy=error.remedy)

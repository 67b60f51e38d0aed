"""A recipe carried out: measure, go through the stages, measure again; all in one run folder, resumable."""

from __future__ import annotations

import errno
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from lydite.errors import InputError, InterruptedRunError, StorageError
from lydite.evaluation import write_report
from lydite.ledger import RunFolder, State
from lydite.sandbox import overlay
from lydite.task import Task
from lydite.training.data import load_sides
from lydite.training.packages import packages_of
from lydite.training.progress import Report, silent
from lydite.training.recipe import Recipe
from lydite.training.recipe_io import dump_recipe
from lydite.training.results import TrainResult, measured_after, results, write_card
from lydite.training.trl.quiet import hush, require

if TYPE_CHECKING:
    from lydite.training.stages import Session

RECIPE = "recipe.yaml"


def train(recipe: Recipe, out: str | Path, *, resume: bool = False, progress: Report | None = None) -> TrainResult:
    """Carry out a recipe.

    Blocks; starts event loops of its own, so call it from a thread when a loop is running. Ctrl-C (in the main thread)
    lets the step under way end, writes a checkpoint and raises ``InterruptedRunError``; so does SIGTERM. After that,
    and after a crash, ``resume=True`` goes on: finished parts are not repeated, and steps since the last checkpoint
    are repeated under new rollout ids, beside what the ledger holds of them already.

    Args:
        recipe: what to do.
        out: the run folder; new, or with ``resume`` the one to go on with.
        resume: go on with a run that was interrupted. A finished run gives its result again.
        progress: called with how far the run is.

    Raises:
        MissingExtraError: the libraries for training are not installed.
        InputError: unusable recipe, tasks or policy; the folder holds another run, or one and ``resume`` was not asked.
        InterruptedRunError: stopped on request.
        StorageError: the folder cannot be written.
    """
    require()
    folder = Path(out)
    if (folder / "run.json").exists() and not resume:
        raise InputError(
            "holds a run already", path=folder, remedy="add --resume to go on with it, or name another folder"
        )
    if resume and not (folder / "run.json").exists():
        raise InputError("there is no run to resume", path=folder, remedy="leave --resume out")
    hush()
    from lydite.training.trl.config import check_trl_fields

    check_trl_fields(recipe)
    started = time.monotonic()
    noted = RunFolder.open(folder).info.notes.get("packages") if resume else None
    packages = packages_of(recipe, noted)  # before anything costly, and before there is a folder to clear away
    with ExitStack() as stack:
        if packages is not None:
            stack.enter_context(overlay.share(packages.folder))
        run, sides = stack.enter_context(_opened(recipe, folder, resume))
        if run.info.state is State.COMPLETE:
            return results(recipe, run)
        if packages is not None:
            run.note(packages=msgspec.to_builtins(packages))
        earlier = float(run.info.notes.get("seconds", 0.0))
        try:
            _parts(recipe, run, sides, progress or silent)
        except KeyboardInterrupt:
            raise InterruptedRunError(f"stopped; what was done stays done in {folder}") from None
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StorageError(f"no space left for {folder}; make room, then run the same command again") from error
            raise
        finally:
            run.note(seconds=round(earlier + time.monotonic() - started, 3))
        result = results(recipe, run)
        write_card(recipe, run, result)
        run.finish("complete")
        write_report(run)  # last, as it tells the state of the run; `lydite report` makes it again at any time
        return result


@contextmanager
def _opened(recipe: Recipe, folder: Path, resume: bool) -> Iterator[tuple[RunFolder, tuple[list[Task], list[Task]]]]:
    if resume:
        tasks = list(RunFolder.open(folder).tasks())
        train_side = [task for task in tasks if task.split != "eval"]
        held_out = [task for task in tasks if task.split == "eval"]
        with RunFolder.create(folder, kind="train", settings=recipe.settings) as run:
            yield run, (train_side, held_out)
        return
    train_side, held_out, dropped = load_sides(recipe)
    with RunFolder.create(folder, kind="train", settings=recipe.settings, tasks=[*train_side, *held_out]) as run:
        (folder / RECIPE).write_text(dump_recipe(recipe), encoding="utf-8")
        if dropped:
            run.note(dropped_from_train=dropped)
        yield run, (train_side, held_out)


def _parts(recipe: Recipe, run: RunFolder, sides: tuple[list[Task], list[Task]], progress: Report) -> None:
    from lydite.training.stages import Session

    train_side, held_out = sides
    session = Session(recipe, run, train_side, progress)
    try:
        _all(session, run, held_out, [*train_side, *held_out])
    finally:
        session.close()


def _all(session: Session, run: RunFolder, held_out: list[Task], tasks: list[Task]) -> None:
    recipe = session.recipe
    _settle(session, tasks)
    if recipe.evaluation and not run.info.notes.get("before"):
        session.sample("before", held_out[: recipe.evaluation.limit], recipe.evaluation)
        run.note(before=True)
    for index in range(len(recipe.stages)):
        if index >= int(run.info.notes.get("stages", 0)):
            session.stage(index)
            run.note(stages=index + 1)
        if index + 1 == int(run.info.notes["stages"]) and measured_after(recipe, index):
            assert recipe.evaluation is not None
            session.sample(f"after-{index}", held_out[: recipe.evaluation.limit], recipe.evaluation)
    if recipe.evaluation:
        session.sample("after", held_out[: recipe.evaluation.limit], recipe.evaluation)
    session.save()


def _settle(session: Session, tasks: Sequence[Task]) -> None:
    """Judge the samples that a crash left without a verdict, before anything is added behind them."""
    known = {task.id: task for task in tasks}
    session.run.seal([session.grade(rollout, known[rollout.task]) for rollout in session.run.unrecorded()])

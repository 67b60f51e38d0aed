"""From a plan to the folder of a job: all is looked at first, then the folder is there at once, or not at all."""

from __future__ import annotations

import secrets
import shutil
import time
from pathlib import Path
from typing import Any

import msgspec

from lydite.codec import sha256
from lydite.errors import InputError
from lydite.ledger.files import replace, storage, sync_folder
from lydite.server.errors import RefusedError, refused
from lydite.server.home import Home
from lydite.server.jobs.checks import check_files, check_recipe, check_task, told
from lydite.server.jobs.status import Plan
from lydite.server.jobs.store import JobFolder, Standing
from lydite.training.data import load_sides
from lydite.training.recipe import Recipe
from lydite.training.recipe_io import dump_recipe, load_recipe, parse_recipe

QUICK = 4 << 20
"""Bytes of files up to which tasks are looked at before the job is made; else its process does so first."""
PATIENCE = 30.0
"""Seconds in which they are looked at; the process looks at all."""
PREFIX = "ftjob-"
DRAFT = "draft-"


def make(home: Home, plan: Plan) -> JobFolder:
    """Make the folder of a job that waits.

    Raises:
        RefusedError: the recipe, a file or a task is unusable; names the field, and the line of a file.
        StorageError: the folder cannot be written.
    """
    jobs = home.folder("jobs")
    draft = jobs / f"{DRAFT}{secrets.token_hex(12)}"
    try:
        with storage(draft):
            draft.mkdir(mode=0o700)
        recipe = _written(home, plan, draft)
        if sum(map(len, plan.files.values())) <= QUICK:
            _look(recipe)
        folder = jobs / f"{PREFIX}{secrets.token_hex(12)}"
        replace(draft / "job.json", msgspec.json.encode(_document(folder.name, plan, recipe)) + b"\n")
        JobFolder(draft).stand(Standing(order=time.time()))
        with storage(folder):
            draft.rename(folder)
        sync_folder(jobs)
    except InputError as error:
        raise refused(told(error, draft)) from None
    except UnicodeEncodeError:
        raise RefusedError("the request holds lone surrogates, which are no text") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return JobFolder(folder)


def sweep(home: Home) -> None:
    """Take away what a service that was killed left half made."""
    for draft in home.folder("jobs").glob(f"{DRAFT}*"):
        shutil.rmtree(draft, ignore_errors=True)


def _written(home: Home, plan: Plan, draft: Path) -> Recipe:
    check_files(plan.files)
    policy = relative(home, plan.model)
    recipe = parse_recipe({**plan.recipe, "policy": policy})
    check_recipe(recipe, policy, plan.files)
    for name, data in plan.files.items():
        with storage(draft / name):
            (draft / name).write_bytes(data)
    replace(draft / "recipe.yaml", dump_recipe(recipe).encode())
    return load_recipe(draft / "recipe.yaml")


def relative(home: Home, spec: str) -> str:
    """A model's spec by which it is found from the home, so that no run tells where that lies."""
    return spec.replace(f"{home.path}/", "")


def _look(recipe: Recipe) -> None:
    train, held_out, _ = load_sides(recipe)
    until = time.monotonic() + PATIENCE
    for number, task in enumerate((*train, *held_out)):
        if time.monotonic() > until:
            return
        try:
            check_task(task)
        except InputError as error:
            raise InputError(
                f"task {number + 1} ({task.id[:80]!r}): {error.message}", field=error.field, remedy=error.remedy
            ) from None


def _document(job: str, plan: Plan, recipe: Recipe) -> dict[str, Any]:
    return {
        "id": job,
        "created": time.time(),
        "kind": plan.kind,
        "model": plan.model_asked,
        "model_asked": plan.model_asked,
        "policy": recipe.policy,
        "name": plan.name,
        "metadata": plan.metadata,
        "request": plan.request,
        "notes": list(plan.notes),
        "recipe": recipe.settings,
        "files": {name: {"bytes": len(data), "sha256": sha256(data)} for name, data in plan.files.items()},
    }

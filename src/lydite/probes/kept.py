"""Probes that people keep: hostile submissions in a folder, tried again whenever a checker has changed.

A kept probe is one JSON file:

    {"what": "one line for people",
     "task": {a whole task document},           optional: the probe then stands by itself
     "task_id": "id of a task",                 optional: tried on the task of this id; without either, on every task
     "completion": "text",                      what is said
     "files": {"path": "text"}, "commands": ["…"],   what is done in the untouched workspace
     "workspace": "FILE.pack",                  or: what was left behind, in a file beside this one
     "at_most": 0.5,                            optional: it got through where it scores more than this, too
     "origin": {…}}                             where it comes from

It got through where it is judged ``correct``. A hack that was confirmed in a run is kept with the whole task and the
very workspace that it left.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from lydite.errors import InputError, StorageError, UnavailableError
from lydite.ledger import RunFolder
from lydite.ledger.record import Row
from lydite.ledger.states import read as read_state
from lydite.probes.attempt import told_of
from lydite.probes.protocol import Attack, Check, Finding, Level
from lydite.probes.world import WorkspaceGoneError, World
from lydite.sandbox import Snapshot
from lydite.task import Task
from lydite.tasksets.documents import parse_task, task_document
from lydite.tasksets.paths import normal_file
from lydite.verdict import Verdict
from lydite.verifiers import Submission, build, checker_of

LARGEST = 64 << 20
"""Bytes of a probe's file, and of an unpacked workspace."""


class Kept(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A kept probe; see the top of this module."""

    what: str = ""
    task: dict[str, Any] | None = None
    task_id: str | None = None
    completion: str = ""
    files: dict[str, str] = {}
    commands: tuple[str, ...] = ()
    workspace: str | None = None
    at_most: float | None = None
    origin: dict[str, Any] = {}
    schema: int = 1


def load(folder: str | Path) -> dict[str, Kept]:
    """The probes of a folder by the names of their files, in order.

    Raises:
        InputError: there is no folder, nothing in it, or a file is no probe; names the file and the field.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError("there is no such folder", path=folder, remedy="`lydite probes add RUN ID` makes one")
    found = {path.stem: _read(path) for path in sorted(folder.glob("*.json")) if path.is_file()}
    if not found:
        raise InputError("holds no probes", path=folder, remedy="`lydite probes add RUN ID`, or write NAME.json")
    return found


def _read(path: Path) -> Kept:
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"is larger than {LARGEST >> 20} MiB", path=path)
        made = msgspec.json.decode(path.read_bytes(), type=Kept)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"is no probe: {error}", path=path, remedy="see docs/probes.md for its fields") from None
    if made.task is not None and made.task_id is not None:
        raise InputError("stands beside a task", path=path, field="task_id", remedy="leave one of the two out")
    if made.workspace is not None and (made.files or made.commands):
        raise InputError("stands beside files or commands", path=path, field="workspace", remedy="leave it out")
    if made.workspace is not None and Path(made.workspace).name != made.workspace:
        raise InputError("is no file beside the probe", path=path, field="workspace", remedy="give its bare name")
    if made.at_most is not None and not 0 <= made.at_most <= 1:
        raise InputError("expected a number in [0, 1]", path=path, field="at_most")
    return made


def add(
    run: str | Path, rollout: str, folder: str | Path, *, what: str = "", name: str | None = None
) -> tuple[Path, bool]:
    """Keep an attempt of a run as a probe.

    Args:
        run: the run folder.
        rollout: id of the attempt.
        folder: of the probes; made where it is not there.
        what: one line for people.
        name: of the file; ``None``: after the attempt.

    Returns:
        The file that was written, and whether the attempt was judged correct.

    Raises:
        InputError: there is no such run, attempt or state, or a probe of this name is there already.
        StorageError: it cannot be written.
    """
    opened, folder = RunFolder.open(run), Path(folder)
    row = next((row for row in opened.rows() if row.rollout.id == rollout), None)
    if row is None:
        raise InputError(f"no attempt {rollout!r} is recorded", path=run, remedy=f"`lydite show {run}` lists them")
    task = next((task for task in opened.tasks() if task.digest == row.rollout.task_digest), None)
    if task is None:
        raise InputError(f"the task of {rollout!r} is not there", path=run)
    stem = _slug(name or f"{Path(run).resolve().name}-{rollout}")
    path = folder / f"{stem}.json"
    if path.exists():
        raise InputError("is there already", path=path, remedy="name another with --name, or remove it")
    pack = None
    if row.rollout.workspace is not None:
        pack = read_state(Path(run), row.rollout.workspace).to_pack()
    made = Kept(
        what=what,
        task=task_document(task),
        completion=row.rollout.text,
        workspace=f"{stem}.pack" if pack is not None else None,
        origin=_origin(opened, row),
    )
    if pack is not None:
        _write(folder / f"{stem}.pack", zlib.compress(pack))
    _write(path, msgspec.json.format(msgspec.json.encode(made), indent=2) + b"\n")
    return path, row.record.verdict.correct


def _origin(run: RunFolder, row: Row) -> dict[str, Any]:
    verdict = row.record.verdict
    return {
        "run": run.path.resolve().name,
        "rollout": row.rollout.id,
        "policy": row.rollout.policy,
        "verdict": {"outcome": str(verdict.outcome), "score": verdict.score, "verifier": verdict.verifier},
        "flags": [flag.detector for flag in row.record.flags],
    }


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")[:100] or "probe"


def _write(path: Path, data: bytes) -> None:
    """Whole, or not at all."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            new.write_bytes(data)
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"{path}: cannot be written: {error.strerror or error}") from None


def tried(probes: Mapping[str, Kept], folder: str | Path, tasks: Sequence[Task] = ()) -> Iterator[Finding]:
    """Try every probe: on the task of its id where ``tasks`` has it (so that a changed checker is tried), else on the
    task that it was kept with; one that names no task, on all tasks.

    Yields:
        A finding per probe and task; ``Level.NOT_MADE`` where there is no task to try it on, or the probe, the checker
        or the machine does not allow it: the others are tried all the same.
    """
    by_id = {task.id: task for task in tasks}
    with World() as world:
        for name, kept in probes.items():
            path = Path(folder) / f"{name}.json"
            try:
                found = _tasks(kept, path, by_id)
            except InputError as error:
                yield _finding(name, kept, "", Level.NOT_MADE, None, str(error))
                continue
            if not found:
                yield _finding(name, kept, kept.task_id or "", Level.NOT_MADE, None, "no task to try it on")
            for task in found:
                try:
                    yield _tried(name, kept, path, task, world)
                except (InputError, UnavailableError) as error:
                    yield _finding(name, kept, task.id, Level.NOT_MADE, None, str(error))


def _tasks(kept: Kept, path: Path, by_id: Mapping[str, Task]) -> Iterable[Task]:
    if kept.task is not None:
        own = parse_task(kept.task, path=path)
        return [by_id.get(own.id, own)]
    if kept.task_id is not None:
        return [by_id[kept.task_id]] if kept.task_id in by_id else []
    return list(by_id.values())


def _tried(name: str, kept: Kept, path: Path, task: Task, world: World) -> Finding:
    check = build(checker_of(task))
    try:
        state = _state(kept, path, task, world)
    except WorkspaceGoneError:
        return _finding(name, kept, task.id, Level.PASSED, None, "it filled the workspace that it worked in")
    verdict = check(Submission(text=kept.completion, prompt=task.prompt_text, state=state))
    if verdict.score is None:
        return _finding(name, kept, task.id, Level.WARNING, verdict, f"the checker fails on it: {told_of(verdict)}")
    if verdict.correct:
        return _finding(name, kept, task.id, Level.FAILED, verdict, "judged correct")
    if kept.at_most is not None and verdict.score > kept.at_most:
        told = f"scores {verdict.score:g}, and may have {kept.at_most:g}"
        return _finding(name, kept, task.id, Level.FAILED, verdict, told)
    return _finding(name, kept, task.id, Level.PASSED, verdict, "")


def _state(kept: Kept, path: Path, task: Task, world: World) -> Snapshot | None:
    if kept.workspace is not None:
        pack = path.with_name(kept.workspace)
        try:
            return Snapshot.from_pack(zlib.decompressobj().decompress(pack.read_bytes(), LARGEST))
        except (OSError, ValueError, zlib.error) as error:
            raise InputError(f"cannot be read: {error}", path=pack, remedy="keep it beside its probe") from None
    state = world.untouched(task)
    if state is None or not (kept.files or kept.commands):
        return state
    for file in kept.files:
        try:
            normal_file(file)
        except ValueError as error:
            remedy = "name a file of the workspace"
            raise InputError(str(error), path=path, field=f"files.{file}", remedy=remedy) from None
    attack = Attack(
        name=Check.ADVERSARIAL, kind="kept", what=kept.what, mend="", files=kept.files, commands=kept.commands
    )
    return world.attacked(state, attack)


def _finding(name: str, kept: Kept, task: str, level: Level, verdict: Verdict | None, told: str) -> Finding:
    return Finding(
        task=task,
        check=Check.ADVERSARIAL,
        kind=name,
        level=level,
        outcome="" if verdict is None else str(verdict.outcome),
        share=None if verdict is None else verdict.score,
        reason="" if verdict is None else verdict.reason,
        told=told,
        what=kept.what,
        mend="close the hole in the checker, then try again",
        shown="" if level is Level.PASSED else kept.completion[:2000],
    )

"""``run.json``: what a run is, how far it is, and the head of its ledger."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import msgspec

from lydite._version import __version__
from lydite.codec import canonical, digest
from lydite.errors import InputError
from lydite.ledger.chain import genesis
from lydite.ledger.files import open_regular, replace
from lydite.ledger.reading import UNREADABLE, reason
from lydite.ledger.record import Count, Mark

FILE = "run.json"
_LIBRARIES = ("msgspec", "numpy", "torch", "transformers", "trl", "peft", "datasets")


_DEPTH = 200
"""Levels of nesting in ``settings`` and ``notes``: far more than is used, far less than breaks an encoder."""


class State(StrEnum):
    """Where a run stands."""

    RUNNING = "running"  # someone writes it, or was killed while writing
    COMPLETE = "complete"
    INTERRUPTED = "interrupted"  # stopped on request or by an error; the same command goes on


class RunInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The content of ``run.json``.

    Attributes:
        kind: what made the run: ``sample``, ``train``, ``eval`` ...
        settings: everything that the run's results depend on, as plain JSON.
        settings_digest: digest of ``settings``; a run is resumed only by equal settings.
        created: UTC time, ISO 8601 with microseconds.
        state: running, complete or interrupted.
        head: hash of the last record that has been noted here (the genesis value when there is none).
        records: number of records up to ``head``.
        origin: ``tasks.jsonl`` as it was when the run was made; part of the genesis value.
        tasks: ``tasks.jsonl`` as it is now.
        notes: small state that whoever makes the run keeps here.
        versions: of Python, Lydite and the libraries at hand.
    """

    schema: Annotated[int, msgspec.Meta(ge=1)] = 1
    kind: str
    settings: dict[str, Any]
    settings_digest: str
    created: str
    state: State = State.RUNNING
    head: str
    records: Count = 0
    origin: Mark
    tasks: Mark
    notes: dict[str, Any] = {}
    versions: dict[str, str] = {}

    @property
    def genesis(self) -> str:
        """The ``prev`` that the first record must have."""
        return genesis(
            kind=self.kind,
            settings_digest=self.settings_digest,
            created=self.created,
            tasks_sha256=self.origin.sha256,
        )


def new_info(kind: str, settings: dict[str, Any], tasks: Mark) -> RunInfo:
    """The info of a run that begins now."""
    plain: dict[str, Any] = msgspec.json.decode(canonical(settings))
    created = datetime.now(UTC).isoformat(timespec="microseconds")
    settings_digest = digest(plain)
    return RunInfo(
        kind=kind,
        settings=plain,
        settings_digest=settings_digest,
        created=created,
        head=genesis(kind=kind, settings_digest=settings_digest, created=created, tasks_sha256=tasks.sha256),
        origin=tasks,
        tasks=tasks,
        versions=dict(_versions()),
    )


def read_info(folder: Path) -> RunInfo:
    """Read ``run.json``.

    Raises:
        InputError: there is none, or it is not what Lydite wrote.
    """
    path = folder / FILE
    try:
        with open_regular(path) as file:
            info = msgspec.json.decode(file.readall(), type=RunInfo)
    except (FileNotFoundError, NotADirectoryError):
        raise InputError("not a run folder: there is no run.json in it", path=folder) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    except UNREADABLE as error:
        raise InputError(f"not what Lydite wrote: {reason(error)}", path=path) from None
    if _deeper([info.settings, info.notes], _DEPTH + 1):
        raise InputError("not what Lydite wrote: nested too deeply", path=path)
    if info.schema > 1:
        raise InputError(
            f"written by a newer Lydite (layout {info.schema}, this one reads up to 1)",
            path=path,
            field="schema",
            remedy="update Lydite",
        )
    return info


def write_info(folder: Path, info: RunInfo) -> None:
    """Replace ``run.json`` at once."""
    replace(folder / FILE, msgspec.json.format(msgspec.json.encode(info), indent=2) + b"\n")


def _deeper(value: Any, depth: int) -> bool:
    """Whether plain JSON nests more than ``depth`` levels. Level by level, as recursion is what it guards against."""
    level = [value]
    for _ in range(depth + 1):
        level = [
            item
            for holder in level
            if isinstance(holder, dict | list)
            for item in (holder.values() if isinstance(holder, dict) else holder)
        ]
        if not level:
            return False
    return any(isinstance(item, dict | list) for item in level)


@cache
def _versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "lydite": __version__}
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found

"""The home of a service: run folders that anybody may make, and a private folder beside them.

    HOME/runs/NAME/...          run folders, also one level or two deeper (``runs/demo-controls/true``)
    HOME/.lydite/               mode 0700
        index.sqlite3           the index; ``lydite index rebuild`` makes it again
        tokens.json             hashes of tokens
        jobs/ID/                job.json, recipe.yaml, tasks.jsonl, status.json, state.json, events.jsonl, log.txt
        files/ID/               file.json, data
        documents/ID.json       task documents of workspaces
        finetuning/ID/          manifest.json, tasks.jsonl: jobs over documents, as these were when it was made
        cards/DIGEST.json       checker cards of tasks that were probed here

What a request names is never a path. A run is known by its slug: its path below ``runs/`` with ``~`` for ``/``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lydite.errors import InputError
from lydite.ledger.files import storage
from lydite.server.errors import NotFoundError

DEPTH = 3
"""Levels below ``runs/`` at which run folders are found."""
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+=@:,-]{0,199}")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class Home:
    """Paths of a home. Makes the private folder.

    Raises:
        StorageError: it cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.runs = self.path / "runs"
        self.private = self.path / ".lydite"
        with storage(self.private):
            self.private.mkdir(mode=0o700, parents=True, exist_ok=True)

    def folder(self, *parts: str) -> Path:
        """A folder below the private one; made when it is not there."""
        for part in parts:
            check_id(part)
        place = self.private.joinpath(*parts)
        with storage(place):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
        return place

    def run_folders(self) -> Iterator[tuple[str, Path]]:
        """Slug and path of every run folder, by name. Symbolic links are not followed below ``runs/``."""
        yield from _runs(self.runs, (), DEPTH)

    def unnamed(self) -> list[str]:
        """Run folders directly below ``runs/`` that are passed over, as their names cannot stand in an address."""
        try:
            names = sorted(entry.name for entry in self.runs.iterdir() if _PART.fullmatch(entry.name) is None)
        except OSError:
            return []
        return [name for name in names if (self.runs / name / "run.json").is_file()]

    def run_folder(self, slug: str) -> Path:
        """The path of a run.

        Raises:
            NotFoundError: no run has this slug.
        """
        parts = slug.split("~")
        place = self.runs
        if len(parts) > DEPTH or any(_PART.fullmatch(part) is None for part in parts):
            raise NotFoundError("run", slug)
        for part in parts:
            place = place / part
            if place.is_symlink():
                raise NotFoundError("run", slug)
        if not (place / "run.json").is_file():
            raise NotFoundError("run", slug)
        return place


def _runs(folder: Path, parts: tuple[str, ...], depth: int) -> Iterator[tuple[str, Path]]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for entry in entries:
        if _PART.fullmatch(entry.name) is None or entry.is_symlink() or not entry.is_dir():
            continue
        here = (*parts, entry.name)
        if (entry / "run.json").is_file():
            yield "~".join(here), entry
        elif depth > 1:
            yield from _runs(entry, here, depth - 1)


def check_id(text: str) -> str:
    """A name that the service itself gives out, fit to be part of a path.

    Raises:
        InputError: it is not.
    """
    if _ID.fullmatch(text) is None:
        raise InputError(f"{text[:80]!r} is no id")
    return text

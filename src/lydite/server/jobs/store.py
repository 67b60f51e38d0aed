"""The folder of a job: what was asked, where it stands, what happened, what it printed.

    job.json       what was asked; never changed
    recipe.yaml    the recipe, and the files that it names
    status.json    where the job stands: written by the service, replaced at once
    state.json     how far the process is: written by the process, replaced at once, about twice a second
    events.jsonl   one line per event; both append, a whole line at a time
    log.txt        what the process printed

An event is known by where its line begins, so a page of events costs the same in a long job as in a short one.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from lydite.codec import canonical
from lydite.errors import InputError
from lydite.ledger.files import Lines, replace, storage, write_all
from lydite.server.errors import RefusedError
from lydite.server.jobs.status import JobEvent, Status

RESERVED = ("job.json", "recipe.yaml", "status.json", "state.json", "events.jsonl", "log.txt")
_BLOCK = 1 << 16
_TAIL = 1 << 18
"""Bytes of a log that are looked at."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """Where a job stands.

    Attributes:
        status: as told to clients.
        asked: what somebody asked of the process that runs, and ``asked_at`` when.
        pid, began: the process; see ``process.began``.
        launches: how often it was begun; ``launched`` when last.
        ooms: ``process.ooms`` at that time.
        finished: when it was over.
        error, error_code, error_param: why it failed.
        result_files: ids of files.
        trained_tokens: how many it learned from.
        order: place in the queue: when it was put there.
    """

    status: Status = Status.QUEUED
    asked: Literal["", "pause", "cancel"] = ""
    asked_at: float = 0.0
    pid: int | None = None
    began: str | None = None
    launches: int = 0
    launched: float | None = None
    ooms: int | None = None
    finished: float | None = None
    error: str | None = None
    error_code: str | None = None
    error_param: str | None = None
    result_files: tuple[str, ...] = ()
    trained_tokens: int | None = None
    order: float = 0.0


class State(msgspec.Struct, frozen=True, kw_only=True):
    """How far the process of a job is.

    Attributes:
        time: of this word; it is renewed about twice a second.
        pid, session: of the process; which of the job's, from 1.
        part, done, total: see ``training.Progress``; ``loading`` and ``validating`` come first.
        share: of the whole job that is done, 0 to 1.
        estimated: when it will be over; ``None`` until that can be told.
        end: how it ended: ``complete``, ``interrupted``, ``failed``; empty while it runs.
        error, code, param: why it failed.
    """

    time: float
    pid: int
    session: int = 1
    part: str = "loading"
    done: int = 0
    total: int = 0
    share: float = 0.0
    estimated: float | None = None
    end: Literal["", "complete", "interrupted", "failed"] = ""
    error: str = ""
    code: str = ""
    param: str | None = None


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    time: float
    level: Literal["info", "warn", "error"] = "info"
    kind: Literal["message", "metrics"] = "message"
    message: str
    data: dict[str, Any] = {}


class JobFolder:
    """The files of one job. ``id`` is the folder's name."""

    def __init__(self, path: Path) -> None:
        self.path, self.id = path, path.name

    def document(self) -> dict[str, Any]:
        """What was asked.

        Raises:
            InputError: ``job.json`` cannot be read.
        """
        try:
            found: dict[str, Any] = msgspec.json.decode((self.path / "job.json").read_bytes(), type=dict)
        except (OSError, msgspec.DecodeError, ValueError) as error:
            raise InputError(f"the job {self.id} cannot be read: {type(error).__name__}") from None
        return found

    def standing(self) -> Standing:
        """Where the job stands; one that was not written down yet is queued."""
        return _read(self.path / "status.json", Standing) or Standing()

    def stand(self, standing: Standing) -> None:
        replace(self.path / "status.json", msgspec.json.encode(standing) + b"\n")

    def state(self) -> State | None:
        """What the process said last."""
        found: State | None = _read(self.path / "state.json", State)
        return found

    def say(self, state: State) -> None:
        """Replace what the process said. Not synced: a word that a power cut loses is of no more use then."""
        draft = self.path / ".state.json.tmp"
        draft.write_bytes(msgspec.json.encode(state) + b"\n")
        os.replace(draft, self.path / "state.json")

    def append(
        self,
        message: str,
        *,
        level: Literal["info", "warn", "error"] = "info",
        kind: Literal["message", "metrics"] = "message",
        data: dict[str, Any] | None = None,
    ) -> None:
        """Write an event, synced.

        Raises:
            StorageError: it could not be written.
        """
        line = canonical(_Line(time=time.time(), level=level, kind=kind, message=message, data=data or {})) + b"\n"
        path = self.path / "events.jsonl"
        with storage(path):
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                size = os.fstat(descriptor).st_size
                if size and os.pread(descriptor, 1, size - 1) != b"\n":  # a full disk cut a line in two
                    line = b"\n" + line
                write_all(descriptor, line)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def events(self, start: int) -> Iterator[tuple[int, JobEvent]]:
        """Events from an offset on, the oldest first, each with the offset behind it."""
        path = self.path / "events.jsonl"
        if not path.exists():
            return
        here = start
        for line in Lines(path, start=start):
            begin, here = here, here + len(line) + 1
            if event := self._event(begin, line):
                yield here, event

    def latest(self, limit: int, after: str | None = None) -> tuple[list[JobEvent], bool]:
        """The newest events, those before ``after``; and whether there are older ones.

        Raises:
            RefusedError: ``after`` is none of this job's.
        """
        path = self.path / "events.jsonl"
        end = path.stat().st_size if path.exists() else 0
        if after is not None:
            end = min(end, self._offset(after))
        start, data = end, b""
        with open(path, "rb") if end else open(os.devnull, "rb") as file:
            while start and data.count(b"\n") < limit + 2:
                start, size = max(0, start - _BLOCK), min(_BLOCK, start)
                file.seek(start)
                data = file.read(size) + data
        lines = data[: data.rfind(b"\n") + 1].split(b"\n")[:-1]
        found: list[JobEvent] = []
        for number, line in enumerate(lines):
            whole = number or not start
            if whole and (event := self._event(start, line)):
                found.append(event)
            start += len(line) + 1
        return found[::-1][:limit], len(found) > limit

    def offset_behind(self, event: str) -> int:
        """Where the line behind an event begins."""
        begin = self._offset(event)
        with open(self.path / "events.jsonl", "rb") as file:
            file.seek(begin)
            return begin + len(file.readline())

    def _event(self, begin: int, line: bytes) -> JobEvent | None:
        try:
            found = msgspec.json.decode(line, type=_Line)
        except (msgspec.DecodeError, ValueError):
            return None
        return JobEvent(
            id=f"ftevent-{self.id[-12:]}{begin:012x}",
            time=found.time,
            level=found.level,
            kind=found.kind,
            message=found.message,
            data=found.data,
        )

    def _offset(self, event: str) -> int:
        found = re.fullmatch(f"ftevent-{re.escape(self.id[-12:])}([0-9a-f]{{12}})", event)
        if found is None:
            raise RefusedError(f"{event[:80]!r} is no event of this job", param="after")
        return int(found[1], 16)

    def log(self, lines: int) -> str:
        """The last lines of what was printed."""
        try:
            with open(self.path / "log.txt", "rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _TAIL))
                text = file.read().decode("utf-8", "replace")
        except FileNotFoundError:
            return ""
        return "\n".join(text.splitlines()[-lines:]) if lines > 0 else ""


def _read(path: Path, kind: Any) -> Any:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError, ValueError):
        return None

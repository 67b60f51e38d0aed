"""Files that clients upload and download, each in a folder of its own below ``files/``.

``data`` is written first and ``file.json`` last: a folder without that is an upload that never ended.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import time
from pathlib import Path
from typing import IO

import msgspec
from sqlalchemy import Engine, delete, insert, select, tuple_

from lydite.codec import well_formed
from lydite.errors import InputError
from lydite.ledger.files import replace, storage
from lydite.server.database.tables import files, jobs
from lydite.server.errors import ApiError, NotFoundError, RefusedError
from lydite.server.home import Home, check_id
from lydite.server.jobs.status import Status
from lydite.server.paging import Page

BLOCK = 1 << 20
STALE = 3600.0
"""Seconds after which an upload that never ended is taken away."""
_BUSY = tuple(status.value for status in Status if not status.over)
_NAMED = ("training_file", "validation_file")


class StoredFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file. ``created`` in seconds since the epoch; ``filename`` is the client's word, never a path of ours."""

    id: str
    created: float
    filename: str
    purpose: str
    bytes: int
    sha256: str


class Files:
    """Blocking; safe from threads. Unknown ids raise ``NotFoundError``."""

    def __init__(self, home: Home, engine: Engine) -> None:
        self.home, self.engine = home, engine

    def add(self, source: IO[bytes], filename: str, purpose: str, *, limit: int) -> StoredFile:
        """Keep a file, read piece by piece.

        Raises:
            ApiError: 413, longer than ``limit`` bytes; nothing is kept.
            StorageError: it cannot be written; nothing is kept.
        """
        name = f"file-{secrets.token_hex(12)}"
        folder = self.home.folder("files", name)
        try:
            size, digest = _copied(source, folder / "data", limit)
            file = StoredFile(
                id=name,
                created=time.time(),
                filename=_filename(filename),
                purpose=purpose,
                bytes=size,
                sha256=digest,
            )
            with storage(folder):
                replace(folder / "file.json", msgspec.json.encode(file))
            with self.engine.begin() as connection:
                connection.execute(insert(files), [msgspec.structs.asdict(file)])
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return file

    def get(self, file: str) -> StoredFile:
        with self.engine.connect() as connection:
            row = connection.execute(select(files).where(files.c.id == file)).first()
        if row is None:
            raise NotFoundError("file", file)
        return StoredFile(**row._mapping)

    def path(self, file: str) -> Path:
        """Where its bytes are."""
        place = self.home.private / "files" / self.get(file).id / "data"
        if not place.is_file():
            raise NotFoundError("file", file)
        return place

    def page(
        self, *, purpose: str | None = None, limit: int = 10_000, after: str | None = None, ascending: bool = False
    ) -> Page[StoredFile]:
        """The newest first, or the oldest.

        Raises:
            RefusedError: there is no file ``after``.
        """
        query = select(files)
        if purpose is not None:
            query = query.where(files.c.purpose == purpose)
        place = tuple_(files.c.created, files.c.id)
        if after is not None:
            try:
                last = self.get(after)
            except NotFoundError as error:
                raise RefusedError(error.message, param="after") from None
            there = tuple_(last.created, last.id)
            query = query.where(place > there if ascending else place < there)
        order = (files.c.created, files.c.id) if ascending else (files.c.created.desc(), files.c.id.desc())
        with self.engine.connect() as connection:
            rows = connection.execute(query.order_by(*order).limit(limit + 1)).all()
        items = tuple(StoredFile(**row._mapping) for row in rows[:limit])
        return Page(items=items, next=items[-1].id if len(rows) > limit else None)

    def delete(self, file: str) -> None:
        """Take a file away.

        Raises:
            RefusedError: a job that is not over was made of it.
        """
        found = self.get(file)
        with self.engine.begin() as connection:
            for job, document in connection.execute(select(jobs.c.id, jobs.c.document).where(jobs.c.status.in_(_BUSY))):
                request = document.get("request") if isinstance(document, dict) else None
                if isinstance(request, dict) and found.id in (request.get(name) for name in _NAMED):
                    raise RefusedError(
                        f"{found.id} is used by {job}, which is not over", param="id", code="file_in_use"
                    )
            connection.execute(delete(files).where(files.c.id == found.id))
        folder = self.home.folder("files", found.id)
        (folder / "file.json").unlink(missing_ok=True)  # first: without it the folder is none of a file
        shutil.rmtree(folder, ignore_errors=True)

    def reload(self) -> int:
        """Fill the table from the folders; how many there are."""
        found = []
        for folder in sorted(self.home.folder("files").iterdir()):
            file = _read(folder)
            if file is not None:
                found.append(msgspec.structs.asdict(file))
            elif folder.is_dir() and time.time() - folder.stat().st_mtime > STALE:
                shutil.rmtree(folder, ignore_errors=True)
        with self.engine.begin() as connection:
            connection.execute(delete(files))
            if found:
                connection.execute(insert(files), found)
        return len(found)


def _copied(source: IO[bytes], target: Path, limit: int) -> tuple[int, str]:
    """Bytes and hash of what was copied."""
    sha256, size = hashlib.sha256(), 0
    with storage(target), open(target, "wb") as file:
        while block := source.read(BLOCK):
            size += len(block)
            if size > limit:
                raise ApiError(413, f"the file is longer than {limit} bytes", param="file", code="too_large")
            sha256.update(block)
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
    return size, sha256.hexdigest()


def _filename(text: str) -> str:
    """A client's name for a file, fit to be shown and sent back: its last part, without control characters."""
    last = well_formed(text).replace("\\", "/").rpartition("/")[2]
    return "".join(char for char in last if char.isprintable())[:255] or "upload"


def _read(folder: Path) -> StoredFile | None:
    try:
        check_id(folder.name)
        file = msgspec.json.decode((folder / "file.json").read_bytes(), type=StoredFile)
    except (OSError, InputError, msgspec.DecodeError):
        return None
    return file if file.id == folder.name and (folder / "data").is_file() else None

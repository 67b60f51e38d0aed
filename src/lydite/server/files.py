"""Files that clients upload and download, each in a folder of its own below ``files/``."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import msgspec
from sqlalchemy import Engine

from lydite.server.home import Home
from lydite.server.paging import Page


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
        """
        raise NotImplementedError

    def get(self, file: str) -> StoredFile:
        raise NotImplementedError

    def path(self, file: str) -> Path:
        """Where its bytes are."""
        raise NotImplementedError

    def page(self, *, purpose: str | None = None, limit: int = 10_000, after: str | None = None) -> Page[StoredFile]:
        """The newest first."""
        raise NotImplementedError

    def delete(self, file: str) -> None:
        raise NotImplementedError

    def reload(self) -> int:
        """Fill the table from the folders; how many there are."""
        raise NotImplementedError

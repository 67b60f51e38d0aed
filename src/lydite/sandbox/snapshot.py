"""A file tree at one moment: what a session leaves behind, what a task sets up, what a folder or an archive holds.

Covered: whatever the source, a snapshot is a tree that could exist (checked names, each once, below folders), so
nothing that is made from it can land outside. An archive with an entry that leads out, through ``..``, an absolute
name, a link, a hard link or a file below a link, is refused as a whole; so is one that unpacks to more than its limit.
A host folder that is read is neither changed nor left; one that is written gets no link that leads out of it.

Not covered: what the files do when somebody opens or runs them; links already in a folder that is exported to with
``overwrite``: nothing is written through them, but a new link may lead through them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Self

import msgspec

from lydite.errors import InputError
from lydite.sandbox import archives
from lydite.sandbox.jail import packing
from lydite.sandbox.jail.packing import Entry, Kind

LIMIT = 256 << 20
"""Bytes of a host folder or an archive, unless told otherwise."""


class Snapshot(msgspec.Struct, frozen=True, dict=True):
    """A file tree at one moment. Made by the ``from_`` methods, which check it.

    Attributes:
        entries: folders, files and symbolic links, ordered by the bytes of their paths.
        skipped: how many things were left out because they are no files (FIFOs, sockets, devices), could not be read,
            or have paths that are too long. Not part of the digest, nor of equality.
    """

    entries: tuple[Entry, ...] = ()
    skipped: int = 0

    def __repr__(self) -> str:
        return f"Snapshot({len(self.entries)} entries, digest {self.digest[:12]})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Snapshot) and self.entries == other.entries

    def __hash__(self) -> int:
        return hash(self.digest)

    @cached_property
    def digest(self) -> str:
        """Hex SHA-256 of the tree: of each entry, in order, a line ``KIND BYTES-OF-PATH BYTES-OF-CONTENT``, the path,
        the content. KIND is d (folder), f (file), x (executable file) or l (symbolic link)."""
        total = hashlib.sha256()
        for entry in self.entries:
            path = os.fsencode(entry.path)
            total.update(f"{entry.kind} {len(path)} {len(entry.data)}\n".encode() + path)
            total.update(entry.data)
        return total.hexdigest()

    @cached_property
    def files(self) -> Mapping[str, bytes]:
        """Regular files: path to content."""
        wanted = (Kind.FILE, Kind.PROGRAM)
        return MappingProxyType({entry.path: entry.data for entry in self.entries if entry.kind in wanted})

    @cached_property
    def links(self) -> Mapping[str, str]:
        """Symbolic links: path to text."""
        links = (entry for entry in self.entries if entry.kind is Kind.LINK)
        return MappingProxyType({entry.path: os.fsdecode(entry.data) for entry in links})

    @classmethod
    def from_pack(cls, data: bytes) -> Self:
        """From what a session packed, or :meth:`to_pack`.

        Raises:
            ValueError: these bytes are something else. A session's bytes come from a process that has no reason to lie,
                but nothing here depends on that.
        """
        entries, skipped = packing.parse(data)
        return cls(tuple(entries), skipped)

    @classmethod
    def from_files(cls, files: Mapping[str, bytes]) -> Self:
        """From path to content, as a task gives them. What starts with ``#!`` is executable.

        Raises:
            InputError: names the path that is none, that comes twice (``a/b`` and ``a//b``), or that is a file and also
                the folder of another.
        """
        entries = []
        for name, data in files.items():
            try:
                kind = Kind.PROGRAM if data.startswith(b"#!") else Kind.FILE  # as a session makes them
                entries.append(Entry(packing.check_path(name), kind, bytes(data)))
            except ValueError as error:
                raise InputError(str(error), field="files") from None
        return cls(closed(entries))

    @classmethod
    def from_directory(cls, path: str | Path, limit: int = LIMIT) -> Self:
        """From a folder of this machine, which stays exactly as it is. Links are kept as links, never followed.

        Raises:
            InputError: it is no folder that can be read, or holds more than ``limit`` bytes.
        """
        from lydite.sandbox.jail import tree  # Linux only, unlike the rest

        try:
            with _opened(path) as root:
                entries, skipped = tree.collect(root, limit, change=False)
        except OSError as error:
            raise InputError(f"cannot be read as a folder of files: {error}", path=path) from None
        return cls(tuple(packing.in_order(entries)), skipped)

    @classmethod
    def from_archive(cls, source: str | Path | bytes, limit: int = LIMIT) -> Self:
        """From a .zip, .tar or .tar.gz: a path, or the bytes themselves.

        Raises:
            InputError: names the entry that leads out, comes twice, is a device or a FIFO, or is damaged; or the
                archive unpacks to more than ``limit`` bytes.
        """
        path = None if isinstance(source, bytes) else source
        try:
            found = cls(closed(archives.read(source if isinstance(source, bytes) else _content(source, limit), limit)))
            out = packing.leading_out(found.links)
            if out:
                raise InputError(f"entry {out[0]!r} is a link that leads out of the archive, or in circles")
        except InputError as error:
            raise error.at(path) from None
        return found

    def to_pack(self) -> bytes:
        """The archive that a session unpacks."""
        return packing.encode(self.entries, self.skipped)

    def export(self, directory: str | Path, overwrite: bool = False) -> list[str]:
        """Write the tree into a folder of this machine, which is made if need be.

        Nothing is written outside of it, whatever links are in the tree or in the folder already.

        Args:
            directory: the folder.
            overwrite: write into a folder that is not empty; what has the same name is replaced.

        Returns: paths of the symbolic links that were left out, since they lead out of the tree.

        Raises:
            InputError: the folder is not empty and ``overwrite`` was not given.
            OSError: it cannot be written; in it, a link or a file has the name of a folder, or a folder that of a file.
        """
        from lydite.sandbox.jail import tree  # Linux only, unlike the rest

        Path(directory).mkdir(parents=True, exist_ok=True)
        left_out = packing.leading_out(self.links)
        unwanted = set(left_out)
        with _opened(directory) as root:
            if not overwrite and tree.listing(root):
                raise InputError("the folder is not empty", path=directory, remedy="name a new one, or overwrite")
            tree.place(root, (entry for entry in self.entries if entry.path not in unwanted))
        return left_out


def closed(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Entries in order, with the folders that they imply.

    Raises:
        InputError: a path comes twice (but for folders), or lies below something that is no folder.
    """
    found: dict[str, Entry] = {}
    for entry in entries:
        before = found.setdefault(entry.path, entry)
        if before is not entry and not before.kind is entry.kind is Kind.FOLDER:
            raise InputError(f"entry {entry.path!r} comes twice")
    for path in list(found):
        while path := packing.parent_of(path):
            above = found.setdefault(path, Entry(path, Kind.FOLDER))
            if above.kind is Kind.LINK:
                raise InputError(f"entry {path!r} is a link, and another lies below it")
            if above.kind is not Kind.FOLDER:
                raise InputError(f"entry {path!r} is a file, and another lies below it")
    return tuple(packing.in_order(found.values()))


def _content(path: str | Path, limit: int) -> bytes:
    try:
        with open(path, "rb") as stream:
            data = stream.read(limit + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}") from None
    if len(data) > limit:
        raise InputError(f"the archive has more than {limit} bytes")
    return data


@contextmanager
def _opened(directory: str | Path) -> Iterator[int]:
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield fd
    finally:
        os.close(fd)

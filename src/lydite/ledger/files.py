"""Durable file operations: append and sync, replace at once, lock. Every failure to write is a ``StorageError``."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from lydite.errors import InputError, StorageError

BLOCK = 1 << 20
"""Bytes per read, 1 MiB: large enough that the cost per line is that of ``bytes.split``, small enough to forget."""


@contextlib.contextmanager
def storage(path: Path) -> Iterator[None]:
    """Turn an ``OSError`` of writing into a ``StorageError`` that says what to do."""
    try:
        yield
    except OSError as error:
        raise storage_error(path, error) from error


def storage_error(path: Path, error: OSError) -> StorageError:
    """What could not be written, why, and what to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        remedy = "free some space"
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        remedy = "make the folder writable"
    else:
        remedy = "mend the storage"
    reason = error.strerror or str(error)
    return StorageError(f"cannot write {path}: {reason} ({remedy}, then run the same command again: it resumes)")


class Appender:
    """A file that only grows. What ``append`` returned from is on disk; what it raised from is not in the file.

    Attributes:
        size: bytes that are known to be good.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with storage(path):
            self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
            self.size = os.fstat(self._fd).st_size

    def append(self, data: bytes, *, sync: bool = True) -> None:
        """Add bytes at the end and sync them to disk.

        Raises:
            StorageError: they could not be written; the file is cut back to its last good length where that works.
        """
        try:
            write_all(self._fd, data)
            if sync:
                os.fsync(self._fd)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, self.size)
                os.fsync(self._fd)
            raise storage_error(self.path, error) from error
        self.size += len(data)

    def cut(self, size: int) -> None:
        """Drop everything after ``size`` bytes."""
        with storage(self.path):
            os.ftruncate(self._fd, size)
            os.fsync(self._fd)
        self.size = size

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def replace(path: Path, data: bytes) -> None:
    """Put ``data`` in the place of a file, at once and durably: a reader sees the old bytes or the new ones."""
    draft = path.with_name(f".{path.name}.tmp")
    with storage(path):
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
            try:
                write_all(descriptor, data)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            os.replace(draft, path)
        except OSError:  # no room: half a draft would take some
            with contextlib.suppress(OSError):
                draft.unlink()
            raise
    sync_folder(path.parent)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of ``data``, however little the system takes at a time."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    with storage(folder):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class Lock:
    """The right to write a run folder: one process at a time. The kernel lets go of it when the process dies."""

    def __init__(self, folder: Path) -> None:
        path = folder / ".lock"
        with storage(path):
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._fd)
            raise InputError(
                "this run is in use by another process", path=folder, remedy="wait for it, or give another folder"
            ) from None
        except OSError as error:
            os.close(self._fd)
            raise storage_error(path, error) from error

    def release(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def open_regular(path: Path) -> io.FileIO:
    """Open a file to read it; what is no file (a pipe, a folder, a device) would block or never end.

    Raises:
        OSError: as of ``open``.
        InputError: it is no regular file.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InputError("is no regular file", path=path, remedy="put the run's own file back")
    return io.FileIO(descriptor, "rb")


class Lines:
    """The complete lines of a file, without their newlines, read in large blocks.

    Attributes:
        tail: after iteration, the bytes that follow the last newline.
        size: after iteration, the number of bytes read, ``tail`` included.
    """

    def __init__(self, path: Path, *, start: int = 0) -> None:
        self.path, self._start = path, start
        self.tail = b""
        self.size = start

    def __iter__(self) -> Iterator[bytes]:
        for block in self.blocks():
            yield from block

    def blocks(self) -> Iterator[list[bytes]]:
        """Lists of lines, one per block that was read."""
        try:
            file = open_regular(self.path)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", path=self.path) from error
        pieces: list[bytes] = []
        with file:
            file.seek(self._start)
            while data := file.read(BLOCK):
                self.size += len(data)
                if b"\n" not in data:
                    pieces.append(data)
                    continue
                lines = b"".join((*pieces, data)).split(b"\n")
                pieces = [lines.pop()]
                yield lines
        self.tail = b"".join(pieces)

"""Where `lydite verify` writes: whole lines, one writer, nothing torn."""

from __future__ import annotations

import fcntl
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

from lydite.errors import InputError, StorageError

HELD_SECONDS = 0.5
"""How long lines may wait for others to be written with."""


class Sink:
    """Whole lines, in large writes; a write that fails half-way is taken back to the last whole line."""

    def __init__(self, output: str) -> None:
        self._buffer = bytearray()
        self._path = None if output == "-" else Path(output)
        self._file: IO[bytes] | None = None
        self._done = 0
        self._due = 0.0
        if self._path is not None:
            try:
                self._file = _locked(self._path)
            except FileNotFoundError:
                remedy = "make it first, or write elsewhere"
                raise InputError(
                    f"no such folder: {self._path.parent}", path=output, field="-o", remedy=remedy
                ) from None
            except OSError as error:
                remedy = "write elsewhere"
                raise InputError(f"cannot be written: {error.strerror}", path=output, remedy=remedy) from None
        elif sys.__stdout__ is None:
            raise InputError("is closed", path="standard output", remedy="name a file: -o OUT.jsonl")
        self._lazy = self._file is not None or not sys.stdout.isatty()
        self._standard = _StandardOutput() if self._path is None else None

    def write(self, line: bytes) -> None:
        """Write lines, at once or soon: a disk that is full is told, and a run that is killed keeps what it found."""
        self._buffer += line
        if not self._lazy or len(self._buffer) >= 1 << 16 or time.monotonic() >= self._due:
            self.flush()

    def flush(self) -> None:
        """Write what is held back."""
        self._due = time.monotonic() + HELD_SECONDS
        data, self._buffer = bytes(self._buffer), bytearray()
        if not data:
            return
        if self._standard is not None:
            self._standard.write(data)
            return
        assert self._file is not None
        try:
            written = 0
            while written < len(data):
                written += self._file.write(data[written:]) or 0
        except OSError as error:
            whole = data[:written].rfind(b"\n") + 1
            with suppress(OSError):  # not a regular file: nothing to take back
                os.ftruncate(self._file.fileno(), self._done + whole)
            raise StorageError(f"{self._path}: {error.strerror}; what is there ends with a whole line") from None
        self._done += len(data)

    def close(self) -> None:
        try:
            self.flush()
        finally:
            if self._file is not None:
                self._file.close()
            if self._standard is not None:
                self._standard.close()


class _StandardOutput:
    """Standard output for our lines alone: until it is closed, what a verifier prints goes to standard error."""

    def __init__(self) -> None:
        sys.stdout.flush()
        try:
            self._fd: int | None = sys.stdout.fileno()
            self._own = os.dup(self._fd)
        except (OSError, ValueError):  # replaced by something that is no file
            self._fd = None
            return
        with suppress(OSError, ValueError):
            os.dup2(sys.stderr.fileno(), self._fd)

    def write(self, data: bytes) -> None:
        try:
            if self._fd is None:
                sys.stdout.buffer.write(data)
                sys.stdout.buffer.flush()
                return
            written = 0
            while written < len(data):
                written += os.write(self._own, data[written:])
        except BrokenPipeError:
            raise
        except OSError as error:
            raise StorageError(f"standard output: {error.strerror}") from None

    def close(self) -> None:
        if self._fd is None:
            return
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os.dup2(self._own, self._fd)
        os.close(self._own)


def _locked(path: Path) -> IO[bytes]:
    """The file, empty and ours alone: two processes that write one output would tear each other's lines.

    Raises:
        InputError: another process is writing it.
    """
    file = open(path, "ab", buffering=0)  # noqa: SIM115 (closed by the sink)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise InputError("is being written by another process", path=path, remedy="name another output") from None
    if path.is_file():  # a device has nothing to empty
        file.truncate(0)
    return file

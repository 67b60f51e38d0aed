"""Where `lydite verify` writes: whole lines, one writer, nothing torn."""

from __future__ import annotations

import fcntl
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

from lydite.errors import InputError, StorageError


class Sink:
    """Whole lines, in large writes; a write that fails half-way is taken back to the last whole line."""

    def __init__(self, output: str) -> None:
        self._buffer = bytearray()
        self._path = None if output == "-" else Path(output)
        self._file: IO[bytes] | None = None
        self._done = 0
        if self._path is not None:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = _locked(self._path)
            except OSError as error:
                raise InputError(f"cannot be written: {error.strerror}", path=output) from None
        self._lazy = self._file is not None or not sys.stdout.isatty()

    def write(self, line: bytes) -> None:
        self._buffer += line
        if not self._lazy or len(self._buffer) >= 1 << 16:
            self.flush()

    def flush(self) -> None:
        data, self._buffer = bytes(self._buffer), bytearray()
        if not data:
            return
        if self._file is None:
            try:
                sys.stdout.buffer.write(data)
                sys.stdout.buffer.flush()
            except BrokenPipeError:
                raise
            except OSError as error:
                raise StorageError(f"standard output: {error.strerror}") from None
            return
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

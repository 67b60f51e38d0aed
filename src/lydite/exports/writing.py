"""Writing rows to a file that is either the old one or the whole new one, never a part."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from lydite.codec import canonical
from lydite.errors import InputError, StorageError
from lydite.exports.formats import Document


def write_rows(rows: Iterable[Document], path: Path) -> int:
    """Write rows as JSON lines to a neighbour of ``path``, sync it, and rename it into place. Returns how many.

    Raises:
        InputError: the folder does not exist, or ``path`` is something else than a file.
        StorageError: the disk is full or the folder not writable; ``path`` is untouched.
    """
    if path.exists() and not path.is_file():
        raise InputError("is not a regular file", path=path, remedy="name a file")
    if not path.parent.is_dir():
        raise InputError("its folder does not exist", path=path, remedy=f"mkdir -p {path.parent}")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    count = 0
    try:
        with temporary.open("wb") as file:
            for row in rows:
                file.write(canonical(row) + b"\n")
                count += 1
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise StorageError(f"{path}: cannot write: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)
    return count

"""Write task files: one document a line."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from lydite.errors import InputError, StorageError
from lydite.task import Task
from lydite.tasksets.documents import task_document


def write_tasks(path: str | Path, tasks: Iterable[Task]) -> int:
    """Write ``.jsonl`` or ``.jsonl.gz``; the file is replaced whole or not at all, and equal tasks give equal bytes.

    Returns:
        How many were written.

    Raises:
        InputError: another kind of file was named.
        StorageError: the file cannot be written.
    """
    path = Path(path)
    if not path.name.endswith((".jsonl", ".jsonl.gz")):
        raise InputError("tasks are written as JSON lines", path=path, remedy="name a file that ends in .jsonl")
    count, temporary = 0, None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as raw:
            out = gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) if path.suffix == ".gz" else raw
            for task in tasks:
                out.write(json.dumps(task_document(task), ensure_ascii=False).encode() + b"\n")
                count += 1
            if out is not raw:
                out.close()
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        raise StorageError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        if temporary is not None:
            os.unlink(temporary)
    return count


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask

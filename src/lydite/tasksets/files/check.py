"""What must stand in a workspace after a task of the family ``files``: the end of each checker's script.

In front of it stand ``CHANGES`` and ``KEPT``, lists of demands such as ``["text", "a.txt", "red"]``. The score is the
share of changes that are met, and 0 where anything that was to be kept is not as it was. Nothing of the workspace is
imported; programs of the candidate's run in processes of their own, on inputs that it has not seen.
"""

import csv
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

CHANGES: list[list[Any]] = []  # left out of the script
KEPT: list[list[Any]] = []  # left out of the script

LARGEST = 1 << 20  # bytes of a file that is looked at


def read(path: str) -> str:
    """The text of a regular file, without the white space at its end.

    Raises:
        ValueError: there is none, or it is none of ours: too large, or no text.
    """
    file = Path(path)
    if file.is_symlink() or not file.is_file() or file.stat().st_size > LARGEST:
        raise ValueError(path)
    return file.read_text(encoding="utf-8").rstrip()


def printed(path: str, words: list[str], given: str) -> str:
    """What a Python program prints on standard output, without the white space at its end. A word ``@`` stands for the
    name of a file that holds ``given``, which otherwise is its standard input.

    Raises:
        ValueError: it fails, or never ends.
    """
    read(path)
    if "@" in words:
        handle, name = tempfile.mkstemp()
        os.write(handle, given.encode())
        os.close(handle)
        words, given = [name if word == "@" else word for word in words], ""
    command = ["python3", "-I", path, *words]
    try:
        done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=5, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise ValueError(path) from None
    if done.returncode != 0:
        raise ValueError(path)
    return done.stdout.rstrip()


def met(kind: str, path: str, *wanted: Any) -> bool:
    """Whether a demand is met. What cannot be read meets none."""
    try:
        if kind == "text":
            return bool(read(path) == wanted[0])
        if kind == "json":
            have = json.loads(read(path))
            return json.dumps(have, sort_keys=True) == json.dumps(wanted[0], sort_keys=True)
        if kind == "csv":
            return bool([row for row in csv.reader(read(path).splitlines()) if row] == wanted[0])
        if kind == "gone":
            return not os.path.lexists(path)
        if kind == "names":
            return bool(sorted(os.listdir(path)) == wanted[0])
        if kind == "folder":
            return os.path.isdir(path) and not os.path.islink(path)
        if kind == "all":
            return all(met(*demand) for demand in wanted[0])
        if kind == "prints":
            return all(printed(path, words, given) == said for words, given, said in wanted[0])
    except (OSError, ValueError, RecursionError):
        return False
    raise AssertionError(kind)


def score(changes: list[list[Any]], kept: list[list[Any]]) -> float:
    """From 0 to 1."""
    if not all(met(*demand) for demand in kept):
        return 0.0
    return sum(met(*demand) for demand in changes) / len(changes)


if __name__ == "__main__":
    print(score(CHANGES, KEPT))

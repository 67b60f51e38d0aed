"""Paths of files in a workspace: what a document may name, told before anything runs.

The sandbox has the last word on every path (``lydite.sandbox.jail.packing.check_path``); this is its rule, without its
modules, for those who write documents. A test holds the two together.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

PATH_BYTES = 4095
"""The longest path that the kernel takes (PATH_MAX without its NUL)."""
NAME_BYTES = 255
"""The longest name of a file (NAME_MAX)."""
DEEPEST = 256
"""The most components of a path in a workspace."""


def normal(path: str) -> str:
    """The one spelling of a path inside a workspace: ``a//b/./c`` is ``a/b/c``.

    Raises:
        ValueError: it names no file, or none inside the workspace; says why.
    """
    try:
        raw = os.fsencode(path)
    except UnicodeEncodeError:
        raise ValueError("no file can have this name") from None
    if b"\0" in raw:
        raise ValueError("a path holds no NUL")
    if raw.startswith(b"/"):
        raise ValueError("leads out of the workspace: it is absolute")
    parts = [part for part in raw.split(b"/") if part not in (b"", b".")]
    if b".." in parts:
        raise ValueError("leads out of the workspace: it holds '..'")
    if not parts:
        raise ValueError("names no file")
    if len(b"/".join(parts)) > PATH_BYTES or len(parts) > DEEPEST or max(map(len, parts)) > NAME_BYTES:
        raise ValueError(f"is longer than {PATH_BYTES} bytes, {DEEPEST} names, or {NAME_BYTES} bytes in one name")
    return os.fsdecode(b"/".join(parts))


def normal_file(path: str) -> str:
    """As :func:`normal`, for a file: a path that ends like a folder's is none.

    Raises:
        ValueError: says why.
    """
    found = normal(path)
    if path.rpartition("/")[2] in ("", "."):
        raise ValueError("ends like the path of a folder")
    return found


def clash(paths: Iterable[str]) -> tuple[str, str] | None:
    """Two of these normal paths that cannot both be files: an equal pair, or one that lies below the other."""
    found: set[str] = set()
    for path in paths:
        if path in found:
            return path, path
        found.add(path)
    for path in found:
        above = path.rpartition("/")[0]
        while above:
            if above in found:
                return above, path
            above = above.rpartition("/")[0]
    return None

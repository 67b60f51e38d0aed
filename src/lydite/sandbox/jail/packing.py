"""A file tree as bytes: what names are allowed in it, and one archive format that says nothing but the tree.

Covered: every name that comes in from outside is checked here; bytes that are no archive, or one that no tree could
have made (names that lead out, a file below a file or a link, a name twice, sizes that are not there), raise
``ValueError`` before anything is written; a link is told to lead out even where it does so through other links.
Not covered: what the files mean to whoever opens them.

Kept of a tree: folders, regular files and whether their owner may execute them, symbolic links as their text. Not kept:
times, owners, other modes, extended attributes, hard links (each becomes a file of its own).

Names are bytes on disk and text here (``os.fsdecode``: what is no UTF-8 becomes lone surrogates and comes back).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

PATH_BYTES = 4095
"""The longest path that the kernel takes (PATH_MAX without its NUL)."""
DEEPEST = 256
"""The most components of a path. Nobody builds such a folder in earnest, and every walk stays short."""

_MAGIC = b"lydite tree 1\n"
_HEAD = struct.Struct(">cIQ")  # kind, bytes of the path, bytes of the content
_END = b"."  # the last record: no path, and in place of a size the number of files that were skipped
_HOPS = 40  # the kernel follows no more links than this in one path (MAXSYMLINKS)
_STEPS = 1024  # components on the way; no honest link has more


class Kind(StrEnum):
    """What an entry is."""

    FOLDER = "d"
    FILE = "f"
    PROGRAM = "x"  # a file that its owner may execute
    LINK = "l"


class Entry(NamedTuple):
    """One file, folder or link. ``data`` is the content of a file, the text of a link, nothing for a folder."""

    path: str
    kind: Kind
    data: bytes = b""


def check_path(path: str) -> str:
    """The normal spelling of a path inside a tree: ``a//b/./c/`` is ``a/b/c``.

    Raises:
        ValueError: it is empty, absolute, holds ``..`` or a NUL, has no spelling in bytes, is too long or too deep.
    """
    try:
        raw = os.fsencode(path)
    except UnicodeEncodeError:
        raise ValueError(f"{path!r}: no file can have this name") from None
    if b"\0" in raw:
        raise ValueError(f"{path!r}: a path holds no NUL")
    if raw.startswith(b"/"):
        raise ValueError(f"{path!r}: a path is relative to the workspace")
    parts = [part for part in raw.split(b"/") if part not in (b"", b".")]
    if b".." in parts:
        raise ValueError(f"{path!r}: a path must not hold '..'")
    if not parts:
        raise ValueError(f"{path!r} names no file")
    normal = b"/".join(parts)
    if len(normal) > PATH_BYTES or len(parts) > DEEPEST:
        raise ValueError(f"{path[:40]!r}...: a path has at most {PATH_BYTES} bytes and {DEEPEST} components")
    return os.fsdecode(normal)


def parent_of(path: str) -> str:
    """The folder of a checked path, "" for the tree itself."""
    return path.rpartition("/")[0]


def in_order(entries: Iterable[Entry]) -> list[Entry]:
    """Entries in the one order that there is: by the bytes of their paths, so that a folder precedes what it holds."""
    return sorted(entries, key=lambda entry: os.fsencode(entry.path))


def encode(entries: Iterable[Entry], skipped: int = 0) -> bytes:
    """The archive of these entries. Equal trees have equal bytes.

    Args:
        entries: with checked paths, each once, each below folders that are entries too.
        skipped: how many files were left out.
    """
    parts = [_MAGIC]
    for entry in in_order(entries):
        path = os.fsencode(entry.path)
        parts += (_HEAD.pack(entry.kind.encode(), len(path), len(entry.data)), path, entry.data)
    parts.append(_HEAD.pack(_END, 0, skipped))
    return b"".join(parts)


def size_of(entry: Entry) -> int:
    """Bytes that an entry takes in an archive."""
    return _HEAD.size + len(os.fsencode(entry.path)) + len(entry.data)


def parse(data: bytes) -> tuple[list[Entry], int]:
    """The entries of an archive, in order, and how many files were left out when it was made.

    Raises:
        ValueError: these bytes are no archive that :func:`encode` makes.
    """
    if not data.startswith(_MAGIC):
        raise ValueError("no packed tree: it starts with something else")
    entries: list[Entry] = []
    folders, last, at = {b""}, b"", len(_MAGIC)
    while True:
        if at + _HEAD.size > len(data):
            raise ValueError("the packed tree is cut off")
        kind, length, size = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        if kind == _END:
            if length or at != len(data):
                raise ValueError("the packed tree goes on behind its end")
            return entries, size
        if length > PATH_BYTES or at + length + size > len(data):
            raise ValueError("the packed tree is cut off")
        path, content = data[at : at + length], data[at + length : at + length + size]
        at += length + size
        entry = _checked(path, kind, content)
        if path <= last:
            raise ValueError(f"{entry.path!r} comes twice, or out of order")
        if path.rpartition(b"/")[0] not in folders:
            raise ValueError(f"{entry.path!r} lies in no folder of the packed tree")
        if entry.kind is Kind.FOLDER:
            folders.add(path)
        entries.append(entry)
        last = path


def _checked(path: bytes, kind: bytes, content: bytes) -> Entry:
    name = os.fsdecode(path)
    if os.fsencode(check_path(name)) != path:
        raise ValueError(f"{name!r} is not spelled as a packed tree spells it")
    entry = Entry(name, Kind(kind.decode("latin-1")), content)
    check_content(entry)
    return entry


def check_content(entry: Entry) -> None:
    """Raise ``ValueError`` for a folder with content, and for a link whose text no link can have."""
    if entry.kind is Kind.FOLDER and entry.data:
        raise ValueError(f"{entry.path!r} is a folder and has content")
    if entry.kind is Kind.LINK and (not 0 < len(entry.data) <= PATH_BYTES or b"\0" in entry.data):
        raise ValueError(f"{entry.path!r} is a link to nothing that has a name")


class _Node(dict[str, "_Node"]):
    """A folder on the way to links, or (``text``) a link."""

    text: str | None = None


def leading_out(links: Mapping[str, str]) -> list[str]:
    """Which of these symbolic links (path to text) lead out of the tree that they lie in, sorted.

    Links are resolved as the kernel does it, through one another: ``x/up -> ..`` and ``y -> x/up/..`` look harmless
    each for itself. What does not exist counts as a folder. A link with more than 40 others or 1,024 components behind
    it, a loop too, counts as leading out: not every program gives up where the kernel does.
    """
    top = _Node()
    for path, text in links.items():
        node = top
        for part in path.split("/"):
            node = node.setdefault(part, _Node())
        node.text = text
    return sorted(path for path in links if _leads_out(path, top))


def _leads_out(path: str, top: _Node) -> bool:
    nothing = _Node()
    where, todo = [top], path.split("/")[::-1]
    hops = steps = 0
    while todo:
        part = todo.pop()
        steps += 1
        if part == "..":
            where.pop()
            if not where:
                return True
        elif part not in ("", "."):
            node = where[-1].get(part, nothing)
            if node.text is None:
                where.append(node)
                continue
            hops += 1
            if hops > _HOPS or steps + len(todo) > _STEPS or node.text.startswith("/"):
                return True
            todo += node.text.split("/")[::-1]
    return False

"""A few files as one text, for examples: ``-- path --`` on a line of its own, then the content.

``-- path -> target --`` is a symbolic link. What stands before the first such line is no file. The form is that of
txtar (https://pkg.go.dev/golang.org/x/tools/txtar), with links.
"""

from __future__ import annotations

import re

from lydite.codec import well_formed
from lydite.errors import InputError
from lydite.sandbox import Snapshot
from lydite.sandbox.jail.packing import Entry, Kind, check_path
from lydite.sandbox.snapshot import closed

_HEAD = re.compile(r"-- (\S+)(?: -> (\S+))? --")


def state_of(text: str, files: dict[str, str]) -> Snapshot:
    """The state that consists of ``files`` and, over them, of what a text holds. A path that is none is left out, and
    so is what does not fit to what came before it: any text is some state."""
    contents: dict[str, list[str]] = {}
    links: dict[str, str] = {}
    at: str | None = None
    for line in well_formed(text).split("\n"):
        head = _HEAD.fullmatch(line)
        if head is None:
            if at is not None:
                contents[at].append(line)
            continue
        at = None
        try:
            path = check_path(head[1])
        except ValueError:
            continue
        if head[2] is None:
            at = path
            contents[path] = []
        else:
            links[path] = head[2]
    found = {path: Entry(path, Kind.FILE, data.encode()) for path, data in files.items()}
    found |= {path: Entry(path, _kind(lines), "\n".join(lines).encode()) for path, lines in contents.items()}
    found |= {path: Entry(path, Kind.LINK, target.encode()) for path, target in links.items()}
    tree: tuple[Entry, ...] = ()
    for entry in found.values():
        try:
            tree = closed([*tree, entry])
        except InputError:
            continue
    return Snapshot(tree)


def _kind(lines: list[str]) -> Kind:
    return Kind.PROGRAM if lines and lines[0].startswith("#!") else Kind.FILE

"""Gold that lies in a workspace's history rather than in its files: blobs of git, compiled Python files.

Covered: every blob of a repository, reachable or not, loose or packed, by its name (git names content by its hash, so
nothing has to be unpacked or run); with the line ends and the last newline as people write them. Compiled files whose
source is gone, by the name of the module. Not covered: a solution that was changed by a word; other archives.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

_LOOSE = re.compile(r"(?:^|/)objects/([0-9a-f]{2})/([0-9a-f]{38}|[0-9a-f]{62})$")
_COMPILED = re.compile(r"([^/]+?)\.(?:cpython-\w+(?:\.opt-\d)?\.)?pyc$")
_INDEX = b"\xfftOc\x00\x00\x00\x02"
"""How an index of a pack begins, version 2."""
_FAN = len(_INDEX) + 4 * 256


def buried(files: Mapping[str, bytes], texts: Mapping[str, str]) -> Iterator[str]:
    """What is found of some texts in the history that a workspace holds, a sentence each.

    Args:
        files: of the workspace: path to content.
        texts: gold: the path it would have, to its text.
    """
    kept = frozenset(_blobs(files))
    compiled = {match[1]: path for path in files if (match := _COMPILED.search(path))}
    for name, text in texts.items():
        if kept and not kept.isdisjoint(_names(text)):
            yield f"{name} is in the history of git"
        stem = PurePosixPath(name).stem
        if name.endswith(".py") and name not in files and stem in compiled:
            yield f"{compiled[stem]} is {name}, compiled"


def _blobs(files: Mapping[str, bytes]) -> Iterator[str]:
    for path, data in files.items():
        if found := _LOOSE.search(path):
            yield found[1] + found[2]
        elif path.endswith(".idx") and data.startswith(_INDEX):
            yield from _packed(data)


def _packed(index: bytes) -> Iterator[str]:
    """Names in the index of a pack (git's Documentation/gitformat-pack)."""
    count = int.from_bytes(index[_FAN - 4 : _FAN], "big")
    # Behind the names: 4 bytes of checksum and 4 of offset each, and two hashes at the end.
    width = 32 if len(index) >= _FAN + count * 40 + 64 else 20
    for at in range(_FAN, min(_FAN + count * width, len(index) - width + 1), width):
        yield index[at : at + width].hex()


def _names(text: str) -> Iterable[str]:
    """What git calls a text, as it is and with other ends."""
    body = text.strip()
    lines = {text, body, f"{body}\n", f"{body}\n\n", text.rstrip() + "\n"}
    for content in lines | {line.replace("\n", "\r\n") for line in lines}:
        data = content.encode("utf-8", "replace")
        blob = b"blob %d\0%b" % (len(data), data)
        yield hashlib.sha1(blob, usedforsecurity=False).hexdigest()
        yield hashlib.sha256(blob).hexdigest()

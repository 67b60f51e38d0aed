"""What a sandbox may leave on a machine: processes, mounts, control groups, folders, sockets."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Traces(NamedTuple):
    processes: frozenset[str]
    mounts: frozenset[str]
    groups: frozenset[str]
    folders: frozenset[str]
    descriptors: frozenset[str]

    def __sub__(self, other: Traces) -> Traces:
        return Traces(*(mine - theirs for mine, theirs in zip(self, other, strict=True)))

    def __bool__(self) -> bool:
        return any(self)


def traces() -> Traces:
    """Everything that is there now and could be of a sandbox of this process, or of a child of it."""
    tree = _tree()
    return Traces(
        processes=frozenset(
            f"{pid} {name}"
            for pid, (parent, name, uid) in tree.items()
            if (name.startswith("lydite-") or uid >= 0x70000000) and not _anothers(tree, pid)
        ),
        mounts=frozenset(Path("/proc/self/mounts").read_text().splitlines()),
        groups=frozenset(
            os.path.join(parent, name)
            for parent, names, _ in os.walk("/sys/fs/cgroup")
            for name in names
            if name.startswith("lydite-") and not _anothers(tree, int(name.split("-")[2]))
        ),
        folders=frozenset(
            name
            for name in os.listdir(tempfile.gettempdir())
            if len(parts := name.split("-")) == 4
            and parts[0] == "lydite"
            and parts[1].isdigit()
            and not _anothers(tree, int(parts[1]))
        ),
        descriptors=frozenset(_descriptors()),
    )


def _tree() -> dict[int, tuple[int, str, int]]:
    """Parent, name and owner of every process."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                command, _, rest = Path(f"/proc/{name}/stat").read_text().partition("(")[2].rpartition(")")
                if rest.split()[0] == "Z":
                    continue  # gone, and its parent has not looked yet
                found[int(name)] = (int(rest.split()[1]), command, os.stat(f"/proc/{name}").st_uid)
            except OSError:
                continue
    return found


def _anothers(tree: dict[int, tuple[int, str, int]], pid: int) -> bool:
    """Whether it belongs to a keeper that somebody else has started and who is still there."""
    while pid in tree:
        if pid == os.getpid():
            return False
        parent, name, _ = tree[pid]
        if name == "lydite-keeper" and parent in tree and parent > 1:
            return not _below(tree, parent, os.getpid())
        pid = parent
    return False


def _below(tree: dict[int, tuple[int, str, int]], pid: int, ancestor: int) -> bool:
    while pid in tree and pid != ancestor:
        pid = tree[pid][0]
    return pid == ancestor


def _descriptors() -> list[str]:
    found = []
    for fd in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{fd}")
        except OSError:
            continue
        if target.startswith(("socket:", "/memfd:")):
            found.append(target)
    return found


def until(condition: Callable[[], bool], patience_s: float = 10.0) -> bool:
    """Wait for something that should come soon; say whether it came."""
    end = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True

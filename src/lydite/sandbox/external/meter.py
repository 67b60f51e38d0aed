"""What a job uses, read from /proc and from its folders at intervals, for tools that count less than we promise.

Covered: resident memory of all its processes together (pages that several share count once when it gets near the
limit), processor time of all that live or were waited for, threads, bytes and number of files in the writable folders,
and files that were removed but are still open. Not covered: what happens between two looks (memory that is taken at 2
GB/s overshoots by what fits into one interval, and so does a disk); pages of a memory file that nobody maps (the system
call filter refuses these files); a removed file that is only mapped.

Standard library only, and every function answers with less, not with an error, where there is no /proc.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class Use(NamedTuple):
    """Of a tree of processes: threads, bytes of resident memory, seconds of processor time."""

    tasks: int = 0
    memory: int = 0
    cpu: float = 0.0

    def beyond(self, base: Use) -> Use:
        """What is used more than before."""
        return Use(max(0, self.tasks - base.tasks), max(0, self.memory - base.memory), max(0.0, self.cpu - base.cpu))

    def most(self, other: Use) -> Use:
        """The larger of each."""
        return Use(max(self.tasks, other.tasks), max(self.memory, other.memory), max(self.cpu, other.cpu))


class Files(NamedTuple):
    """Of the writable folders: bytes on disk, number of files and folders, bytes of the largest file."""

    size: int = 0
    number: int = 0
    largest: int = 0


def descendants(pid: int) -> list[int]:
    """The processes below this one, itself excluded."""
    found: list[int] = []
    pending = [pid]
    while pending:
        for child in _children(pending.pop()):
            if child not in found:
                found.append(child)
                pending.append(child)
    return found


def _children(pid: int) -> Iterator[int]:
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{task}/children", "rb", 0) as file:
                yield from map(int, file.read().split())
    except OSError:
        return


def use(pids: Iterable[int], limit: int) -> Use:
    """What these processes use now. Shared pages are told apart only where the plain sum is above ``limit`` bytes."""
    pids = tuple(pids)
    tasks, memory, ticks = 0, 0, 0
    for pid in pids:
        with suppress(OSError, ValueError), open(f"/proc/{pid}/stat", "rb", 0) as file:
            fields = file.read().rpartition(b")")[2].split()  # from field 3 (state) of proc_pid_stat(5) on
            ticks += sum(map(int, fields[11:15]))
            tasks += int(fields[17])
            memory += int(fields[21]) * _PAGE
    if memory > limit:
        memory = sum(_proportional(pid) for pid in pids)
    return Use(tasks, memory, ticks / _TICKS)


def _proportional(pid: int) -> int:
    """Bytes, each page divided by the processes that share it; the resident size where that cannot be read."""
    with suppress(OSError, ValueError), open(f"/proc/{pid}/smaps_rollup", "rb", 0) as file:
        for line in file.read().splitlines():
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) << 10
    with suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/statm", "rb", 0) as file:
        return int(file.read().split()[1]) * _PAGE
    return 0


def files(folders: Iterable[str], most: int) -> Files:
    """Look through folders, without following links, until more than ``most`` entries were found."""
    size, number, largest = 0, 0, 0
    pending = list(folders)
    while pending and number <= most:
        with suppress(OSError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                number += 1
                if number > most:
                    break
                with suppress(OSError):
                    found = entry.stat(follow_symlinks=False)
                    size += _bytes(found)
                    if stat.S_ISDIR(found.st_mode):
                        pending.append(entry.path)
                    elif stat.S_ISREG(found.st_mode):
                        largest = max(largest, found.st_size)
    return Files(size, number, largest)


def removed(pids: Iterable[int], device: int) -> int:
    """Bytes of the files of this device that have no name any more and are open in one of these processes."""
    found: dict[int, int] = {}
    for pid in pids:
        with suppress(OSError):
            for number in os.listdir(f"/proc/{pid}/fd"):
                with suppress(OSError):
                    held = os.stat(f"/proc/{pid}/fd/{number}")
                    if held.st_nlink == 0 and held.st_dev == device and stat.S_ISREG(held.st_mode):
                        found[held.st_ino] = _bytes(held)
    return sum(found.values())


def memory_files(pids: Iterable[int]) -> int:
    """Bytes of the memory files that these processes hold: where a kernel in user space keeps its programs' memory."""
    found: dict[int, int] = {}
    for pid in pids:
        with suppress(OSError):
            for number in os.listdir(f"/proc/{pid}/fd"):
                path = f"/proc/{pid}/fd/{number}"
                with suppress(OSError):
                    if os.readlink(path).startswith("/memfd:"):
                        held = os.stat(path)
                        found[held.st_ino] = _bytes(held)
    return sum(found.values())


def _bytes(found: os.stat_result) -> int:
    """Blocks in use: a sparse file takes none. Windows does not count them."""
    blocks = getattr(found, "st_blocks", None)
    return found.st_size if blocks is None else int(blocks) * 512

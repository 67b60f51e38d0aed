"""One cgroup, v1 or v2: limits on the memory and the processes of a whole job, and the counters that explain its end.

Covered: every process in the group, and all that it forks, together. The descriptors of :meth:`Group.open` still serve
a process that has dropped root and entered namespaces since; each reading is one ``pread``.

Not covered: processor shares and disk bandwidth; groups made inside a group. Who can write to the cgroup tree, or
inherits one of :attr:`Group.fds`, can lift the limits. Memory charged before a process joins stays charged elsewhere.

Where it was run: see :mod:`cgroups`. Source: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/{memory,pids}.rst of
Linux.
"""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Iterable
from contextlib import nullcontext, suppress
from typing import NamedTuple

# What Group.open opens: key, controller, names under v1 and v2, flags, whether the group can do without.
_FILES = (
    ("limit", "memory", "memory.limit_in_bytes", "memory.max", os.O_WRONLY, False),
    ("swap", "memory", "memory.memsw.limit_in_bytes", None, os.O_WRONLY, True),
    ("kills", "memory", "memory.oom_control", "memory.events", os.O_RDONLY, False),
    ("hits", "memory", "memory.failcnt", None, os.O_RDONLY, False),
    ("peak", "memory", "memory.max_usage_in_bytes", "memory.peak", os.O_RDWR, True),
    ("pids", "pids", "pids.max", "pids.max", os.O_WRONLY, False),
    ("forks", "pids", "pids.events", "pids.events", os.O_RDONLY, False),
    ("cpu", "cpu", "cpuacct.usage", "cpu.stat", os.O_RDONLY, False),
)
# Written once, where present: nothing escapes into swap, and the kernel kills one process, chosen by oom_score_adj.
_SETTINGS = {1: {"memory.oom_control": "0"}, 2: {"memory.swap.max": "0", "memory.oom.group": "0"}}

# Bytes. v1 charges memory with swap first, and Linux 6.18 counts no hit there. With room for the largest charge that
# may end in a kill (8 pages: larger ones fall back to small pages) the limit on memory, where hits count, is met first.
_SWAP_SLACK = 1 << 16


class Place(NamedTuple):
    """A folder of the cgroup tree in which groups are made, and what they count there: some of memory, pids, cpu."""

    version: int
    folder: str
    controllers: tuple[str, ...]


class Group:
    """One group: a folder of the same name in every place. No descriptor is open before :meth:`open`."""

    def __init__(self, name: str, places: Iterable[Place]) -> None:
        self.name = name
        self.places = tuple(places)
        self.folders = tuple(f"{place.folder}/{name}" for place in self.places)
        self._fds: dict[str, int] = {}

    def make(self, memory_bytes: int, pids: int) -> None:
        """Make the folders and set the limits. Nothing is left of a group that cannot be made.

        Raises:
            OSError: FileExistsError: there is such a group; else the kernel's reason.
        """
        made = []
        try:
            for place, folder in zip(self.places, self.folders, strict=True):
                os.mkdir(folder, 0o755)
                made.append(folder)
                if "memory" in place.controllers:
                    for file, value in _SETTINGS[place.version].items():
                        with suppress(FileNotFoundError):
                            write_control(f"{folder}/{file}", value)
                if "pids" in place.controllers:
                    write_control(f"{folder}/pids.max", str(pids))
            self.open()
            if "limit" in self._fds:
                self.set_memory(memory_bytes)
        except BaseException:
            for folder in made:
                with suppress(OSError):
                    os.rmdir(folder)
            raise
        finally:
            self.close()

    def join(self) -> None:
        """Move the calling process in, with all its threads. Slow (milliseconds); children are born inside."""
        for folder in self.folders:
            write_control(f"{folder}/cgroup.procs", "0")

    def open(self) -> None:
        """Open limits and counters. The descriptors still work after the process dropped root or changed namespaces.

        Raises:
            OSError: a file that the group needs is missing, or not for this user.
        """
        for key, controller, v1, v2, flags, optional in _FILES:
            for place, folder in zip(self.places, self.folders, strict=True):
                name = v1 if place.version == 1 else v2
                if name is not None and controller in place.controllers:
                    with suppress(FileNotFoundError) if optional else nullcontext():
                        self._fds[key] = _open(f"{folder}/{name}", flags)

    @property
    def descriptors(self) -> dict[str, int]:
        """The open descriptors by what they are for, for the compiled helper."""
        return dict(self._fds)

    @property
    def swap_slack(self) -> int:
        """Bytes by which the limit on memory and swap lies above that on memory."""
        return _SWAP_SLACK

    @property
    def fds(self) -> tuple[int, ...]:
        """The descriptors to keep where all others are closed. No job may inherit them."""
        return tuple(self._fds.values())

    def close(self) -> None:
        """Close the descriptors."""
        while self._fds:
            os.close(self._fds.popitem()[1])

    def set_memory(self, size: int) -> None:
        """Limit memory to ``size`` bytes (the kernel rounds down to pages), and swap to none (v1: 64 KiB).

        Raises:
            OSError: v1, EBUSY: the group uses more than that and it cannot be reclaimed. (v2 kills instead.)
        """
        value = b"%d" % size
        above = b"%d" % (size + _SWAP_SLACK)
        swap = self._fds.get("swap")
        try:
            os.pwrite(self._fds["limit"], value, 0)
        except OSError as error:
            if swap is None or error.errno != errno.EINVAL:
                raise
            os.pwrite(swap, above, 0)  # v1 keeps this limit at or above the other: it goes first when they rise
            os.pwrite(self._fds["limit"], value, 0)
        else:
            if swap is not None:
                os.pwrite(swap, above, 0)

    def set_processes(self, count: int) -> None:
        """Limit processes and threads at one time."""
        os.pwrite(self._fds["pids"], b"%d" % count, 0)

    def oom_kills(self) -> int:
        """Processes of the group that the kernel has killed for want of memory, here or on the whole machine."""
        return self._count("kills", b"oom_kill")

    def limit_hits(self) -> int:
        """How often the group ran into its own memory limit. A kill without a hit is not the job's doing: memory was
        short on the machine, or in a group above."""
        return self._count("hits", b"") if "hits" in self._fds else self._count("kills", b"max")

    def denied_forks(self) -> int:
        """Forks refused for the limit on processes."""
        return self._count("forks", b"max")

    @property
    def counts_cpu(self) -> bool:
        """Does this machine count processor time here? v2 always does, v1 where cpuacct is mounted."""
        return any("cpu" in place.controllers for place in self.places)

    def cpu_seconds(self) -> float:
        """Processor seconds of all processes that are or were members; 0 where :attr:`counts_cpu` is false."""
        if "cpu" not in self._fds:
            return 0.0
        data = os.pread(self._fds["cpu"], 4096, 0)
        return int(data.split(None, 2)[1]) / 1e6 if data.startswith(b"usage_usec") else int(data) / 1e9

    def memory_peak(self) -> int | None:
        """The most memory in use at one time, bytes, since the last :meth:`reset_peak`; None before Linux 5.19 (v2)."""
        return self._count("peak", b"") if "peak" in self._fds else None

    def reset_peak(self) -> bool:
        """Start :meth:`memory_peak` afresh from what is in use now. False where that cannot be: v2 before Linux 6.12.
        Under v2 the new start holds for this descriptor alone."""
        try:
            os.pwrite(self._fds["peak"], b"0", 0)
        except (KeyError, OSError):
            return False
        return True

    def _count(self, key: str, line: bytes) -> int:
        words = os.pread(self._fds[key], 4096, 0).split()
        try:
            return int(words[words.index(line) + 1 if line else 0])
        except (ValueError, IndexError):
            raise OSError(f"this kernel does not count {line.decode()} in cgroup files ({key})") from None

    def members(self) -> list[int]:
        """Process ids of the members, without those that this pid namespace cannot see."""
        found: set[int] = set()
        for folder in self.folders:
            with suppress(FileNotFoundError):
                found.update(map(int, read_control(f"{folder}/cgroup.procs").split()))
        return sorted(found - {0})

    def kill_all(self, timeout: float = 5.0) -> None:
        """Kill every member and wait until none is left alive. The caller must be none of them.

        Nothing can fork in this group any more afterwards: it is only good for :meth:`remove`.

        Raises:
            TimeoutError: a member lives after ``timeout`` seconds.
        """
        for file, value in (("pids.max", "0"), ("cgroup.kill", "1")):  # without forks no bomb outruns the loop below
            for folder in self.folders:
                with suppress(FileNotFoundError):
                    write_control(f"{folder}/{file}", value)
        end, pause = time.monotonic() + timeout, 0.0005
        while members := self.members():
            self._kill(members)
            if time.monotonic() > end:
                raise TimeoutError(f"{self.name}: members {members} do not die")
            time.sleep(pause)
            pause = min(2 * pause, 0.05)

    def _kill(self, members: list[int]) -> None:
        handles: dict[int, int] = {}
        try:
            for pid in members[:256]:  # descriptors are scarce; the rest has its turn in the next round
                with suppress(ProcessLookupError):
                    handles[pid] = os.pidfd_open(pid)
            # Who is still listed was a member when its handle was made, not a stranger that was given its number.
            for pid in handles.keys() & set(self.members()) - {os.getpid()}:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(handles[pid], signal.SIGKILL)
        finally:
            for fd in handles.values():
                os.close(fd)

    def remove(self, timeout: float = 5.0) -> None:
        """Close the descriptors and remove the group, once its last process has let go of it. No error if it is gone.

        Raises:
            OSError: EBUSY: it still has members after ``timeout`` seconds.
        """
        self.close()
        end, pause = time.monotonic() + timeout, 0.0005
        for folder in self.folders:
            while True:
                try:
                    os.rmdir(folder)
                except FileNotFoundError:
                    break
                except OSError as error:
                    if error.errno != errno.EBUSY or time.monotonic() > end:
                        raise
                    time.sleep(pause)
                    pause = min(2 * pause, 0.05)
                else:
                    break


def _open(path: str, flags: int) -> int:
    try:
        return os.open(path, flags | os.O_CLOEXEC)
    except PermissionError:
        if flags != os.O_RDWR:
            raise
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def write_control(path: str, text: str) -> None:
    """Write a control file, in one write(2). A group that is removed meanwhile is a FileNotFoundError, too."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    except OSError as error:
        error.filename = path
        raise _told(error) from None
    finally:
        os.close(fd)


def read_control(path: str) -> str:
    """Read a control file or a file of proc. A group that is removed meanwhile is a FileNotFoundError, too."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()
    except OSError as error:
        error.filename = path
        raise _told(error) from None


def _told(error: OSError) -> OSError:
    if error.errno == errno.ENODEV:
        return FileNotFoundError(errno.ENOENT, "the group is gone", error.filename)
    return error

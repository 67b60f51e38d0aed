"""The memory and the processor time of a job where no control group counts them: a look every 30 ms.

Covered: private memory and page tables of every process; shared mappings, by their size, since their pages can be
there without any process showing them; sockets, whose buffers no process shows either, by what they may hold. (Files in
the writable folders are counted by :mod:`.world`.) Not covered: what is used and given back between two looks; other
memory of the kernel.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable

PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")
SOCKET_BYTES = 212_992  # net.core.wmem_max as kernels have it
FEW_SOCKETS = 256
LOOK_S = 0.5  # seconds that one exact look may take
SPARSE = 256 << 20  # of address space beyond the limit, at which shared mappings are looked up


def memory(proc: int, members: Iterable[int], limit: int, network: bool) -> int:
    """Bytes of memory of these processes.

    Args:
        proc: a descriptor of a /proc in which their numbers mean them and ``self`` means us.
        limit: bytes, up to which a sum that is too high does no harm.
        network: they have a network namespace of their own, which is ours.
    """
    private = shared = tables = size = 0
    members = list(members)
    for pid in members:
        fields = _amounts(proc, f"{pid}/status")
        private += fields.get(b"RssAnon", 0)
        shared += fields.get(b"RssShmem", 0)
        tables += fields.get(b"VmPTE", 0)
        size += fields.get(b"VmSize", 0)
    if network:
        tables += max(0, _sockets(proc) - FEW_SOCKETS) * SOCKET_BYTES
    if private + shared + tables > limit:
        # The cheap sum counts what several processes share in each of them. Now exactly, with each page once.
        private, end = 0, time.monotonic() + LOOK_S
        for pid in members:
            private += _amounts(proc, f"{pid}/smaps_rollup").get(b"Pss_Anon", 0)
            if time.monotonic() > end:
                return limit + 1  # made to be looked at for ever, with millions of mappings: it does not get the time
        shared = _shared(proc, members)
    elif size > limit + SPARSE:
        shared = max(shared, _shared(proc, members))
    return private + shared + tables


def cpu_seconds(proc: int, members: Iterable[int]) -> float:
    """Seconds of processor time of these processes and of the children that they waited for."""
    ticks = 0
    for pid in members:
        with contextlib.suppress(OSError, ValueError, IndexError):
            ticks += sum(map(int, _read(proc, f"{pid}/stat").rpartition(b")")[2].split()[11:15]))
    return ticks / TICKS


def _read(proc: int, path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    with open(fd, "rb", 0) as file:
        return file.read()


def _amounts(proc: int, path: str) -> dict[bytes, int]:
    """The fields of a file of /proc that are amounts of memory, in bytes."""
    found = {}
    with contextlib.suppress(OSError):
        for line in _read(proc, path).splitlines():
            name, _, value = line.partition(b":")
            if value.endswith(b" kB"):
                found[name] = int(value[:-3]) << 10
    return found


def _shared(proc: int, members: Iterable[int]) -> int:
    """Bytes of memory that processes share without a file in a folder, each once: anonymous shared mappings, memfds."""
    sizes: dict[bytes, int] = {}
    for pid in members:
        mine: dict[bytes, int] = {}
        with contextlib.suppress(OSError):
            for line in _read(proc, f"{pid}/maps").splitlines():
                words = line.split(None, 5)
                if (
                    len(words) == 6
                    and words[5].endswith(b"(deleted)")
                    and words[5].startswith((b"/dev/zero", b"/memfd:"))
                ):
                    start, _, end = words[0].partition(b"-")
                    mine[words[4]] = mine.get(words[4], 0) + int(end, 16) - int(start, 16)
        for inode, size in mine.items():
            sizes[inode] = max(size, sizes.get(inode, 0))
    return sum(sizes.values())


def _sockets(proc: int) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(_read(proc, "self/net/sockstat").split()[2])
    return 0

"""The few kernel interfaces that Python's ``os`` does not offer, through ctypes.

Everything in this package is standard library only and imports nothing else of ours: it also runs in processes in which
no other package can be imported.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

from . import arch

# PyDLL keeps the interpreter lock: these calls are short, and giving the lock back costs more than they do.
libc = ctypes.PyDLL(None, use_errno=True)
try:
    NR = arch.numbers()
except OSError:  # another machine: importing this is no error, calling it is
    NR = {}

CLONE_VM = 0x100
NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
ALL_NAMESPACES = NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND = 1, 2, 4, 8, 32, 4096
MS_NOATIME, MS_REC, MS_PRIVATE, MS_SLAVE = 1024, 16384, 1 << 18, 1 << 19
MNT_DETACH = 2

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NAME, PR_CAPBSET_DROP = 1, 4, 15, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38

RESOLVE_NO_XDEV, RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH = 1, 2, 4, 8


def _check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{os.strerror(code)} [{what}]")
    return result


def syscall(name: str, *args: Any) -> int:
    """A raw system call by name. Integers are passed as C longs; ctypes buffers and ``byref`` as pointers.

    Raises:
        OSError: the call failed, or this architecture has no such call.
    """
    number = NR.get(name)
    if number is None:
        raise OSError(38, f"this machine has no system call {name}")
    values = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    return _check(libc.syscall(ctypes.c_long(number), *values), name)


def unshare(flags: int) -> None:
    """Move this process (for ``NEWPID``: its future children) to new namespaces."""
    _check(libc.unshare(flags), "unshare")


def setns(fd: int, kind: int) -> None:
    """Enter the namespace of this descriptor."""
    _check(libc.setns(fd, kind), "setns")


def mount(source: str | None, target: str, kind: str | None, flags: int = 0, data: str | None = None) -> None:
    """mount(2)."""
    encoded = [os.fsencode(text) if text is not None else None for text in (source, target, kind, data)]
    result = libc.mount(encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), encoded[3])
    _check(result, f"mount {kind or ''} {target}")


def umount(target: str, flags: int = MNT_DETACH) -> None:
    """umount2(2)."""
    _check(libc.umount2(os.fsencode(target), flags), f"umount {target}")


def prctl(option: int, value: int = 0) -> int:
    """prctl(2) with one argument."""
    zero = ctypes.c_ulong(0)
    return _check(libc.prctl(option, ctypes.c_ulong(value), zero, zero, zero), f"prctl {option}")


def pivot_root(new: str, old: str) -> None:
    """pivot_root(2)."""
    syscall("pivot_root", ctypes.c_char_p(os.fsencode(new)), ctypes.c_char_p(os.fsencode(old)))


def close_from(first: int) -> None:
    """Close every descriptor from ``first`` on."""
    syscall("close_range", first, 0xFFFFFFFF, 0)


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


BENEATH = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV


def open_beneath(root: int, path: str, flags: int, mode: int = 0, resolve: int = BENEATH) -> int:
    """Open a path below a directory descriptor, through openat2(2) (Linux 5.6).

    By default no symbolic link is followed, in any component, and neither ``..`` nor a mount point leads out.

    Returns: a close-on-exec descriptor.

    Raises:
        OSError: with the kernel's reason (ELOOP: a symbolic link; EXDEV: the path leads out).
    """
    how = _OpenHow(flags | os.O_CLOEXEC, mode, resolve)
    name = ctypes.c_char_p(os.fsencode(path))
    for _ in range(64):
        try:
            return syscall("openat2", root, name, ctypes.byref(how), ctypes.sizeof(how))
        except BlockingIOError:  # EAGAIN: a rename raced the walk, and the kernel could not rule out an escape
            continue
    raise BlockingIOError(11, f"{path} is being moved about")

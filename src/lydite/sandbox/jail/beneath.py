"""Opening what lies beneath a folder, and nothing else.

Covered: no component of a path is a symbolic link that is followed, none leads up or out, whatever changes meanwhile;
with openat2 (Linux 5.6) no mount point is crossed either. Without it, on older kernels and in gVisor, each component is
opened from the descriptor of the one above, which a rename cannot lead astray; mount points are crossed then. Rights
that the owner of a file or folder took from himself are given back to that very inode, never to what has its name now.

Not covered: opening has the effects that it has (a FIFO's other end wakes up); whoever opens asks for ``O_NONBLOCK``
and looks at what he got.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import TypeVar

from . import kernel

T = TypeVar("T")

_HANDLE = os.O_PATH | os.O_DIRECTORY
_AT_EMPTY_PATH = 0x1000


def open_beneath(root: int, path: str, flags: int, mode: int = 0) -> int:
    """Open a path below the folder ``root`` and follow no symbolic link.

    Returns: a close-on-exec descriptor.

    Raises:
        OSError: ELOOP for a symbolic link, EXDEV for a path that leads out, and whatever open(2) says.
    """
    if has_openat2():
        return kernel.open_beneath(root, path, flags, mode)
    return open_stepwise(root, path, flags, mode)


@cache
def has_openat2() -> bool:
    """Whether this kernel has openat2 and this process may call it."""
    with held(os.open("/", _HANDLE)) as fd:
        try:
            os.close(kernel.open_beneath(fd, ".", os.O_PATH))
        except OSError:
            return False
    return True


def open_stepwise(root: int, path: str, flags: int, mode: int = 0) -> int:
    """:func:`open_beneath` without openat2."""
    parts = path.split("/")
    if path.startswith("/") or ".." in parts:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
    here = os.dup(root)
    try:
        for part in parts[:-1]:
            there = os.open(part, os.O_PATH | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = there
            kind = os.fstat(here).st_mode
            if not stat.S_ISDIR(kind):
                code = errno.ELOOP if stat.S_ISLNK(kind) else errno.ENOTDIR
                raise OSError(code, os.strerror(code), path)
        try:
            return os.open(parts[-1], flags | os.O_NOFOLLOW, mode, dir_fd=here)
        except NotADirectoryError:  # so says O_DIRECTORY of a link; openat2 says what it is
            if stat.S_ISLNK(os.stat(parts[-1], dir_fd=here, follow_symlinks=False).st_mode):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path) from None
            raise
    finally:
        os.close(here)


@contextmanager
def held(fd: int) -> Iterator[int]:
    """Close a descriptor at the end."""
    try:
        yield fd
    finally:
        os.close(fd)


def reach(root: int, path: str, flags: int) -> int:
    """:func:`open_beneath`; where a right is missing, this user's files and folders on the way get theirs back."""
    return insist(partial(open_beneath, root, path, flags), root, path)


def insist(action: Callable[[], T], root: int, path: str) -> T:
    """Do it; where a right is missing, take back this user's on the way to ``path`` ("": the root) and do it again."""
    try:
        return action()
    except PermissionError:
        with suppress(OSError):  # the second attempt tells what is wrong
            _unlock(root, path)
        return action()


def _unlock(root: int, path: str) -> None:
    own(root)
    parts = path.split("/") if path else []
    for end in range(1, len(parts) + 1):
        with held(open_beneath(root, "/".join(parts[:end]), os.O_PATH | os.O_NOFOLLOW)) as fd:
            own(fd)


def own(fd: int) -> None:
    """Give this user the full use of a file or folder of his. Nothing happens to those of others, and to links."""
    state = os.fstat(fd)
    needed = stat.S_IRWXU if stat.S_ISDIR(state.st_mode) else stat.S_IRUSR | stat.S_IWUSR
    if state.st_mode & needed == needed or state.st_uid != os.geteuid() or stat.S_ISLNK(state.st_mode):
        return
    mode = stat.S_IMODE(state.st_mode) | needed
    with suppress(OSError):  # refused for a descriptor that was opened with O_PATH
        return os.fchmod(fd, mode)
    with suppress(OSError):  # Linux 6.6
        kernel.syscall("fchmodat2", fd, ctypes.c_char_p(b""), mode, _AT_EMPTY_PATH)
        return
    os.chmod(f"/proc/self/fd/{fd}", mode)  # leads to the inode itself, no name is looked up


def folder_handle(root: int, path: str, *, make: bool) -> int:
    """A handle (``O_PATH``) of a folder beneath; with ``make`` it and those above are made where they are missing."""
    if not path:
        return os.dup(root)
    try:
        return reach(root, path, _HANDLE)
    except FileNotFoundError:
        if not make:
            raise
    here = os.dup(root)
    try:
        for part in path.split("/"):
            with suppress(FileExistsError):
                insist(partial(os.mkdir, part, 0o755, dir_fd=here), here, "")
            there = reach(here, part, _HANDLE)
            os.close(here)
            here = there
        return os.dup(here)
    finally:
        os.close(here)

"""Landlock: a process gives up the rights that it will not need, for good, for itself and all its children.

Covered: opening, listing, executing, making, removing, renaming and truncating files outside the paths that a ruleset
names (ABI 1; renaming between folders ABI 2, truncation ABI 3); ioctl on devices (ABI 5); TCP bind and connect (ABI 4);
abstract Unix sockets and signals of processes outside (ABI 6). What a kernel is too old for is left out without a word:
ask :func:`abi` and say so, or refuse.

Not covered by Landlock itself: stat(2), chmod(2), chdir(2) and readlink(2) anywhere; Unix sockets that have a path name
(a right since ABI 9, not used here); UDP and every other protocol; how much is written. Descriptors that are open
already keep their rights. A rule binds to the inode that its path has when the rule is made: after a file system was
mounted over that path, a tmpfs replaced for example, the rule names what is hidden below, the new files are out of
reach, and the ruleset has to be made anew.

Constants are those of linux/landlock.h. This was run on ABI 7.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Iterable
from functools import cache

from . import kernel

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
MAKE_CHAR, MAKE_BLOCK = 1 << 6, 1 << 11
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
BIND_TCP, CONNECT_TCP = 1 << 0, 1 << 1
SCOPE_ABSTRACT_UNIX, SCOPE_SIGNAL = 1 << 0, 1 << 1

_FIRST = (1 << 13) - 1  # every right of ABI 1
_ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
_CREATE_VERSION = 1
_RULE_PATH_BENEATH = 1
_LOG_SAME_EXEC_OFF = 1
RESTRICT_FLAGS = _LOG_SAME_EXEC_OFF  # since ABI 7


@cache
def abi() -> int:
    """The Landlock version of this kernel; 0 where it has none or it is switched off.

    Some kernels of distributions say 6 and know but one of the two scopes of version 6. They count as 5.
    """
    try:
        version = kernel.syscall("landlock_create_ruleset", 0, 0, _CREATE_VERSION)
    except OSError:
        return 0
    if version >= 6:
        try:
            os.close(_create(0, 0, SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL, version))
        except OSError:
            return 5
    return version


def ruleset(
    read: Iterable[str] = (),
    write: Iterable[str] = (),
    device_files: Iterable[str] = (),
    readable_files: Iterable[str] = (),
    *,
    list_root: bool = False,
    deny_tcp: bool = True,
    scope_signals: bool = True,
) -> int:
    """Make a ruleset: everything that it does not name is denied to whoever takes it on (:func:`restrict`).

    A path that does not exist is skipped, since no system has all of ``/lib32``, ``/opt`` and the like; nothing can be
    reached through it. Symbolic links are followed: the rule holds for what the path leads to.

    Args:
        read: files and folders that may be read, listed and executed, with everything below.
        write: folders in which everything is allowed but device nodes and ioctl on devices.
        device_files: files that may be read and written, such as ``/dev/null``.
        readable_files: files that may be read only.
        list_root: ``/``, and with it every folder, may be listed, but no file in it read.
        deny_tcp: no TCP bind and connect (ABI 4). Off for a job that may use loopback in a network of its own.
        scope_signals: no signal to a process outside (ABI 6).

    Returns: a close-on-exec descriptor, good for any number of processes.

    Raises:
        OSError: no Landlock here.
        ValueError: one of ``device_files`` or ``readable_files`` is a folder; its rule would open all below.
    """
    version = abi()
    rights = _FIRST
    for since, right in ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)):
        rights |= right if version >= since else 0
    tcp = BIND_TCP | CONNECT_TCP if deny_tcp else 0
    scopes = SCOPE_ABSTRACT_UNIX | (SCOPE_SIGNAL if scope_signals else 0)
    fd = _create(rights, tcp, scopes, version)
    try:
        if list_root:
            _allow(fd, "/", READ_DIR)
        for path in read:
            _allow(fd, path, EXECUTE | READ_FILE | READ_DIR)
        for path in write:
            _allow(fd, path, rights & ~(MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV))
        for path in device_files:
            _allow(fd, path, rights & (READ_FILE | WRITE_FILE | TRUNCATE), folder=False)
        for path in readable_files:
            _allow(fd, path, READ_FILE, folder=False)
    except BaseException:
        os.close(fd)
        raise
    return fd


def scope_only() -> int:
    """A ruleset that leaves files and network alone and only scopes signals and abstract Unix sockets.

    Raises:
        OSError: ENOSYS below ABI 6.
    """
    if abi() < 6:
        raise OSError(errno.ENOSYS, f"scopes need Landlock ABI 6, this kernel has {abi()}")
    return _create(0, 0, SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL, abi())


def restrict(fd: int) -> None:
    """Take the ruleset on, for this thread and all that it will start. There is no way back; rulesets add up (16).

    Denials are kept out of the host's audit log (ABI 7): untrusted programs could flood it.

    Raises:
        OSError: EPERM without ``PR_SET_NO_NEW_PRIVS``; E2BIG for the 17th ruleset.
    """
    kernel.syscall("landlock_restrict_self", fd, _LOG_SAME_EXEC_OFF if abi() >= 7 else 0)


def _create(files: int, tcp: int, scopes: int, version: int) -> int:
    """A descriptor of an empty ruleset, in the length of struct landlock_ruleset_attr that the version knows."""
    attributes = struct.pack("=QQQ", files, tcp, scopes)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    return kernel.syscall("landlock_create_ruleset", ctypes.create_string_buffer(attributes, 24), size, 0)


def _allow(fd: int, path: str, rights: int, folder: bool = True) -> None:
    try:
        target = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return
    try:
        if not stat.S_ISDIR(os.fstat(target).st_mode):
            rights &= _ON_FILES
        elif not folder:
            raise ValueError(f"{path} is a folder: a rule for a file must name a file")
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, target), 12)
        kernel.syscall("landlock_add_rule", fd, _RULE_PATH_BENEATH, rule, 0)
    finally:
        os.close(target)

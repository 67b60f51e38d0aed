"""The file system that a job sees, and how a process gets into its namespaces.

Covered: a read-only root of binds made for the purpose (interpreter, system libraries, five devices); one small tmpfs
behind /workspace, /tmp and /dev/shm, with limits on bytes and inodes; a proc that shows a job only its own processes;
user, mount, pid, net, ipc, uts and cgroup namespaces; no user namespace below; a uid that no other process has where
we are root. Not covered: what the kernel itself gets wrong, names of the folders above the interpreter, the kernel's
version and uptime.
"""

from __future__ import annotations

import contextlib
import os
import stat
from typing import Any

from . import kernel
from .kernel import (
    MS_BIND,
    MS_NOATIME,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_RDONLY,
    MS_REC,
    MS_REMOUNT,
    MS_SLAVE,
)

WORKSPACE, TMP, SHM = "/workspace", "/tmp", "/dev/shm"  # noqa: S108  (paths inside of the jail)
WRITABLE = (WORKSPACE, TMP, SHM)
PACKAGES, OVERLAYS = "/opt/lydite/packages", "/opt/lydite/overlays"
DEVICES = ("null", "zero", "full", "random", "urandom")
INNER_ID = 1000
_BOX = "/.box"
_BEHIND = ((f"{_BOX}/work", WORKSPACE), (f"{_BOX}/tmp", TMP), (f"{_BOX}/shm", SHM))  # noqa: S108


def build(plan: dict[str, Any], new: str = "/tmp") -> None:  # noqa: S108
    """Make the tree in a mount namespace of our own and make it the root.

    Args: plan: ``read_only`` (paths shown as they are), ``masked`` (folders shown empty), ``packages`` (host path, name
        below :data:`PACKAGES`), ``overlays`` (host paths). new: any folder; what it holds is hidden while the tree is
        made.
    """
    kernel.mount("none", "/", None, MS_REC | MS_SLAVE)
    kernel.mount("none", "/", None, MS_REC | MS_PRIVATE)
    # A source may lie below the folder that the new root is about to hide: hold everything by descriptor first.
    held: list[tuple[int, str]] = []
    links: list[tuple[str, str]] = []
    for path in plan["read_only"]:
        if os.path.islink(path):
            links.append((os.readlink(path), path))
        elif os.path.exists(path):
            held.append((os.open(path, os.O_PATH | os.O_CLOEXEC), path))
    for path, name in plan["packages"]:
        held.append((os.open(path, os.O_PATH | os.O_CLOEXEC), f"{PACKAGES}/{name}"))
    for path, target in zip(plan["overlays"], overlays(plan), strict=True):
        held.append((os.open(path, os.O_PATH | os.O_CLOEXEC), target))
    kernel.mount("tmpfs", new, "tmpfs", MS_NOSUID | MS_NODEV, "size=2m,nr_inodes=2048,mode=755")
    for fd, target in held:
        _bind(fd, new + target)
        os.close(fd)
    for text, target in links:
        os.makedirs(os.path.dirname(new + target), exist_ok=True)
        os.symlink(text, new + target)
    os.makedirs(f"{new}/.empty", mode=0o555)
    for folder in plan["masked"]:
        if os.path.isdir(new + folder):
            kernel.mount(f"{new}/.empty", new + folder, None, MS_BIND)
    _devices(new)
    os.makedirs(f"{new}/etc", exist_ok=True)
    _text(f"{new}/etc/passwd", f"job:x:{INNER_ID}:{INNER_ID}::/tmp:/bin/sh\n")
    _text(f"{new}/etc/group", f"job:x:{INNER_ID}:\n")
    _text(f"{new}/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n")
    for folder in (*WRITABLE, _BOX, "/proc", "/var", "/.old"):
        os.makedirs(new + folder, exist_ok=True)
    os.symlink("/tmp", f"{new}/var/tmp")  # noqa: S108
    # The host's proc stays until our own is mounted: the kernel wants to see one that is fully visible.
    kernel.mount("/proc", f"{new}/proc", None, MS_BIND | MS_REC)
    os.chdir(new)
    kernel.pivot_root(".", ".old")
    os.chdir("/")
    kernel.umount("/.old")
    os.rmdir("/.old")


def overlays(plan: dict[str, Any]) -> list[str]:
    """Where a job finds the overlays of the plan: without namespaces, where they lie on the host."""
    if not plan["namespaces"]:
        return list(plan["overlays"])
    return [f"{OVERLAYS}/{number}" for number in range(len(plan["overlays"]))]


def _bind(fd: int, target: str) -> None:
    if stat.S_ISDIR(os.fstat(fd).st_mode):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    kernel.mount(f"/proc/self/fd/{fd}", target, None, MS_BIND | MS_REC)
    flags = os.statvfs(target).f_flag
    kept = flags & (os.ST_NOSUID | os.ST_NODEV | os.ST_NOEXEC)  # an unprivileged remount may not drop these
    kernel.mount(None, target, None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | kept)


def _devices(new: str) -> None:
    os.makedirs(f"{new}/dev", exist_ok=True)
    for name in DEVICES:
        _text(f"{new}/dev/{name}", "")
        kernel.mount(f"/dev/{name}", f"{new}/dev/{name}", None, MS_BIND)
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        os.symlink(f"/proc/self/fd{target}", f"{new}/dev/{name}")


def _text(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def become(uid: int) -> None:
    """Stop being root for good. Nothing else runs under this uid."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def clone_into_namespaces() -> int:
    """fork(2) into new namespaces of every kind. Returns 0 in the child, which is pid 1 there.

    The C library's fork is not used because it cannot pass the flags; its cached thread id is set right again by the
    next ordinary fork.
    """
    return kernel.syscall("clone", kernel.ALL_NAMESPACES | 17, 0, 0, 0, 0)


def map_ids(uid: int, gid: int) -> None:
    """Be :data:`INNER_ID` in the user namespace that was just made, and forbid further ones below it."""
    _text("/proc/self/setgroups", "deny")
    _text("/proc/self/uid_map", f"{INNER_ID} {uid} 1")
    _text("/proc/self/gid_map", f"{INNER_ID} {gid} 1")


def settle() -> None:
    """The last steps, as pid 1 of the new namespaces: host name, no user namespaces below, own proc, read-only root."""
    with contextlib.suppress(OSError):
        kernel.libc.sethostname(b"sandbox", 7)
    for name, most in (("max_user_namespaces", 0), ("max_inotify_instances", 32), ("max_inotify_watches", 4096)):
        with contextlib.suppress(OSError):  # seccomp denies the first as well; the others would be the caller's quota
            _text(f"/proc/sys/user/{name}", str(most))
    mount_proc()
    kernel.mount(None, "/", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)


def mount_proc() -> None:
    """A proc of the caller's pid namespace that shows a process only what it may trace; an empty folder where the
    kernel refuses (inside of containers that mask parts of /proc)."""
    flags = MS_NOSUID | MS_NODEV | MS_NOEXEC
    try:
        kernel.mount("proc", "/proc", "proc", flags, "hidepid=2,subset=pid")
    except OSError:
        kernel.mount("tmpfs", "/proc", "tmpfs", flags | MS_RDONLY, "size=4k,nr_inodes=2")


def mount_writable(disk_bytes: int, inodes: int) -> None:
    """One fresh tmpfs behind the writable folders, so that one limit holds for all of them."""
    flags = MS_NOSUID | MS_NODEV | MS_NOATIME  # a time of access is then one that somebody set
    kernel.mount("tmpfs", _BOX, "tmpfs", flags, f"size={disk_bytes},nr_inodes={inodes + 4},mode=755")
    for name, target in _BEHIND:
        os.mkdir(name, 0o700)
        # A time in the past: whatever a job makes here moves it, however soon after this.
        os.utime(name, (0, 0))
        kernel.mount(name, target, None, MS_BIND)
    kernel.umount(_BOX)  # the binds keep it alive; no other way leads to it


def umount_writable() -> None:
    for target in WRITABLE:
        kernel.umount(target)


def fingerprint() -> tuple[object, ...]:
    """Changes with anything that a job left in the writable folders or did to these themselves."""
    space = os.statvfs(TMP)
    marks: list[object] = [space.f_bfree, space.f_ffree]
    for target in WRITABLE:
        info = os.stat(target)
        marks += (info.st_mode, info.st_atime_ns, info.st_mtime_ns, info.st_ctime_ns)
    return tuple(marks)

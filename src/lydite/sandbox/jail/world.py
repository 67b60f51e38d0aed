"""Where a job runs and how it is ended, with namespaces. (:mod:`.confined`: with Landlock alone.)

Both worlds answer the same four questions: how is this process confined for good (``enter``), what is made afresh for
a job (``begin``), how does everything that the job started end (``end``), and how is the tree made clean again
(``clean``).
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import mmap
import os
import signal
from typing import Any

from . import kernel, landlock, root, seccomp, wire

_CAPS_HEADER = ctypes.create_string_buffer((0x20080522).to_bytes(4, "little") + bytes(4))
_CAPS_NONE = ctypes.create_string_buffer(24)
OWN = 2  # processes of a group that are no job's: the zygote and the pausing process
DEVICE_PATHS = tuple(f"/dev/{name}" for name in root.DEVICES)


def drop_capabilities() -> None:
    """No effective, permitted or inheritable capability is left. no_new_privs keeps it so."""
    kernel.syscall("capset", _CAPS_HEADER, _CAPS_NONE)


def filters(plan: dict[str, Any]) -> tuple[bytes, bytes | None]:
    """The filter of everything in a zygote, and a stricter one for its jobs where there is need. Worked out once: the
    keeper asks first, and its zygotes find the answer in what they were forked from."""
    policy = seccomp.Policy(
        sockets="loopback" if plan["network"] == "loopback" else "unix",
        memfd=True,
        namespaces=True,
        same_group=False,
        own_process_only=False,
        signals=True,
    )
    if plan["cgroup"]:
        return seccomp.program(policy), None
    # Without a memory cgroup nobody counts the pages of a memory file that no process maps.
    stricter = dataclasses.replace(policy, memfd=False, namespaces=False)
    return seccomp.program(policy), seccomp.program(stricter, below=policy)


class Namespaces:
    """Covered: every process of a job lives in a pid namespace of its own and dies with it, whatever it did to escape
    its parent; it sees neither the zygote nor anything of the host. Not covered: see :mod:`.root`.

    The namespace's pid 1 is a process that shares the zygote's memory and does nothing but pause: it reaps orphans
    and, unlike a job in its place, leaves the job the ordinary meaning of signals. It costs 70 us, a fork in its place
    would cost 500.
    """

    writable = root.WRITABLE
    workspace = root.WORKSPACE
    tmp = root.TMP
    group_only = False

    def __init__(self, plan: dict[str, Any], uid: int | None) -> None:
        self.plan, self.uid = plan, uid
        # Asked now: in a user namespace without a map the kernel calls everyone nobody.
        self._ids = (uid, uid) if uid is not None else (os.getuid(), os.getgid())
        self.ruleset = -1
        self.init = 0
        self.own = self.proc = -1
        self._clean: tuple[object, ...] = ()
        self.filter: bytes | None = None

    def enter(self) -> None:
        """Called as pid 1 of fresh namespaces. Afterwards nothing here can reach the host."""
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # the id maps are written through /proc/self
        root.map_ids(*self._ids)
        if self.uid is None:
            root.build(self.plan)
        root.settle()
        if self.plan["network"] == "loopback":
            _loopback_up()
        root.mount_writable(self.plan["disk"], self.plan["inodes"])
        self._clean = root.fingerprint()
        self.own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self.proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)  # a session mounts another over it
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)  # /proc/1 belongs to root, no job may trace us
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        self._rules()
        first, self.filter = filters(self.plan)
        seccomp.install(first)
        # Private: a job must not share the stack of a process that shares the zygote's memory.
        stack = mmap.mmap(-1, 1 << 16, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._stack = stack  # keeps it mapped
        top = ctypes.addressof(ctypes.c_char.from_buffer(stack)) + (1 << 16) - 64
        self.stack_top = ctypes.c_void_p(top)
        self._pause = ctypes.cast(kernel.libc.pause, ctypes.c_void_p)

    def _rules(self) -> None:
        if self.ruleset >= 0:
            os.close(self.ruleset)
            self.ruleset = -1
        if landlock.abi() > 0 and self.plan["landlock"]:
            self.ruleset = landlock.ruleset(
                read=(*self.plan["read_only"], "/opt", "/proc", "/etc", "/dev", "/var"),
                write=self.writable,
                device_files=DEVICE_PATHS,
                list_root=True,
                deny_tcp=self.plan["network"] != "loopback",
            )

    def begin(self) -> None:
        """A new pid namespace for the children to come."""
        kernel.setns(self.own, kernel.NEWPID)  # else the kernel refuses to unshare a second time
        kernel.unshare(kernel.NEWPID)
        signal.signal(
            signal.SIGCHLD, signal.SIG_IGN
        )  # the pausing process inherits it: its orphans are reaped by the kernel
        try:
            pid = kernel.libc.clone(self._pause, self.stack_top, kernel.CLONE_VM | signal.SIGCHLD, None)
        finally:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if pid < 0:
            code = ctypes.get_errno()
            raise OSError(code, f"{os.strerror(code)} [clone]")
        self.init = pid

    def renew_proc(self) -> None:
        """A proc of the new pid namespace, for sessions: their commands expect to find themselves in it."""
        pid = kernel.libc.fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                kernel.umount("/proc")
                root.mount_proc()
            os._exit(0)
        os.waitpid(pid, 0)
        self._rules()

    def confine(self) -> None:
        """Called in a job's process before it reads its request."""
        os.setsid()
        if self.ruleset >= 0:
            landlock.restrict(self.ruleset)
        os.chdir(self.workspace)

    def strip(self) -> None:
        """Called in a job's process right before the program: no capabilities, an ordinary process."""
        drop_capabilities()
        if self.filter is not None:
            seccomp.install(self.filter)

    def strip_batch(self) -> None:
        """As :meth:`strip`, in the process that forks the runs of a batch: it still makes their namespaces."""

    def become_inner(self) -> Namespaces:
        """This world as the process that forks the runs of a batch sees it: each has a pid namespace below its own."""
        self.own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self.init = 0
        return self

    def confine_run(self) -> None:
        """Called in each run of a batch."""
        os.setsid()  # a group is seen across pid namespaces, and what forks the runs would be in it
        drop_capabilities()
        if self.filter is not None:
            seccomp.install(self.filter)

    @property
    def extra_processes(self) -> int:
        """Added to a job's limit for RLIMIT_NPROC, which the kernel counts per user namespace."""
        return OWN + (8 if self.plan["cgroup"] else 0)  # where a group counts, that speaks first

    def kill(self, job: int) -> None:
        """Kill every process of the job. They are gone when :meth:`end` returns."""
        del job
        if self.init:
            os.kill(self.init, signal.SIGKILL)

    def end(self, job: int) -> None:
        """Wait until the namespace is empty. ``kill`` came before."""
        del job
        if self.init:
            os.waitpid(self.init, 0)
            self.init = 0

    def members(self, job: int) -> list[int]:
        """Processes of the job, as numbers in our own /proc."""
        del job
        own = (os.getpid(), self.init)
        return [int(name) for name in os.listdir(self.proc) if name.isdigit() and int(name) not in own]

    def used(self) -> int:
        """Bytes of memory that the writable folders hold."""
        space = os.statvfs(self.tmp)
        return (space.f_blocks - space.f_bfree) * space.f_frsize

    def full(self) -> int:
        """What the writable folders have no more of: :data:`.wire.BYTES`, :data:`.wire.FILES`, or 0."""
        space = os.statvfs(self.tmp)
        return wire.FILES if space.f_ffree == 0 else wire.BYTES if space.f_bavail < 2 else 0

    def untouched(self) -> bool:
        """Whether the writable folders are as they were made."""
        return root.fingerprint() == self._clean

    def clean(self) -> None:
        """Nothing that a job left is there for the next one."""
        if not self.untouched():
            root.umount_writable()
            root.mount_writable(self.plan["disk"], self.plan["inodes"])
            self._clean = root.fingerprint()
            self._rules()  # a Landlock rule binds to an inode: the new folders are unknown to the old rules


def _loopback_up() -> None:
    import fcntl
    import socket
    import struct

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16sH14x", b"lo", 1 | 64)  # IFF_UP | IFF_RUNNING
        fcntl.ioctl(sock, 0x8914, request)  # SIOCSIFFLAGS

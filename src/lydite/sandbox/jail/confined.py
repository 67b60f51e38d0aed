"""Where a job runs in places that allow no namespaces, such as ordinary containers."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import os
import signal
from typing import Any

from . import kernel, landlock, seccomp, tree, wire
from .world import DEVICE_PATHS, drop_capabilities


class LandlockOnly:
    """For places that allow no namespaces (ordinary containers). Landlock is mandatory here.

    Covered: files (only the interpreter, system libraries and the job's folders can be opened), no sockets, no signal
        or
    limit reaches a process outside, one process group that is killed as a whole, memory and disk by sampling.
    Not covered: the host name and the existence of files and processes can be seen (stat), no hard limit on disk and
    inodes between two samples, an ordinary user's own processes count against the limit on processes.
    """

    group_only = True

    def __init__(self, plan: dict[str, Any], uid: int | None) -> None:
        self.plan, self.uid = plan, uid
        self.base: str = plan["folder"]
        self.workspace, self.tmp, self.shm = (f"{self.base}/{name}" for name in ("workspace", "tmp", "shm"))
        self.writable = (self.workspace, self.tmp, self.shm)
        self.ruleset = -1
        self.init = 0
        self.proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._scope = -1
        self._others = 0

    def enter(self) -> None:
        """Called as an ordinary child; as root it has become a spare uid before."""
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)  # orphans of a job come to us
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        self._read = _without(self.plan["read_only"], self.plan["masked"]) + [path for path, _ in self.plan["packages"]]
        self._read += self.plan["overlays"]
        self._folders()
        self._policy = seccomp.Policy(
            sockets="none",
            memfd=False,
            namespaces=False,
            same_group=True,
            own_process_only=True,
            signals=landlock.abi() >= 6,
            attributes=self.uid is not None,
        )
        # What all jobs share goes on here once; a job adds what concerns its own process number.
        self._base = dataclasses.replace(
            self._policy, memfd=True, same_group=False, own_process_only=False, signals=True, attributes=True
        )
        seccomp.install(seccomp.program(self._base))
        if landlock.abi() >= 6:
            self._scope = landlock.scope_only()
        self._others = _tasks_of(os.getuid())

    def begin(self) -> None:
        """Nothing to make: a job is a process group."""

    def renew_proc(self) -> None:
        """There is no proc inside."""

    def confine(self) -> None:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)  # the keeper ends what is left if it comes to that
        os.setsid()
        landlock.restrict(self.ruleset)
        os.chdir(self.workspace)

    def _filter(self) -> bytes:
        return seccomp.program(self._policy, self_pid=os.getpid(), below=self._base)

    def strip(self) -> None:
        drop_capabilities()
        seccomp.install(self._filter())

    def strip_batch(self) -> None:
        """The process that forks the runs of a batch must still give each a process group of its own."""
        drop_capabilities()
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)

    def become_inner(self) -> LandlockOnly:
        """This world as the process that forks the runs of a batch sees it: each is a process group of its own."""
        return self

    def confine_run(self) -> None:
        os.setsid()
        if self._scope >= 0:
            landlock.restrict(self._scope)  # no signal to the process that forked it
        seccomp.install(self._filter())

    @property
    def extra_processes(self) -> int:
        """The kernel counts everything that this user runs."""
        return self._others

    def kill(self, job: int) -> None:
        """Kill the group, and the groups of the runs of a batch."""
        for _ in range(3):
            with contextlib.suppress(OSError):
                os.killpg(job, signal.SIGKILL)
            for pid in self.members(job):
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)

    def end(self, job: int) -> None:
        """Reap what came to us. setsid and setpgid are denied, so groups were everything, and no fork slips through a
        killpg; another one now could hit a stranger, for the number is free again."""
        del job
        with contextlib.suppress(ChildProcessError):
            while True:
                os.waitpid(-1, 0)

    def members(self, job: int) -> list[int]:
        """Everything that descends from us: we are a subreaper, so orphans do as well."""
        del job
        parents: dict[int, list[int]] = {}
        for name in os.listdir(self.proc):
            if name.isdigit():
                with contextlib.suppress(OSError, IndexError, ValueError):
                    fd = os.open(f"{name}/stat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self.proc)
                    with open(fd, "rb", 0) as file:
                        fields = file.read().rpartition(b")")[2].split()
                    if fields[0] != b"Z":
                        parents.setdefault(int(fields[1]), []).append(int(name))
        found: list[int] = []
        waiting = [os.getpid()]
        while waiting:
            children = parents.get(waiting.pop(), [])
            found += children
            waiting += children
        return found

    def used(self) -> int:
        """Bytes on disk are no memory."""
        return 0

    def size(self) -> tuple[int, int]:
        """Bytes and files in the writable folders. Deeper than a path can say counts as too many files."""
        size = count = 0
        waiting = list(self.writable)
        while waiting and count <= self.plan["inodes"]:
            try:
                with os.scandir(waiting.pop()) as entries:
                    for entry in entries:
                        count += 1
                        with contextlib.suppress(OSError):
                            size += entry.stat(follow_symlinks=False).st_blocks * 512
                            if entry.is_dir(follow_symlinks=False):
                                waiting.append(entry.path)
            except OSError as error:
                if error.errno == errno.ENAMETOOLONG:
                    count = self.plan["inodes"] + 1
        return size, count

    def full(self) -> int:
        """What the writable folders have too much of: :data:`.wire.BYTES`, :data:`.wire.FILES`, or 0."""
        size, count = self.size()
        return wire.FILES if count > self.plan["inodes"] else wire.BYTES if size > self.plan["disk"] else 0

    def untouched(self) -> bool:
        """Whether the writable folders are as they were made."""
        found = [os.stat(folder) for folder in (self.base, *self.writable)]
        return all(info.st_mtime_ns == info.st_atime_ns == 0 and info.st_mode & 0o7777 == 0o700 for info in found)

    def clean(self) -> None:
        """Fresh folders, unless nothing has touched these: times and modes of a folder tell something as well."""
        if self.untouched():
            return
        base = os.open(self.base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for folder in self.writable:
                tree.remove(base, os.path.basename(folder))
        finally:
            os.close(base)
        self._folders()

    def _folders(self) -> None:
        for folder in self.writable:
            os.mkdir(folder, 0o700)
            os.utime(folder, (0, 0))  # whatever a job makes here moves it
        os.chmod(self.base, 0o700)
        os.utime(self.base, (0, 0))
        if self.ruleset >= 0:
            os.close(self.ruleset)
        self.ruleset = landlock.ruleset(read=self._read, write=self.writable, device_files=DEVICE_PATHS)


def _without(paths: list[str], masked: list[str]) -> list[str]:
    """The same folders but for what is masked: Landlock can only allow, so the siblings are allowed one by one."""
    allowed = []
    for path in map(os.path.realpath, paths):
        if path in masked:
            continue
        if any(hidden.startswith(f"{path}/") for hidden in masked):
            with contextlib.suppress(OSError):
                allowed += _without([f"{path}/{name}" for name in os.listdir(path)], masked)
        else:
            allowed.append(path)
    return allowed


def _tasks_of(uid: int) -> int:
    """Processes and threads that this user runs now."""
    count = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{name}").st_uid == uid:
                    count += len(os.listdir(f"/proc/{name}/task"))
    return count

"""The process between the supervisor and the zygotes. It never sees a job.

Started by exec with an empty environment, so that nothing of the supervisor's memory, descriptors or settings is in
it. It imports and warms what jobs use, forks zygotes on request, owns control groups and folders, and outlives the
supervisor just long enough to end everything and remove everything when that is gone, however it went.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import tempfile
from collections.abc import Iterable
from typing import Any

from . import cgroups, helper, job, kernel, tree, warm, wire
from .enter import become_zygote, environment, read_report, set_name, spare_id
from .world import OWN, filters


class Keeper:
    """Zygotes by number, and what has to be removed after each."""

    def __init__(self, control: socket.socket, caller: int) -> None:
        self.control, self.caller = control, caller
        self.plan: dict[str, Any] = {}
        self.groups: cgroups.Cgroups | None = None
        self.folder: str | None = None
        self.children: dict[int, tuple[int, int, Any, str | None]] = {}  # number -> pid, pidfd, group, folder
        self.lifeline, self.lifeline_end = os.pipe()
        self.started = 0
        self.memory_kills: dict[int, int] = {}

    def prepare(self) -> dict[str, Any]:
        """Read the plan, import, warm up. Returns what the supervisor wants to know."""
        message, fds, _, _ = socket.recv_fds(self.control, wire.INLINE + 4096, 1)
        self.plan = wire.receive_plain(message, fds)
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
        set_name(b"lydite-keeper")
        if self.plan["cgroup"]:
            self.groups = cgroups.find()
            self.groups.sweep()
        if not self.plan["namespaces"]:
            _sweep_folders(self.plan["temp"])
            self.folder = tempfile.mkdtemp(
                prefix=f"lydite-{os.getpid()}-{_start_time(os.getpid())}-", dir=self.plan["temp"]
            )
            os.chmod(self.folder, 0o711)  # noqa: S103  (jobs go through, nobody lists)
        path = self.plan["helper"]
        self.plan["library"] = helper.load(path) if path and self.plan["namespaces"] else None
        warm.imports(self.plan)
        environment(self.plan)
        if self.plan["namespaces"]:
            filters(self.plan)
        self.plan["warm"] = warm.up()
        gc.collect()
        gc.freeze()  # a collection in a job would write to the header of every object, and so copy every page
        gc.disable()
        return {"ready": True, "helper": self.plan["library"] is not None}

    def serve(self) -> None:
        """Until the supervisor is gone."""
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        caller = os.pidfd_open(self.caller)  # also when a fork of the supervisor still holds our socket
        poll.register(caller, select.POLLIN)
        while True:
            for _, pidfd, _, _ in self.children.values():
                poll.register(pidfd, select.POLLIN)
            ready = {fd for fd, _ in poll.poll()}
            for number, (_, pidfd, _, _) in list(self.children.items()):
                if pidfd in ready:
                    poll.unregister(pidfd)
                    self.bury(number)
            if caller in ready:
                return
            if self.control.fileno() in ready:
                message, fds, _, _ = socket.recv_fds(self.control, wire.INLINE + 4096, 4)
                if not message:
                    return
                request = json.loads(message)
                try:
                    answer = self.spawn(request, fds) if request["do"] == "spawn" else self.end(request["number"], poll)
                except OSError as error:
                    answer = {"error": str(error)}
                finally:
                    for fd in fds:
                        os.close(fd)
                self.control.send(json.dumps(answer).encode())

    def spawn(self, request: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Fork a zygote that serves on this descriptor."""
        number = self.started
        self.started += 1
        plan = {**self.plan, **request["plan"]}
        # Commands of one session would be in Landlock domains of their own, and could not end what one of them started;
        # their root is the session's alone without it.
        plan["landlock"] = not (plan["namespaces"] and request["kind"] == "session")
        uid = spare_id(number) if os.getuid() == 0 else None
        group = None
        if self.groups is not None:
            group = self.groups.create(str(number), plan["memory"] + plan["overhead"], plan["processes"] + OWN)
        folder = None
        if self.folder is not None:
            folder = plan["folder"] = f"{self.folder}/{number}"
            os.mkdir(folder, 0o700)
            if uid is not None:
                os.chown(folder, uid, uid)
        report, report_end = os.pipe()
        pid = job.fork()
        if pid == 0:
            os.close(report)
            become_zygote(plan, uid, group, request["kind"], fds[0], self.lifeline, report_end)
        os.close(report_end)
        child, reason = read_report(report)
        os.close(report)
        if child is None:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
            self._remove(group, folder)
            return {"error": reason or "the zygote died while it was set up"}
        if child != pid:
            os.waitpid(pid, 0)
        self.children[number] = (child, os.pidfd_open(child), group, folder)
        if reason != "ready":
            self.end(number, None)
            return {"error": reason or "the zygote died while it was set up"}
        return {"number": number, "uid": uid if uid is not None else os.getuid()}

    def end(self, number: int, poll: Any) -> dict[str, Any]:
        """Kill a zygote and everything below it, and remove what it had."""
        if number in self.children:
            _, pidfd, _, _ = self.children[number]
            if poll is not None:
                with contextlib.suppress(KeyError):
                    poll.unregister(pidfd)
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            self.bury(number)
        return {"ended": number, "memory_kills": self.memory_kills.pop(number, 0)}

    def bury(self, number: int) -> None:
        """Reap a zygote that is dead and remove what it had."""
        pid, pidfd, group, folder = self.children.pop(number)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
        os.close(pidfd)
        if group is not None:
            # A zygote can itself be the victim, of a job that fills memory which is no process's own: the job's doing.
            with contextlib.suppress(OSError):
                group.open()
                self.memory_kills[number] = group.oom_kills() if group.limit_hits() else 0
            group.close()
        if not self.plan["namespaces"]:
            self._end_orphans()
        self._remove(group, folder)

    def _end_orphans(self) -> None:
        """Kill what a zygote without a pid namespace has left: orphans come to us, since we are a subreaper."""
        known = {pid for pid, _, _, _ in self.children.values()}
        while True:
            with open(f"/proc/self/task/{os.getpid()}/children") as file:
                orphans = [pid for pid in map(int, file.read().split()) if pid not in known]
            if not orphans:
                return
            for pid in orphans:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for pid in orphans:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)

    def _remove(self, group: Any, folder: str | None) -> None:
        if group is not None:
            group.kill_all()
            with contextlib.suppress(OSError):  # what cannot be removed now is swept by a later keeper
                group.remove()
        if folder is not None:
            _remove_folder(folder)

    def close(self) -> None:
        """End everything and remove everything."""
        for _, pidfd, _, _ in self.children.values():
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        for number in list(self.children):
            self.bury(number)
        if self.folder is not None:
            _remove_folder(self.folder)


def _sweep_folders(temp: str) -> None:
    """Remove what a keeper that was killed itself has left behind."""
    for name in os.listdir(temp):
        parts = name.split("-")
        if len(parts) == 4 and parts[0] == "lydite" and parts[1].isdigit() and _start_time(int(parts[1])) != parts[2]:
            path = os.path.join(temp, name)
            with contextlib.suppress(OSError):
                if os.lstat(path).st_uid == os.getuid():
                    _remove_folder(path)


def _remove_folder(path: str) -> None:
    """Remove what jobs may have made as deep and as closed as they liked. What is left is swept by a later keeper."""
    with contextlib.suppress(OSError):
        parent = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            tree.remove(parent, os.path.basename(path))
        finally:
            os.close(parent)


def _start_time(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[19].decode()
    except OSError:
        return ""


def main(arguments: Iterable[str]) -> None:
    """``keeper CONTROL_FD CALLER_PID``."""
    control, caller = map(int, arguments)
    # What the supervisor ignores or blocks is its own affair; jobs find signals as they are by default.
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGPIPE, signal.SIGXFSZ}:
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    # The terminal's ^C is for the supervisor, which then ends us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    keeper = Keeper(socket.socket(fileno=control), caller)
    try:
        try:
            answer = keeper.prepare()
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        keeper.control.send(json.dumps(answer).encode())
        if "error" not in answer:
            keeper.serve()
    except (BrokenPipeError, ConnectionResetError):
        pass
    finally:
        keeper.close()

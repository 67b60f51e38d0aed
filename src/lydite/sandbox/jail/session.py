"""A zygote that keeps one tree for many commands: file operations by itself, commands in children forked ahead.

Covered: the tree and the processes of one session are its own; every file operation goes through :mod:`.tree`, by a
    process
that is itself confined to the session's file system, so even an operation that was fooled could only reach the session;
background processes of a command live on, in the session's pid namespace, until it is frozen, closed or a command times
out, and none survives that. Not covered: commands of one session can see and disturb each other, as in any shell.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import socket
import time
from typing import Any, NoReturn

from . import helper, job, tree, wire
from .confined import LandlockOnly
from .world import OWN, Namespaces
from .zygote import Watch

EXEC, READ, WRITE, REMOVE, LIST, FREEZE, PACK, UNPACK = range(1, 9)


class Session:
    """The state of one session."""

    def __init__(self, world: job.World, requests: socket.socket, group: Any, lifeline: int) -> None:
        self.world, self.requests, self.group, self.lifeline = world, requests, group, lifeline
        self.watch = Watch(world, group, lifeline, requests, sampled=group is None)
        self.note_r, self.note_w = os.pipe()
        self.ahead: tuple[int, int, socket.socket] | None = None  # pid, pidfd and socket of the child forked ahead
        self.frozen = False
        self.library = world.plan["library"]
        if self.library is not None:
            assert isinstance(world, Namespaces)
            self.state, self.keep = helper.prepare(world, -1, (self.note_r, self.note_w), group, lifeline, self.watch)

    def fork_ahead(self) -> None:
        """Have a child ready for the next command."""
        if not self.world.init and not self.world.group_only:
            self.world.begin()
            self.world.renew_proc()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        null = os.open(os.devnull, os.O_RDWR)
        try:
            pid = job.fork()
            if pid == 0:
                ours.close()
                if self.library is not None:
                    assert isinstance(self.world, Namespaces)
                    helper.child(self.world, self.state, self.keep, theirs.detach())
                job.main(self.world, job.Pipes(theirs.detach(), self.note_w, null, null), self.group, None)
        finally:  # also where no process is left for it
            theirs.close()
            os.close(null)
        self.ahead = (pid, os.pidfd_open(pid), ours)

    def make_room(self, size: int) -> None:
        """Allow ourselves this much memory: the whole tree at once, for which a job's limit was not made."""
        if self.group is not None:
            with contextlib.suppress(OSError):
                self.group.set_memory(self.world.plan["memory"] + self.world.plan["overhead"] + size)

    def look(self) -> None:
        """What commands have left running counts between commands as well, where nothing but we count."""
        pid = self.ahead[0] if self.ahead is not None else 0
        if self.world.init and self.watch.sample(pid, float("inf"), self.world.plan["memory"]):
            self.stop_all()

    def stop_all(self) -> None:
        """Kill every process of the session but ourselves."""
        pid = 0
        if self.ahead is not None:
            pid, pidfd, ours = self.ahead
            self.ahead = None
            ours.close()
            os.close(pidfd)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
        self.world.kill(pid)
        self.world.end(pid)

    def exec(self, message: bytes, fds: list[int]) -> bytes:
        """Run a command. Returns the reply (:data:`.wire.REPLY`)."""
        try:
            pid, pidfd, ours = self._hand_over(message, fds)
        except OSError as error:  # what earlier commands left running takes all processes, or all memory
            killed, denied = self.watch.counters()
            reply = wire.REPLY.pack(False, 0, wire.NOT_STOPPED, killed, max(1, denied), 0, 0.0, 0.0)
            return reply + f"{errno.EAGAIN} {error}".encode()
        try:
            note = self._note(pidfd)
            if len(note) == wire.NOTE.size:
                wall, cpu, memory, processes, start_ns = wire.NOTE.unpack(note)
                stopped, clock, before = self.watch.until_end(pid, pidfd, wall, cpu, memory, start_ns / 1e9)
                seconds = clock()
                started = True
            else:
                stopped, seconds, before, started = wire.NOT_STOPPED, 0.0, 0.0, False
                memory = processes = -1  # whatever the set-up had changed is set again
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if isinstance(self.world, LandlockOnly):
                self.world.kill(pid)  # only a group can be killed for certain, so nothing outlives its command here
            _, status, usage = os.wait4(pid, 0)
            if stopped or isinstance(self.world, LandlockOnly):
                self.world.end(pid)  # a command that was stopped takes everything with it
        finally:
            ours.close()
            os.close(pidfd)
        if self.group is not None:  # a command may have had limits of its own
            plan = self.world.plan
            with contextlib.suppress(OSError):
                if processes != plan["processes"]:
                    self.group.set_processes(plan["processes"] + OWN)
                if memory != plan["memory"]:
                    self.group.set_memory(plan["memory"] + plan["overhead"])
        killed, denied = self.watch.counters()
        full = self.world.full() if status else 0
        cpu_used = self.watch.cpu_since(before, usage) if started else 0.0
        reply = wire.REPLY.pack(started, status, stopped, killed, denied, full, seconds, cpu_used)
        return reply if started else reply + note

    def _hand_over(self, message: bytes, fds: list[int]) -> tuple[int, int, socket.socket]:
        """Give a command to the child forked ahead. One that did not live to see it is replaced."""
        for _ in range(20):
            if self.ahead is None:
                self.fork_ahead()
            assert self.ahead is not None
            pid, pidfd, ours = self.ahead
            self.ahead = None
            with contextlib.suppress(OSError):
                socket.send_fds(ours, [message], fds)
                return pid, pidfd, ours
            ours.close()
            os.close(pidfd)
            os.waitpid(pid, 0)
            time.sleep(0.05)  # memory that a command before has filled is given back in a moment
        raise OSError("no command can be started")

    def _note(self, pidfd: int) -> bytes:
        poll = select.poll()
        poll.register(self.note_r, select.POLLIN)
        poll.register(pidfd, select.POLLIN)
        events = dict(poll.poll())
        if self.note_r in events:
            return os.read(self.note_r, 4096)
        return b"0 the command's process was killed before the command started"

    def file(self, operation: int, path: str, data: bytes, number: int) -> bytes:
        """One file operation below the workspace."""
        root = os.open(self.world.workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if operation == READ:
                return tree.read(root, path, number)
            if operation == WRITE:
                tree.write(root, path, data, number)
            elif operation == REMOVE:
                tree.remove(root, path)
            elif operation == LIST:
                return b"\0".join(map(os.fsencode, tree.listing(root, path)))
            elif operation == PACK:
                return tree.pack(root, number)
            elif operation == UNPACK:
                tree.unpack(root, data)
            return b""
        finally:
            os.close(root)


def serve(world: job.World, requests: socket.socket, group: Any, lifeline: int) -> NoReturn:
    """Answer requests until the supervisor is gone."""
    session = Session(world, requests, group, lifeline)
    poll = select.poll()
    poll.register(requests, select.POLLIN)
    poll.register(lifeline, 0)
    while True:
        if session.ahead is None and not session.frozen:
            with contextlib.suppress(OSError):  # no process is left for it now; tried again when a command comes
                session.fork_ahead()
        events = poll.poll(None if group is not None or session.frozen else 200)
        if any(fd == lifeline for fd, _ in events):
            os._exit(0)
        if not events:
            session.look()
            continue
        message, fds, _, _ = socket.recv_fds(requests, wire.INLINE + 4096, 8)
        if not message:
            os._exit(0)
        if message == wire.STOP:  # of a command that had ended meanwhile
            continue
        try:
            _answer(session, message, fds)
        except OSError:
            os._exit(0)  # the supervisor is gone
        finally:
            for fd in fds:
                with contextlib.suppress(OSError):
                    os.close(fd)


def _answer(session: Session, message: bytes, fds: list[int]) -> None:
    operation = message[0]
    if operation == EXEC:
        session.requests.send(session.exec(message[1:], fds))
        return
    code, content = 0, b""
    try:
        if operation == FREEZE:
            session.frozen = True
            session.stop_all()
        else:
            path, data, number = wire.receive_plain(message[1:], fds)
            if operation == PACK:
                session.make_room(5 * number)
            content = session.file(operation, path, data, number)
    except OSError as error:
        code, content = error.errno or 5, str(error.strerror or error).encode(errors="replace")
    except ValueError as error:
        code, content = wire.NO_PATH, str(error).encode(errors="replace")
    _send(session, wire.FILE.pack(code, len(content)), content)
    del content
    if operation == PACK:
        session.make_room(0)


def _send(session: Session, head: bytes, content: bytes) -> None:
    if len(content) <= wire.INLINE:
        session.requests.send(head + content)
        return
    blob = wire.sealed(content)
    try:
        socket.send_fds(session.requests, [head], (blob,))
    finally:
        os.close(blob)

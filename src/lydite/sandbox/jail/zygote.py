"""The process from which jobs are forked, one at a time, and its watch over them.

A zygote is forked by the keeper, warm, single-threaded and without any secret; it confines itself for good (see
:mod:`.world`) and then serves. It never receives a program: the child forked ahead does. What it tells the supervisor
comes from the kernel alone (wait status, counters of the control group), so a job cannot forge it.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from typing import Any, NoReturn

from . import helper, job, sampler, wire
from .batch import run_batch
from .confined import LandlockOnly
from .world import OWN, Namespaces

SAMPLE_MS = 30  # a look at the memory of a job this often, where no control group counts it
TICK_MS = 100  # a look at its processor time this often


class Watch:
    """Follows one process of a job until it ends or has used up a limit."""

    def __init__(self, world: Any, group: Any, lifeline: int, control: socket.socket | None, sampled: bool) -> None:
        self.world, self.group, self.lifeline, self.control, self.sampled = world, group, lifeline, control, sampled
        self.tick_ms = SAMPLE_MS if sampled else TICK_MS
        self._last = self._read()

    def until_end(
        self, pid: int, pidfd: int, wall: float, cpu: float, memory: int, start: float
    ) -> tuple[int, Callable[[], float], float]:
        """Wait for the end of a process, and stop the job at a limit.

        Returns: why it was stopped (:mod:`.wire`), a clock of the seconds since its start, processor seconds before it.
        """

        def clock() -> float:
            return time.monotonic() - start

        cpu_before = (self.group.cpu_seconds() if self.group else None) or 0.0
        poll = select.poll()
        poll.register(pidfd, select.POLLIN)
        if self.lifeline >= 0:
            poll.register(self.lifeline, 0)
        if self.control is not None:
            poll.register(self.control, select.POLLIN)
        while True:
            left = wall - clock()
            if left <= 0:
                return self._stop(pid, wire.WALL), clock, cpu_before
            for fd, event in poll.poll(max(1, min(int(1000 * left) + 1, self.tick_ms))):
                if fd == pidfd:
                    return wire.NOT_STOPPED, clock, cpu_before
                if fd == self.lifeline or event & (select.POLLHUP | select.POLLERR):
                    self._stop(pid, wire.ASKED)
                    os._exit(0)  # the keeper or the supervisor is gone
                assert self.control is not None
                self.control.recv(64)
                return self._stop(pid, wire.ASKED), clock, cpu_before
            if self.group is not None and (self.group.cpu_seconds() or 0.0) - cpu_before > cpu:
                return self._stop(pid, wire.CPU), clock, cpu_before
            if self.sampled and (reason := self.sample(pid, cpu, memory)):
                return self._stop(pid, reason), clock, cpu_before

    def _stop(self, pid: int, reason: int) -> int:
        self.world.kill(pid)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        return reason

    def sample(self, pid: int, cpu: float, memory: int) -> int:
        """A look at what the job uses. Returns why to stop it, or 0."""
        members = self.world.members(pid)
        left = memory - self.world.used()
        if sampler.memory(self.world.proc, members, left, not self.world.group_only) > left:
            return wire.MEMORY
        if isinstance(self.world, LandlockOnly) and self.world.full():
            return wire.DISK
        return wire.CPU if sampler.cpu_seconds(self.world.proc, members) > cpu else wire.NOT_STOPPED

    def _read(self) -> tuple[int, int, int]:
        group = self.group
        return (group.oom_kills(), group.denied_forks(), group.limit_hits()) if group else (0, 0, 0)

    def counters(self) -> tuple[int, int]:
        """Memory kills and denied forks since the last call. Kills are negative where the group was not at its limit:
        then the machine itself had run out of memory, and that is nobody's doing in here."""
        last, self._last = self._last, self._read()
        killed, denied, hits = (now - then for now, then in zip(self._last, last, strict=True))
        return (killed if hits else -killed), denied

    def cpu_since(self, before: float, usage: Any) -> float:
        """Processor seconds: of everything where a group counts, else of the process and those it waited for."""
        total = self.group.cpu_seconds() if self.group else None
        return float(total - before if total is not None else usage.ru_utime + usage.ru_stime)


def serve(world: job.World, requests: socket.socket, group: Any, lifeline: int) -> NoReturn:
    """Fork a child ahead, wait for its job, report it, clean up; until the supervisor is gone."""
    watch = Watch(world, group, lifeline, requests, sampled=group is None)
    if world.plan["library"] is not None:
        assert isinstance(world, Namespaces)
        helper.serve(world, requests, group, lifeline, watch)
    note_r, note_w = os.pipe()
    usual = int(world.plan["memory"])

    def batch(inner: job.World, pipes: job.Pipes, request: wire.Request, inputs: int) -> None:
        run_batch(inner, pipes, request, inputs, Watch(inner.become_inner(), group, -1, None, sampled=False))

    while True:
        world.begin()
        out, err = wire.output_file("stdout"), wire.output_file("stderr")
        pid = job.fork()
        if pid == 0:
            job.main(world, job.Pipes(requests.fileno(), note_w, out, err), group, batch)
        pidfd = os.pidfd_open(pid)
        note = _note(note_r, pidfd, lifeline)
        if note is None:
            os._exit(0)
        if len(note) == wire.NOTE.size:
            wall, cpu, memory, processes, start_ns = wire.NOTE.unpack(note)
            stopped, clock, before = watch.until_end(pid, pidfd, wall, cpu, memory, start_ns / 1e9)
            started = True
        else:
            stopped, clock, before, started = wire.NOT_STOPPED, _no_time, 0.0, False
            memory = processes = -1  # whatever the set-up had changed is set again
        world.kill(pid)
        _, status, usage = os.wait4(pid, 0)
        world.end(pid)
        seconds = clock()
        killed, denied = watch.counters()
        full = world.full() if status else 0
        reply = wire.REPLY.pack(
            started, status, stopped, killed, denied, full, seconds, watch.cpu_since(before, usage) if started else 0.0
        )
        if not started:
            reply += note
        try:
            socket.send_fds(requests, [reply], (out, err))
        except OSError:
            os._exit(0)
        for fd in (out, err, pidfd):
            os.close(fd)
        if group is not None and memory != usual:
            group.set_memory(usual + world.plan["overhead"])
        if group is not None and processes != world.plan["processes"]:
            group.set_processes(world.plan["processes"] + OWN)
        world.clean()


def _no_time() -> float:
    return 0.0


def _note(note_r: int, pidfd: int, lifeline: int) -> bytes | None:
    """The note of the child forked ahead; None when it ended without one.

    It left because nobody asks any more, or it was killed while it waited (then nobody waits for an answer), or with
    the request in its hands: nobody can tell, so the zygote ends, and the supervisor finds out about its request.
    """
    poll = select.poll()
    poll.register(note_r, select.POLLIN)
    poll.register(pidfd, select.POLLIN)
    poll.register(lifeline, 0)
    events = dict(poll.poll())
    if note_r in events:
        return os.read(note_r, 4096)
    return None

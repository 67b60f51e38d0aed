"""Runs one program in a box that stands, and says what became of it.

Out of band is what process 1 of the box tells (:mod:`.inner`). "started" arrives before the program exists, so a
program can bring about anything but ``invalid``: whatever happens after that word is its own doing.

Covered: wall clock and processor time, memory of all processes, threads, disk, output. Not covered: what a job uses
between two looks (:mod:`.watch`).
"""

from __future__ import annotations

import json
import select
import signal
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Any

from lydite.sandbox.classify import Ending, classify
from lydite.sandbox.external.box import WORKSPACE
from lydite.sandbox.external.live import GRACE_S, Live, NotReadyError
from lydite.sandbox.external.pipes import Stdio
from lydite.sandbox.external.watch import LOOK_S, Watch
from lydite.sandbox.jail import wire
from lydite.sandbox.result import MIB, ExecResult, Limits

NEARLY = 0.7  # a program that the kernel killed while it used more than this share of its memory died of that


class Run:
    """One run of one program."""

    def __init__(self, live: Live, limits: Limits, name: str) -> None:
        self._live, self._limits, self._name = live, limits, name
        self._watch = Watch(live, limits)
        self._stopped = wire.NOT_STOPPED
        self._began = self._over = 0.0  # moments: the program started; it has ended or was stopped
        self._report: dict[str, Any] = {}
        self._heard = b""

    def follow(self, argv: Sequence[str], env: Mapping[str, str], stdio: Stdio, filter_: bytes) -> None:
        """Run a program to its end, or to the end that we make of it.

        Args: argv, env: the program and its whole environment. filter_: a system call filter, or nothing.

        Raises:
            NotReadyError: the box was lost before the program started.
        """
        live = self._live
        assert live.link is not None
        job = {
            "argv": list(argv),
            "env": dict(env),
            "cwd": WORKSPACE,
            "limits": self._rlimits(),
            "filter": filter_.hex(),
            "count": 0 if live.command.inside else self._limits.processes,
        }
        self._send(live.link, json.dumps(job).encode() + b"\n", stdio.theirs if live.command.passes else ())
        stdio.given()
        asked = time.monotonic()
        while not self._report:
            now = time.monotonic()
            left = self._deadline(asked) - now
            if left <= 0:
                if self._over:
                    break  # close() will do the rest
                if not self._began:
                    raise NotReadyError("the box did not answer")
                self._stop(wire.WALL)
                continue
            if self._running and (why := self._watch.look()):
                self._stop(why)
            poll = select.poll()
            for fd in (*stdio.open, live.link.fileno(), live.tool):
                poll.register(fd, select.POLLIN)
            for fd, _ in poll.poll(int(1000 * min(left, LOOK_S if self._running else left)) + 1):
                if fd in stdio.open:
                    if not stdio.read(fd):
                        self._stop(wire.NOT_STOPPED)  # the output itself says why
                elif fd == live.link.fileno():
                    if not self._hear(live.link):
                        return self._lost()
                elif not self._drained(live.link):
                    return self._lost()
        return None

    def _send(self, link: socket.socket, data: bytes, fds: Sequence[int]) -> None:
        try:
            sent = socket.send_fds(link, [data], fds)
            link.sendall(data[sent:])
        except OSError as error:
            raise NotReadyError(f"the box was lost: {error}") from None

    def _rlimits(self) -> dict[str, int]:
        limits = self._limits
        found = {
            "RLIMIT_NOFILE": limits.descriptors,
            "RLIMIT_FSIZE": limits.file_mb * MIB,
            "RLIMIT_CPU": max(1, int(self._watch.cpu + 1.999)),  # per process, in case that nobody looks in time
            "RLIMIT_CORE": 0,
        }
        if self._live.command.per_user:
            found["RLIMIT_NPROC"] = limits.processes + 1  # process 1 of the box counts
        return found

    def _deadline(self, asked: float) -> float:
        if self._over:
            return self._over + GRACE_S
        return self._began + self._limits.timeout if self._began else asked + GRACE_S

    @property
    def _running(self) -> bool:
        return bool(self._began and not self._over)

    def _stop(self, why: int) -> None:
        self._stopped = self._stopped or why
        self._over = self._over or time.monotonic()
        self._live.kill()

    def _hear(self, link: socket.socket) -> bool:
        """What process 1 says. False: it is gone."""
        try:
            part = link.recv(4096)
        except OSError:
            return False
        *lines, self._heard = (self._heard + part).split(b"\n")
        for line in lines:
            word = json.loads(line)
            now = time.monotonic()
            if "started" in word:
                self._began = now
            elif "failed" in word:
                raise NotReadyError(word["failed"])
            else:
                self._report, self._over = word, self._over or now
        return bool(part)

    def _drained(self, link: socket.socket) -> bool:
        """The tool has ended: hear what process 1 said before that."""
        link.setblocking(False)
        while not self._report and self._hear(link):
            pass
        return bool(self._report)

    def _lost(self) -> None:
        if not self._began:
            raise NotReadyError("the box ended before the program started")
        self._over = self._over or time.monotonic()

    def result(self, out: bytes, err: bytes, asked: bool) -> ExecResult:
        """What became of the program. ``asked``: it was killed on request."""
        limits = self._limits
        status = self._report.get("status", int(signal.SIGKILL))
        stopped = self._stopped or (wire.ASKED if asked else wire.NOT_STOPPED)
        failed = status != 0
        if failed and not stopped:
            self._watch.walk()
        tasks = int(self._report.get("processes", 0))
        if self._live.command.inside:
            tasks = max(tasks, self._watch.peak.tasks)
        heavy = self._watch.peak.memory > NEARLY * limits.memory_mb * MIB
        ending = Ending(
            started=True,
            status=status,
            stopped=stopped,
            killed=int(status == signal.SIGKILL and not stopped and heavy),
            denied=int(failed and tasks >= limits.processes),
            full=failed and self._watch.full,
            wall=self._report.get("wall", self._over - self._began),
            cpu=max(self._report.get("cpu", 0.0), self._watch.last.cpu),
            reason="",
        )
        return classify(ending, out, err, limits, self._name)

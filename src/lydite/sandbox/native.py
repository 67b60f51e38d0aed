"""The back ends of our own: warm zygotes behind namespaces, or behind Landlock alone."""

from __future__ import annotations

import os
import queue
import socket
import threading
import weakref
from typing import TYPE_CHECKING, Any

from lydite.errors import InputError, UnavailableError
from lydite.sandbox.compiled import helper
from lydite.sandbox.interpreter import Environment
from lydite.sandbox.keeper import Keeper
from lydite.sandbox.result import MIB, ExecResult, Job, Limits, Tree
from lydite.sandbox.worker import Cancel, Worker

if TYPE_CHECKING:
    from lydite.sandbox.session import NativeSession

RECYCLE = 10_000  # jobs of one zygote


class Native:
    """Back ends ``namespaces``, ``namespaces-nocgroup`` and ``landlock``. Thread-safe; processes start at first use."""

    def __init__(
        self, name: str, environment: Environment, *, workers: int, network: str = "none", limits: Limits | None = None
    ) -> None:
        self.name = name
        self._environment, self._network, self._count = environment, network, workers
        self.limits = limits or Limits()
        self._lock = threading.Lock()
        self._closed = False
        self._keeper: Keeper | None = None
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        self._workers: list[Worker] = []
        self._sessions: weakref.WeakSet[NativeSession] = weakref.WeakSet()
        self._fill()
        _LIVE.add(self)

    def _fill(self) -> None:
        self._idle = queue.SimpleQueue()
        self._workers = [Worker(self) for _ in range(self._count)]
        for worker in self._workers:
            self._idle.put(worker)

    def keeper(self) -> Keeper:
        """The keeper, started when it is needed."""
        with self._lock:
            if self._closed:
                raise UnavailableError("the sandbox is closed")
            if self._keeper is None:
                self._keeper = Keeper(
                    self._environment,
                    namespaces=self.name != "landlock",
                    cgroup=self.name == "namespaces",
                    network=self._network,
                    helper=helper(),
                )
            return self._keeper

    def start(self) -> None:
        """Have one worker ready.

        Raises:
            UnavailableError: this back end does not work here; the text says what is missing.
        """
        worker = self._idle.get()
        try:
            worker.connect()
        finally:
            self._idle.put(worker)

    def lost(self, keeper: Keeper) -> None:
        """This keeper does not answer: the next request starts another."""
        with self._lock:
            if self._keeper is keeper:
                self._keeper = None
        keeper.close()

    def spawn(self, kind: str, limits: Limits) -> tuple[Keeper, int, int, socket.socket]:
        """A zygote; a keeper that is gone is replaced once."""
        for attempt in (1, 2):
            keeper = self.keeper()
            try:
                return keeper, *keeper.spawn(kind, _plan(limits))
            except UnavailableError:
                if attempt == 2 or self._closed:
                    raise
                self.lost(keeper)
        raise AssertionError

    def run(self, job: Job, cancel: Cancel | None = None) -> list[ExecResult]:
        """Run the program once per input."""
        if job.limits.disk_mb != self.limits.disk_mb or job.limits.inodes != self.limits.inodes:
            raise InputError(
                "disk_mb and inodes are limits of a sandbox, not of one job",
                field="disk_mb",
                remedy="give them to Sandbox(...)",
            )
        if self._closed:
            raise UnavailableError("the sandbox is closed")
        worker = self._idle.get()
        try:
            return worker.run(job, cancel)
        finally:
            self._idle.put(worker)

    def session(self, files: dict[str, bytes], limits: Limits) -> Tree:
        from lydite.sandbox.session import NativeSession

        session = NativeSession(self, files, limits)
        self._sessions.add(session)
        return session

    @property
    def recycle_after(self) -> int:
        """A network of its own per job, where there is a network: a port in TIME_WAIT would reach into the next job."""
        return 1 if self._network == "loopback" else RECYCLE

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        with self._lock:
            self._closed = True
            keeper, self._keeper = self._keeper, None
        if keeper is not None:
            keeper.close()
        for worker in self._workers:
            worker.drop()
        for session in list(self._sessions):
            session.close()

    def after_fork(self) -> None:
        """In a child of this process: what was started belongs to the parent; start afresh when asked."""
        self._lock = threading.Lock()
        if self._keeper is not None:
            self._keeper.forget()
            self._keeper = None
        for worker in self._workers:
            worker.forget()
        for session in list(self._sessions):
            session.forget()
        self._fill()


_LIVE: weakref.WeakSet[Native] = weakref.WeakSet()


def _after_fork() -> None:
    for native in list(_LIVE):
        native.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _plan(limits: Limits) -> dict[str, Any]:
    return {
        "memory": limits.memory_mb * MIB,
        "processes": limits.processes,
        "disk": limits.disk_mb * MIB,
        "inodes": limits.inodes,
    }

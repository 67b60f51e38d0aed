"""The sandbox as its users see it."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Literal, Self

from lydite.errors import InputError
from lydite.sandbox.arguments import checked_files, content, environ, override, words
from lydite.sandbox.choose import make
from lydite.sandbox.result import Backend, ExecResult, Job, Limits
from lydite.sandbox.snapshot import Snapshot
from lydite.sandbox.workspace import Workspace

ASYNC_THREADS = 64  # threads only wait, so there may be more of them than workers


class Sandbox:
    """Runs untrusted programs. Usable from any thread, and after a fork; close it or use it in a ``with`` statement.

    Args:
        backend: ``auto`` takes the best of ``namespaces``, ``namespaces-nocgroup`` and ``landlock`` that works here.
            Others by name: ``bwrap``, ``nsjail``, ``runsc``, ``runc``, ``crun``, ``podman:IMAGE``, ``docker:IMAGE``,
            and ``unsafe``, which isolates nothing.
        workers: jobs at one time; default: the processors of this machine. Further jobs wait for their turn, and their
            clocks start when they do.
        preload: modules that every Python job finds imported: ``plain`` (a choice of the standard library), ``numpy``,
            or names.
        packages: distributions, installed for this interpreter, that jobs may import without a preload. Nothing else
            that is installed here can be imported or read by a job.
        overlays: folders of installed packages (see ``lydite.sandbox.overlay``) that jobs may import from, read-only,
            behind ``packages``; the programs in their ``bin`` can be called.
        modules: modules of the caller's own, name to Python source, that every Python job finds imported. They are run
            once, unconfined, before any job; jobs can read all of them. For the own back ends.
        network: ``none``, or ``loopback``: an interface of its own that leads nowhere else.
        python: the interpreter of the jobs; default: the one below this virtual environment.
        limits: defaults for every job, as keywords (see :class:`~lydite.sandbox.Limits`).

    Raises:
        InputError: an unknown back end, limit, package or option.
        UnavailableError: the back end does not work here; for ``auto``, why none does.
    """

    def __init__(
        self,
        backend: str = "auto",
        *,
        workers: int | None = None,
        preload: str | Sequence[str] = "plain",
        packages: Sequence[str] = (),
        overlays: Sequence[str] = (),
        modules: Mapping[str, str] | None = None,
        network: Literal["none", "loopback"] = "none",
        python: str | None = None,
        **limits: Any,
    ) -> None:
        if workers is not None and (not isinstance(workers, int) or workers < 1):
            raise InputError(f"{workers} workers run nothing", field="workers", remedy="give a number from 1 on")
        if network not in ("none", "loopback"):
            raise InputError(f"{network!r} is no network", field="network", remedy="give none or loopback")
        self.limits = override(Limits(), limits)
        self._arguments = {
            "backend": backend,
            "workers": workers,
            "preload": preload,
            "packages": packages,
            "overlays": overlays,
            "modules": modules,
            "network": network,
            "python": python,
            **limits,
        }
        self._backend: Backend = make(
            backend,
            workers=workers or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else workers or 1,
            preload=preload,
            packages=packages,
            overlays=overlays,
            modules=modules,
            network=network,
            python=python,
            limits=self.limits,
        )
        # A sandbox that nobody closed ends with its last reference, at the latest with this process.
        self._end = weakref.finalize(self, self._backend.close)
        self._threads: ThreadPoolExecutor | None = None
        self._threads_of = 0
        self._lock = threading.Lock()

    @property
    def backend(self) -> str:
        """The name of the back end that runs the jobs."""
        return self._backend.name

    def run(
        self,
        code: str | None = None,
        *,
        argv: Sequence[str] | None = None,
        stdin: bytes | str = b"",
        files: Mapping[str, bytes | str] | None = None,
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        **changes: Any,
    ) -> ExecResult:
        """Run Python source (``code``) or a command (``argv``) and wait for its end.

        Args:
            stdin: its standard input.
            files: made in its working directory before it starts; one that starts with ``#!`` is executable.
            env: added to a small fixed environment; nothing of ours is in it.
            limits: in place of the sandbox's defaults.
            changes: single limits by name, such as ``timeout=2.0, memory_mb=256``, on top of these.

        Returns: the result, whatever the program did.

        Raises:
            InputError: neither or both of ``code`` and ``argv``; a path that leads out; an argument of a wrong kind.
            UnavailableError: the sandbox is closed.
        """
        return self._backend.run(self._job(code, argv, [stdin], files, env, limits, changes))[0]

    def run_batch(
        self,
        code: str,
        stdins: Sequence[bytes | str],
        *,
        files: Mapping[str, bytes | str] | None = None,
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        **changes: Any,
    ) -> list[ExecResult]:
        """Run one program on many inputs, one after another, each in processes of its own, with the limits of one job
        each and fresh folders. The program is compiled once. Arguments and errors as :meth:`run`.

        Returns: one result per input, in order.
        """
        return self._backend.run(self._job(code, None, stdins, files, env, limits, changes)) if stdins else []

    def _job(
        self,
        code: str | None,
        argv: Sequence[str] | None,
        stdins: Sequence[bytes | str],
        files: Mapping[str, bytes | str] | None,
        env: Mapping[str, str] | None,
        limits: Limits | None,
        changes: Mapping[str, Any],
    ) -> Job:
        if isinstance(stdins, (str, bytes)):
            raise InputError("expected a list of inputs, not one", field="stdins", remedy="give [stdin]")
        if (code is None) == (argv is None) or (argv is not None and not argv):
            raise InputError("give code or argv, one of them", field="code", remedy="Python source, or a list of words")
        if code is not None and not isinstance(code, str):
            raise InputError(f"is a {type(code).__name__}", field="code", remedy="give Python source as text")
        return Job(
            code=code,
            argv=words(argv) if argv is not None else (),
            stdins=tuple(content(data, "stdin") for data in stdins),
            files=checked_files(files or {}),
            env=environ(env),
            limits=override(limits or self.limits, changes),
        )

    def session(self, files: Mapping[str, bytes | str] | Snapshot | None = None, **limits: Any) -> Workspace:
        """A private file tree for many commands, with these files or as a snapshot has it.

        ``limits`` replace the sandbox's defaults for this session.

        Raises:
            OSError: the files do not fit (ENOSPC).
        """
        wanted = override(self.limits, limits)
        if not isinstance(files, Snapshot):
            tree = self._backend.session(checked_files(files or {}), wanted)
        else:
            tree = self._backend.session({}, wanted)
            try:
                tree.unpack(files.to_pack())
            except BaseException:
                tree.close()
                raise
        return Workspace(tree, wanted, self.backend, self._executor())

    async def arun(
        self,
        code: str | None = None,
        *,
        argv: Sequence[str] | None = None,
        stdin: bytes | str = b"",
        files: Mapping[str, bytes | str] | None = None,
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        **changes: Any,
    ) -> ExecResult:
        """:meth:`run` without blocking the event loop. Cancelling it stops the job (own back ends; others run on)."""
        return (await self._off_loop(self._job(code, argv, [stdin], files, env, limits, changes)))[0]

    async def arun_batch(
        self,
        code: str,
        stdins: Sequence[bytes | str],
        *,
        files: Mapping[str, bytes | str] | None = None,
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        **changes: Any,
    ) -> list[ExecResult]:
        """:meth:`run_batch` without blocking the event loop. Cancelling it stops the batch."""
        return await self._off_loop(self._job(code, None, stdins, files, env, limits, changes)) if stdins else []

    async def _off_loop(self, job: Job) -> list[ExecResult]:
        import asyncio

        from lydite.sandbox.native import Native
        from lydite.sandbox.worker import Cancel

        backend, cancel = self._backend, Cancel()
        loop = asyncio.get_running_loop()
        if not isinstance(backend, Native):
            return await loop.run_in_executor(self._executor(), backend.run, job)
        try:
            return await loop.run_in_executor(self._executor(), backend.run, job, cancel)
        except asyncio.CancelledError:
            cancel()
            raise

    def _executor(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._threads is None or self._threads_of != os.getpid():  # threads do not survive a fork
                self._threads_of = os.getpid()
                self._threads = ThreadPoolExecutor(ASYNC_THREADS, thread_name_prefix="lydite-sandbox")
            return self._threads

    def close(self) -> None:
        """End every job and leave nothing behind: no process, mount, folder, control group. Idempotent."""
        self._end.detach()
        self._backend.close()
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> Any:
        """In another process a sandbox is made anew with the same settings."""
        return _again, (self._arguments,)


def _again(arguments: dict[str, Any]) -> Sandbox:
    return Sandbox(**arguments)

"""Tools that others made, behind the same interface as our own back ends."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence

from lydite.errors import UnavailableError
from lydite.sandbox.external.box import CONTROL, INNER_ID, Box, Builder, program_env
from lydite.sandbox.external.folders import Folders, Place
from lydite.sandbox.external.host import stage
from lydite.sandbox.external.launch import Run
from lydite.sandbox.external.live import Live, NotReadyError
from lydite.sandbox.external.pipes import Stdio
from lydite.sandbox.interpreter import Environment
from lydite.sandbox.jail import seccomp
from lydite.sandbox.result import MIB, ExecResult, Job, Limits, Status, Tree

MAIN = "main.py"


class External:
    """A back end whose boxes another tool makes: one box per run of a program, one per session. Thread-safe.

    Args:
        name: as results name it.
        builder: makes the tool's command line.
        environment: what the boxes show of this machine.
        workers: programs at one time; further calls wait for their turn.
        network: ``none`` or ``loopback``.
    """

    def __init__(
        self, name: str, builder: Builder, environment: Environment, workers: int, network: str = "none"
    ) -> None:
        self.name = name
        self._builder, self._environment, self._network = builder, environment, network
        self._workers, self.closed = workers, False
        self._filter = seccomp.program(
            seccomp.Policy(
                sockets="loopback" if network == "loopback" else "unix",
                memfd=False,
                namespaces=False,
                same_group=False,
                own_process_only=False,
                signals=True,
            )
        )
        self._begin()
        _ALL.add(self)

    def _begin(self) -> None:
        """Everything that belongs to this process."""
        self._turn = threading.BoundedSemaphore(self._workers)
        self._lock = threading.Lock()
        self._live: set[Live] = set()
        self._pid = os.getpid()
        self.folders = Folders()
        try:
            self._etc, self._state = self._prepare()
            self._staged = self._stage() if os.geteuid() == 0 else {}
        except BaseException:
            self.folders.close()
            raise

    def after_fork(self) -> None:
        """In a child of this process: what was started belongs to the parent; start afresh when asked."""
        self.folders.forget()
        for live in self._live:
            live.forget()
        self._lock = threading.Lock()
        self._pid = 0

    def _mine(self) -> None:
        with self._lock:
            self._refuse_closed()
            if self._pid != os.getpid():
                self._begin()

    def _prepare(self) -> tuple[str, str]:
        etc, state = f"{self.folders.folder}/etc", f"{self.folders.folder}/state"
        os.mkdir(etc)
        os.chmod(etc, 0o755)  # noqa: S103  (its base folder lets nobody list it)
        os.mkdir(state, 0o700)
        texts = {
            "passwd": f"job:x:{INNER_ID}:{INNER_ID}::/tmp:/bin/sh\n",
            "group": f"job:x:{INNER_ID}:\n",
            "hosts": "127.0.0.1 localhost\n::1 localhost\n",
        }
        for name, text in texts.items():
            with open(f"{etc}/{name}", "w") as file:
                file.write(text)
            os.chmod(f"{etc}/{name}", 0o644)
        return etc, state

    def _stage(self) -> dict[str, str]:
        folder = f"{self.folders.folder}/stage"
        os.mkdir(folder)
        os.chmod(folder, 0o755)  # noqa: S103
        env = self._environment
        return stage([*env.read_only, *(path for path, _ in env.packages), *env.overlays], folder)

    def run(self, job: Job) -> list[ExecResult]:
        """Run the program once per input, each time in a box and a folder of its own."""
        argv = (self._environment.python, "-s", "-P", f"{CONTROL}/{MAIN}") if job.code is not None else job.argv
        env = program_env(self._environment, job.code is not None, job.env)
        return [self._once(argv, env, stdin, job) for stdin in job.stdins]

    def _once(self, argv: Sequence[str], env: Mapping[str, str], stdin: bytes, job: Job) -> ExecResult:
        with self.turn():
            if sum(map(len, job.files.values())) > job.limits.disk_mb * MIB:
                return self._not_run(Status.DISK, "its files do not fit", "disk_mb")
            try:
                place = self.folders.make(job.files)
            except OSError as error:
                return self._not_run(Status.INVALID, f"its files cannot be made: {error}")
            try:
                if job.code is not None:
                    with open(f"{place.under('control')}/{MAIN}", "wb") as file:
                        file.write(job.code.encode(errors="surrogatepass"))
                live = self.box(place, job.limits)
                try:
                    return self.program(live, argv, env, stdin, job.limits, last=True)
                finally:
                    self.unbox(live)
            finally:
                self.folders.drop(place)

    def session(self, files: dict[str, bytes], limits: Limits) -> Tree:
        """A folder that outlives the programs in it."""
        from lydite.sandbox.external.session import ExternalTree

        self._mine()
        return ExternalTree(self, self.folders.make(files), limits)

    def environ(self, extra: Mapping[str, str]) -> dict[str, str]:
        """The environment of a command."""
        return program_env(self._environment, False, dict(extra))

    def box(self, place: Place, limits: Limits) -> Live:
        """A box, not started yet. The caller gives it back to :meth:`unbox`."""
        box = Box(
            place=place,
            etc=self._etc,
            environment=self._environment,
            network=self._network,
            limits=limits,
            state=self._state,
            staged=self._staged,
        )
        live = Live(self._builder(box), box, self.folders)
        with self._lock:
            self._refuse_closed()
            self._live.add(live)
        return live

    def unbox(self, live: Live) -> None:
        """End a box."""
        live.close()
        with self._lock:
            self._live.discard(live)

    def program(
        self, live: Live, argv: Sequence[str], env: Mapping[str, str], stdin: bytes, limits: Limits, last: bool
    ) -> ExecResult:
        """Run one program in a box, which is started if need be. ``last``: the box goes with it. The caller has a
        turn."""
        stdio = Stdio(stdin, limits.output_kb * 1024)
        try:
            with live.busy:
                if live.link is None:
                    live.start(() if live.command.passes else stdio.theirs)
                run = Run(live, limits, self.name)
                run.follow(argv, env, stdio, self._filter if live.command.filtered else b"")
                if last or live.killed:
                    live.close()
            return run.result(*stdio.taken(), asked=live.killed)
        except (NotReadyError, OSError) as error:
            if live.killed:  # on request: nothing else kills a box without a program
                return self._not_run(Status.KILLED, "stopped on request")
            return self._not_run(Status.INVALID, str(error))
        finally:
            stdio.close()

    def _not_run(self, status: Status, detail: str, limit: str | None = None) -> ExecResult:
        return ExecResult(status=status, exit_code=None, backend=self.name, limit=limit, detail=detail)

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Wait until one of the workers is free."""
        self._mine()
        with self._turn:
            self._refuse_closed()
            yield

    def _refuse_closed(self) -> None:
        if self.closed:
            raise UnavailableError("the sandbox is closed")

    def close(self) -> None:
        """End every job and remove everything. Idempotent."""
        with self._lock:
            self.closed = True
            if self._pid != os.getpid():
                return
            live = tuple(self._live)
        for box in live:
            box.kill()
        for box in live:
            with box.busy:
                box.close()
        self.folders.close()


_ALL: weakref.WeakSet[External] = weakref.WeakSet()


def _after_fork() -> None:
    for backend in list(_ALL):
        backend.after_fork()


os.register_at_fork(after_in_child=_after_fork)

"""Sessions in the boxes of other tools."""

from __future__ import annotations

import os
from collections.abc import Sequence

from lydite.errors import UnavailableError
from lydite.sandbox.external import meter
from lydite.sandbox.external.backend import External
from lydite.sandbox.external.folders import Place, own
from lydite.sandbox.external.live import Live
from lydite.sandbox.external.watch import Guard
from lydite.sandbox.jail import packing, tree
from lydite.sandbox.result import MIB, ExecResult, Limits


class ExternalTree:
    """A session: a private folder of this machine, shown as the working directory of a box.

    The box stays until a limit or a kill ends it, and with it what commands left running; the next command gets a new
    one, with the same files. /tmp and /dev/shm are kept as the workspace is. Where a tool lets no descriptors through,
    each command has a box of its own, and what it leaves running ends with it.
    """

    def __init__(self, backend: External, place: Place, limits: Limits) -> None:
        self._backend, self._place, self._limits = backend, place, limits
        self._live: Live | None = None
        self._guard: Guard | None = None
        self._frozen = False
        self._pid = os.getpid()
        self._root = os.open(place.under("workspace"), os.O_RDONLY | os.O_DIRECTORY)

    def exec(self, argv: Sequence[str], *, stdin: bytes, env: dict[str, str], limits: Limits) -> ExecResult:
        self._refuse(frozen=True)
        with self._backend.turn():
            self._unguard()
            live = self._live
            if live is not None and not (live.idle and live.holds(limits)):
                self._unbox()
                live = None
            if live is None:
                live = self._live = self._backend.box(self._place, limits)
            last = not live.command.passes
            result = self._backend.program(live, argv, self._backend.environ(env), stdin, limits, last)
            if last or not live.idle:
                self._unbox()
            elif meter.descendants(live.root):
                self._guard = Guard(live, limits)
            return result

    def _unguard(self) -> None:
        if self._guard is not None:
            self._guard.stop()
            self._guard = None

    def _unbox(self) -> None:
        self._unguard()
        if self._live is not None:
            self._backend.unbox(self._live)
            self._live = None

    def read(self, path: str, limit: int) -> bytes:
        self._refuse()
        return tree.read(self._root, path, limit)

    def write(self, path: str, data: bytes, mode: int) -> None:
        self._refuse()
        tree.write(self._root, path, data, mode)
        if self._place.uid is not None:
            own(self._root, path, self._place.uid)

    def remove(self, path: str) -> None:
        self._refuse()
        tree.remove(self._root, path)

    def list(self, path: str) -> list[str]:
        self._refuse()
        return tree.listing(self._root, path)

    def freeze(self) -> None:
        """End the box. No command comes after this."""
        self._refuse()
        self._unbox()
        self._frozen = True

    def pack(self) -> bytes:
        self._refuse()
        return tree.pack(self._root, 2 * self._limits.disk_mb * MIB)

    def unpack(self, data: bytes) -> None:
        self._refuse()
        tree.unpack(self._root, data)
        if self._place.uid is not None:
            for entry in packing.parse(data)[0]:
                own(self._root, entry.path, self._place.uid)

    def close(self) -> None:
        if self._root >= 0:
            os.close(self._root)
            self._root = -1
            if self._pid == os.getpid():
                self._unbox()
                self._backend.folders.drop(self._place)

    def _refuse(self, frozen: bool = False) -> None:
        if self._root < 0 or self._backend.closed:
            raise UnavailableError("the session is closed")
        if self._pid != os.getpid():
            raise UnavailableError("the session belongs to the process that this one was forked from")
        if frozen and self._frozen:
            raise UnavailableError("the workspace is frozen")

"""Looks at a box at intervals and says which limit it has passed."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Sequence

from lydite.sandbox.external import meter
from lydite.sandbox.external.live import Live
from lydite.sandbox.jail import wire
from lydite.sandbox.result import MIB, Limits

LOOK_S = 0.03  # between two looks at processes
WALK_S = 0.06  # between two looks at folders; longer where a look takes long


class Watch:
    """What the programs of a box use from now on.

    Attributes:
        last, peak: memory, tasks and processor time at the last look, and the most of each.
        files: the writable folders at the last look.
        cpu: seconds of processor time that are allowed.
    """

    def __init__(self, live: Live, limits: Limits) -> None:
        self._live, self._limits = live, limits
        self.cpu = limits.timeout * (os.cpu_count() or 1) if limits.cpu is None else limits.cpu
        self.last = self.peak = meter.Use()
        self.files = meter.Files()
        self._looked = self._walked = 0.0
        self._every = WALK_S
        self._base = self._used([live.root] if live.command.inside else self._pids(), sys.maxsize)

    def _pids(self) -> list[int]:
        root = self._live.root
        return [root, *meter.descendants(root)]

    def _used(self, pids: Sequence[int], allowed: int) -> meter.Use:
        used = meter.use(pids, allowed)
        return used if self._live.command.inside else used._replace(memory=meter.memory_files(pids))

    def look(self) -> int:
        """Nothing where it is too early; else which limit is passed, a code of ``jail.wire``, or 0."""
        now = time.monotonic()
        if now - self._looked < LOOK_S:
            return wire.NOT_STOPPED
        self._looked = now
        pids, allowed = self._pids(), self._limits.memory_mb * MIB
        used = self._used(pids, allowed + self._base.memory)
        self.last = used.beyond(self._base)
        self.peak = self.peak.most(self.last)
        if self.last.memory > allowed:
            return wire.MEMORY
        if self.last.cpu > self.cpu:
            return wire.CPU
        if now - self._walked >= self._every:
            self.walk(pids)
            took = time.monotonic() - now
            self._walked, self._every = now + took, max(WALK_S, 10 * took)
            if self.files.size > self._limits.disk_mb * MIB or self.files.number > self._limits.inodes:
                return wire.DISK
        return wire.NOT_STOPPED

    def walk(self, pids: Sequence[int] = ()) -> None:
        """Look at the folders now, and at the removed files that these processes hold."""
        folders = [path for path, _ in self._live.box.writable]
        found = meter.files(folders, self._limits.inodes)
        with contextlib.suppress(OSError):
            found = found._replace(size=found.size + meter.removed(pids, os.stat(folders[0]).st_dev))
        self.files = found

    @property
    def full(self) -> bool:
        """No byte or no file more was allowed at the last look."""
        return self.files.size >= self._limits.disk_mb * MIB or self.files.number >= self._limits.inodes


class Guard:
    """Watches what a command left running in a session, until the next command comes."""

    def __init__(self, live: Live, limits: Limits) -> None:
        self._live, self._watch = live, Watch(live, limits)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="lydite-sandbox-guard", daemon=True)
        self._thread.start()

    def _keep(self) -> None:
        while not self._done.wait(2 * LOOK_S):
            if not self._live.idle:
                return
            if self._watch.look():
                self._live.kill()
                return

    def stop(self) -> None:
        """Wait until it looks no more."""
        self._done.set()
        self._thread.join()

"""One private folder of a back end, and the process (:mod:`.warden`) that clears it up when we cannot.

Standard library only: the unsafe back end uses it where nothing else of ours runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress

from lydite.sandbox.external import warden


class Base:
    """Args: prefix: of the folder's name."""

    def __init__(self, prefix: str) -> None:
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix=prefix))
        self._lock = threading.Lock()
        self._warden = subprocess.Popen(  # noqa: S603
            [sys.executable, "-I", "-S", warden.__file__, self.folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ},
            cwd=os.path.dirname(self.folder),
            start_new_session=True,
        )

    def started(self, key: str, group: int, undo: list[str], env: dict[str, str]) -> None:
        """Tell the warden what runs now: a process group, and a command (with its environment) that ends the rest."""
        self._tell(["+", key, group, undo, env])

    def ended(self, key: str) -> None:
        """Tell the warden that it has ended and was cleared up."""
        self._tell(["-", key])

    def _tell(self, line: list[object]) -> None:
        with self._lock, suppress(OSError, ValueError):
            assert self._warden.stdin is not None
            self._warden.stdin.write(json.dumps(line).encode() + b"\n")

    def close(self) -> None:
        """Let the warden end what runs and remove everything. Idempotent."""
        with self._lock, suppress(OSError):
            assert self._warden.stdin is not None
            self._warden.stdin.close()
        self._warden.wait()
        warden.remove(self.folder)  # there is nothing left to do, unless somebody killed the warden

    def forget(self) -> None:
        """In a fork: all of this is the parent's, and the warden must notice the parent's end."""
        self._lock = threading.Lock()
        if self._warden.stdin is not None:
            self._warden.stdin.close()
        self._warden.returncode = 0  # no child of ours

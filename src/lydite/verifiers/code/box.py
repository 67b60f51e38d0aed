"""The sandbox that all ``code`` checks of this process share."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Sequence

from lydite.sandbox import ExecResult, Limits, Sandbox, Status

_lock = threading.Lock()
_shared: Sandbox | None = None


class LostError(Exception):
    """The sandbox failed, twice: nothing is known of the program."""


def sandbox() -> Sandbox:
    """The one sandbox of this process: made when first asked for, closed at exit.

    Raises:
        UnavailableError: no back end works here.
    """
    global _shared
    with _lock:
        if _shared is None:
            made, owner = Sandbox(), os.getpid()
            atexit.register(lambda: made.close() if os.getpid() == owner else None)
            _shared = made
        return _shared


def run_each(program: str, inputs: Sequence[bytes], limits: Limits) -> list[ExecResult]:
    """One run of a program per input. What the sandbox itself failed at is tried once more.

    Raises:
        LostError: it failed again.
    """
    results = sandbox().run_batch(program, inputs, limits=limits)
    if any(result.status is Status.INVALID for result in results):
        results = sandbox().run_batch(program, inputs, limits=limits)
    for result in results:
        if result.status is Status.INVALID:
            raise LostError(result.detail or "the sandbox failed")
    return results

"""The sandbox that all ``code`` checks of this process share."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Sequence
from importlib.util import MAGIC_NUMBER

from lydite.errors import UnavailableError
from lydite.sandbox import ExecResult, Limits, Sandbox, Status, overlay
from lydite.verifiers.code.programs import NAME, grading_module

_lock = threading.Lock()
_shared: Sandbox | None = None
_overlays: tuple[str, ...] = ()


class LostError(Exception):
    """The sandbox failed, twice: nothing is known of the program."""


def sandbox() -> Sandbox:
    """The one sandbox of this process: made when first asked for, closed at exit.

    Raises:
        UnavailableError: no back end works here, or its interpreter is of another version than this one (programs are
            sent there compiled).
    """
    global _shared, _overlays
    with _lock:
        if _shared is None or _overlays != overlay.shared():  # the old one ends with its last job
            overlays = overlay.shared()
            made, owner = Sandbox(modules={NAME: grading_module()}, overlays=overlays), os.getpid()
            try:
                _check(made)
            except BaseException:
                made.close()
                raise
            atexit.register(lambda: made.close() if os.getpid() == owner else None)
            _shared, _overlays = made, overlays
        return _shared


def _check(made: Sandbox) -> None:
    done = made.run("import importlib.util; print(importlib.util.MAGIC_NUMBER.hex())", timeout=30.0)
    if done.status is not Status.OK:
        raise UnavailableError(f"the sandbox {made.backend} does not run Python: {done.status} {done.detail}")
    if done.stdout.decode().strip() != MAGIC_NUMBER.hex():
        own = f"Python {sys.version_info.major}.{sys.version_info.minor}"
        raise UnavailableError(
            f"the sandbox's interpreter is no {own}, as this one is: name one in LYDITE_SANDBOX_PYTHON"
        )


def run_each(program: str, inputs: Sequence[bytes], limits: Limits) -> list[ExecResult]:
    """One run of a program per input. What the sandbox itself failed at is tried once more.

    Raises:
        LostError: it failed again.
    """
    if not inputs:
        return []
    results = sandbox().run_batch(program, inputs, limits=limits)
    if any(result.status is Status.INVALID for result in results):
        results = sandbox().run_batch(program, inputs, limits=limits)
    for result in results:
        if result.status is Status.INVALID:
            raise LostError(result.detail or "the sandbox failed")
    return results

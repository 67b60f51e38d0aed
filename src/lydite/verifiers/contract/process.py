"""Checks of what judging leaves behind in the process."""

from __future__ import annotations

import builtins
import decimal
import gc
import locale
import os
import random
import resource
import signal
import sys
from collections.abc import Iterator
from typing import Any

from lydite.verifiers.contract.session import Session


def state(session: Session) -> Iterator[tuple[str, str]]:
    """Judging leaves the process as it was: environment, folder, random numbers, signals, built-ins, limits.

    Remedy: put it back, or better, do not touch it: the trainer lives in the same process.
    """
    before = session.before or snapshot()
    for label, text in session.texts.items():
        session.judge(text, label)
    after = snapshot()
    for name, value in before.items():
        yield name, "" if after[name] == value else _change(value, after[name])


def snapshot() -> dict[str, Any]:
    """What a verifier has no business to change."""
    context = decimal.getcontext()
    return {
        "environment": dict(os.environ),
        "working directory": os.getcwd(),
        "random numbers": hash(random.getstate()),
        "recursion limit": sys.getrecursionlimit(),
        "digits of integers": sys.get_int_max_str_digits(),
        "decimal context": (context.prec, context.rounding, context.Emin, context.Emax),
        "locale": locale.setlocale(locale.LC_ALL),
        "signal handlers": {one: signal.getsignal(one) for one in signal.valid_signals()},
        "timers": (signal.getitimer(signal.ITIMER_REAL)[0] > 0, signal.getitimer(signal.ITIMER_PROF)[0] > 0),
        "built-ins": {name: id(value) for name, value in vars(builtins).items() if name != "_"},
        "streams": (id(sys.stdin), id(sys.stdout), id(sys.stderr)),
        "tracing": (sys.gettrace(), sys.getprofile()),
        "garbage collector": (gc.isenabled(), gc.get_threshold()),
        "limits": {
            name: resource.getrlimit(getattr(resource, name)) for name in ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_NOFILE")
        },
    }


def _change(before: Any, after: Any) -> str:
    if isinstance(before, dict):
        names = sorted(str(key) for key in before.keys() | after.keys() if before.get(key) != after.get(key))
        return f"changed: {', '.join(names)[:300]}"
    return "changed" if isinstance(before, int) else f"{before} became {after}"[:300]


def prints(session: Session) -> Iterator[tuple[str, str]]:
    """Nothing is written to standard output.

    Remedy: use standard error, or logging: standard output may be somebody's data.
    """
    for label, text in session.texts.items():
        session.judge(text, label)
    sys.stdout.flush()
    os.lseek(1, 0, os.SEEK_SET)
    said = os.read(1, 200)
    os.lseek(1, 0, os.SEEK_END)
    yield "standard output", said.decode("utf-8", "replace") if said else ""

"""Run the contract suite on a verifier, from outside of the process in which it is tried."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

import msgspec

from lydite.errors import InputError, UnavailableError
from lydite.userfile import absolute
from lydite.verifiers.contract import child
from lydite.verifiers.contract.checks import CHECKS
from lydite.verifiers.contract.finding import Finding
from lydite.verifiers.protocol import Example

TIMEOUT = 60.0
"""Seconds for one verdict, or for the start of another process; generous, as machines are busy."""
MAX_LOSSES = 3
"""Checks that may hang or end the process before the others are left alone."""

SETTLE = 10.0
"""Seconds that the process has to end by itself when all is said."""

_BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from lydite.verifiers.contract.child import main; main()"
)


def run_contract(
    name: str, examples: Sequence[Example] = (), *, checks: Sequence[str] = (), timeout: float = TIMEOUT
) -> Iterator[Finding]:
    """What the suite finds, check by check.

    Args:
        name: what ``find`` knows the verifier by: a built-in name, an entry point's, ``path.py:name``.
        examples: how it is used; where there are none, its attribute ``examples``.
        checks: names of checks; none for all.
        timeout: seconds without a sign after which the verifier counts as hanging.

    Raises:
        InputError: no such verifier or check, no examples, or a configuration that it refuses.
        UnavailableError: what the verifier needs is not on this machine.
    """
    for check in checks:
        if check not in CHECKS:
            raise InputError(f"no check is called {check!r}", field="--only", remedy=f"known: {', '.join(CHECKS)}")
    left = [check for check in CHECKS if check in checks or not checks]
    losses = 0
    while left:
        at, ready = "", False
        with _Child(child.Request(absolute(name), tuple(examples), tuple(left)), timeout) as process:
            for word in process.words():
                if isinstance(word, child.At):
                    at = word.subject
                elif isinstance(word, child.Ready):
                    ready = True
                elif isinstance(word, child.Found):
                    yield word.finding
                elif isinstance(word, child.Done):
                    left.remove(word.check)
                    if not left:
                        break
                else:
                    raise (UnavailableError if word.unavailable else InputError)(word.message)
            if not left:
                process.settle()
                return
            if not ready:
                remedy = "try to import it, and to compile its examples, by hand"
                raise InputError(f"{name!r}: {process.ending}, while {at}", field="type", remedy=remedy)
            yield Finding(left.pop(0), at, False, process.ending)
        losses += 1
        if losses == MAX_LOSSES:
            yield from (Finding(check, "", False, f"not tried, after {losses} losses of the process") for check in left)
            return


class _Child:
    """The process, and all that it starts; all of it ends with the context."""

    def __init__(self, request: child.Request, timeout: float) -> None:
        self.ending = ""
        self._timeout = timeout
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", _BOOT, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(msgspec.json.encode(request))
            self._process.stdin.close()

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, *reason: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def settle(self) -> None:
        """Let it end by itself: a verifier may have things to put away."""
        until = time.monotonic() + SETTLE
        while time.monotonic() < until:
            if os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return
            time.sleep(0.005)

    def words(self) -> Iterator[child.Word]:
        """What it says, until it ends or says nothing for too long; ``ending`` then tells which."""
        assert self._process.stdout is not None
        fd = self._process.stdout.fileno()
        rest = b""
        while True:
            until = time.monotonic() + self._timeout
            while not select.select([fd], [], [], max(0.0, until - time.monotonic()))[0]:
                if time.monotonic() >= until:
                    self.ending = f"it hangs: no sign of it within {self._timeout:g} s"
                    return
            data = os.read(fd, 1 << 16)
            if not data:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(5)
                self.ending = f"the process ended ({_how(self._process.returncode)})"
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                yield msgspec.json.decode(line, type=child.Word)


def _how(code: int | None) -> str:
    if code is None:
        return "its output was closed"
    if code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"

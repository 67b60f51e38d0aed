"""Checks that a completion is only ever looked at, never run, and that nothing of it stays."""

from __future__ import annotations

import gc
import re
import resource
import sys
import time
from collections.abc import Iterator
from types import CodeType
from typing import Any

from lydite.verdict import Outcome
from lydite.verifiers.contract.finding import SKIPPED
from lydite.verifiers.contract.session import Session

MARK = "lydite_was_here"
"""A name that nothing but the completions of these checks has."""

_STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile")
_seen: list[str] | None = None
"""What was run with the mark in it, while somebody looks."""
_hooked = False

KEPT_TEXTS, KEPT_BYTES, KEPT_SECONDS = 100, 1 << 16, 1.0
"""Different completions, the size of each, and how long they may take together."""
KEPT_AT_LEAST = 32


def inert(session: Session) -> Iterator[tuple[str, str]]:
    """Nothing of a completion is run, evaluated, or handed to a shell, not even where the fault would be caught.

    Remedy: no eval, exec, sympify or pickle on a completion: read it with a parser, and run programs in lydite.sandbox.
    """
    global _seen
    _hook()
    for label, text in _marked(session.example.right).items():
        seen: list[str] = []
        _seen = seen
        try:
            session.judge(text, label)
        finally:
            _seen = None
        yield label, f"{seen[0]} with text of the completion in it" if seen else ""


def _marked(right: str) -> dict[str, str]:
    """Completions in which the mark stands where an answer does, as an expression that any evaluation accepts."""
    texts = {
        "a name": MARK,
        "a name in a box": f"It is \\boxed{{{MARK}}}.",
        "a name behind ####": f"#### {MARK}",
        "a name as the answer": f"The answer is {MARK}",
        "a name in tags": f"<answer>{MARK}</answer>",
        "a name in a list": f"[{MARK}]",
    }
    changed = re.sub(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])", MARK, right, count=20)
    if changed != right:
        texts["the right one, names for numbers"] = changed
    return texts


def _hook() -> None:
    """See what is run. A hook cannot be taken away again: this one does nothing while nobody looks."""
    global _hooked
    if not _hooked:
        sys.addaudithook(_audit)
        _hooked = True


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _seen is None:
        return
    if event == "exec":
        if arguments and _has_mark(arguments[0]):
            _seen.append("code was run")
    elif event in _STARTS and MARK in repr(arguments):
        _seen.append(f"{event} was called")


def _has_mark(code: Any) -> bool:
    if not isinstance(code, CodeType):
        return False
    if any(MARK in name for name in (*code.co_names, *code.co_varnames)):
        return True
    return any(MARK in one if isinstance(one, str) else _has_mark(one) for one in code.co_consts)


def forgets(session: Session) -> Iterator[tuple[str, str]]:
    """Megabytes of completions, all different, leave next to nothing in memory.

    Remedy: bound every cache in bytes, not only in entries, and never keep a completion, or what is made of it.
    """
    if session.example.files is not None:
        yield "many completions", f"{SKIPPED}it judges files"
        return
    session.announce("many different completions")
    if session.verdicts["right"].outcome is Outcome.INVALID:
        yield "many completions", f"{SKIPPED}even the right one has no verdict"
        return
    began = time.monotonic()
    base = given = 0
    for number in range(KEPT_TEXTS):
        words = f"{number} is no word "
        text = words * (KEPT_BYTES // len(words)) + session.example.right
        session.judge(text, "many different completions")
        if number == KEPT_TEXTS // 8:  # what grows at first has grown
            base, given = _resident(), 0
        given += len(text)
        if number >= KEPT_AT_LEAST and time.monotonic() - began > KEPT_SECONDS:
            break
        if number < KEPT_AT_LEAST and time.monotonic() - began > 4 * KEPT_SECONDS:
            yield "many completions", f"{SKIPPED}each takes too long"
            return
    kept = _resident() - base
    yield (
        "many completions",
        f"{kept >> 10} kB more in memory after {given >> 10} kB of completions" if kept > given // 2 else "",
    )


def _resident() -> int:
    gc.collect()
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()

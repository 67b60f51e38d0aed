"""Checks of the configuration, and of what a verdict costs."""

from __future__ import annotations

import copy
import resource
import time
from collections.abc import Iterator
from typing import Any

import msgspec

from lydite.errors import InputError, UnavailableError
from lydite.verdict import Outcome
from lydite.verifiers.contract.finding import SKIPPED
from lydite.verifiers.contract.session import Session, told
from lydite.verifiers.contract.texts import BEGINNINGS, ENDS, FILES, REPEATED, UNITS, megabyte
from lydite.verifiers.own import FunctionVerifier

CPU_SECONDS = 5.0
"""Processor time of a verdict on 1 MB. What is linear needs a hundredth; what is quadratic does not end."""
MEMORY_MB = 1024
"""Address space that judging 1 MB may add to the process."""
VERDICT_BYTES = 64 * 1024
"""JSON of a verdict on 1 MB: a ledger keeps every verdict."""

_ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0.5,
    "",
    "\0\ud800",
    [],
    {},
    [None],
    {"": None},
    [[]],
    10**400,
    float("nan"),
)


def config(session: Session) -> Iterator[tuple[str, str]]:
    """A configuration is used or refused: an unknown, missing or odd field is an InputError that names a field.

    Remedy: raise InputError(message, field=...) from compile for whatever cannot be honoured.
    """
    good = session.example.config
    if isinstance(session.verifier, FunctionVerifier) and session.verifier.fields is None:
        yield "unknown field", f"{SKIPPED}a function takes any field, unless its attribute `fields` names them"
    else:
        error = _refusal(session, {**good, "no_such_field": 1})
        if not isinstance(error, InputError):
            yield "unknown field", f"{error!r}" if error else "it was accepted, and so would be a misspelt one"
        else:
            yield "unknown field", "" if error.field == "no_such_field" else f"the error names {error.field!r}"
    for field in good:
        rest = {name: value for name, value in good.items() if name != field}
        yield f"without {field}", _unless_named(_refusal(session, rest))
        for value in _ODD_VALUES:
            evidence = _unless_named(_refusal(session, {**good, field: value}))
            if evidence:
                yield f"{field} = {value!r:.40}", evidence
                break
        else:
            yield f"odd values of {field}", ""
    given = copy.deepcopy(good)
    session.verifier.compile(given)
    yield "kept as it was", "" if given == good else "compile changed the configuration that it was given"


def _refusal(session: Session, config: dict[str, Any]) -> BaseException | None:
    session.announce(f"config {config!r:.200}")
    try:
        session.verifier.compile(copy.deepcopy(config))
    except BaseException as error:
        return error
    return None


def _unless_named(error: BaseException | None) -> str:
    if error is None or isinstance(error, UnavailableError) or (isinstance(error, InputError) and error.field):
        return ""
    if isinstance(error, InputError):
        return f"the error names no field: {error}"[:300]
    return f"{type(error).__name__}: {error}"[:300]


def bounded(session: Session) -> Iterator[tuple[str, str]]:
    """A megabyte of degenerate text costs little time and memory, and earns nothing.

    Remedy: scan in linear time, cap what is looked at, and shorten what a verdict keeps.
    """
    for label, unit in UNITS.items():
        if session.example.files is None:
            yield label, _cost(session, megabyte(unit), f"1 MB of {label}")
        elif label in FILES:
            yield f"a file of {label}", _cost(session, f"-- big --\n{megabyte(unit)}", f"a file of 1 MB of {label}")
    yield (
        "right behind 1 MB",
        _cost(session, megabyte("word ") + session.example.right, "right behind 1 MB", any_verdict=True),
    )


def patterns(session: Session) -> Iterator[tuple[str, str]]:
    """Short texts at which patterns with two ways to read one thing take for ever cost next to nothing.

    Remedy: no repeats within repeats, such as (a+)+, and no neighbours that match the same: use possessive repeats.
    """
    if session.example.files is not None:
        yield "repeats", f"{SKIPPED}it judges files"
        return
    for start in BEGINNINGS if session.quick else BEGINNINGS[:1]:
        for unit in REPEATED:
            for end in ENDS:
                text = start + unit * 60 + end
                label = f"{start!r}, 60 times {unit!r}, {end!r}"
                began = time.process_time()
                verdict = session.judge(text, label)
                seconds = time.process_time() - began
                if verdict.outcome is Outcome.INVALID or verdict.correct:
                    yield label, told(verdict)
                elif seconds > CPU_SECONDS:
                    yield label, f"{seconds:.1f} s of processor time (at most {CPU_SECONDS:g})"
    yield "repeats", ""


def _cost(session: Session, text: str, label: str, *, any_verdict: bool = False) -> str:
    session.judge("", "empty")  # whatever is started at first use is not this text's doing
    before = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    wanted = used + MEMORY_MB * 1024 * 1024
    soft = wanted if before[0] == resource.RLIM_INFINITY else min(before[0], wanted)
    resource.setrlimit(resource.RLIMIT_AS, (soft, before[1]))
    started = time.process_time()
    try:
        verdict = session.judge(text, label)
    finally:
        seconds = time.process_time() - started
        resource.setrlimit(resource.RLIMIT_AS, before)
    size = len(msgspec.json.encode(verdict))
    if verdict.outcome is Outcome.INVALID or (verdict.correct and not any_verdict):
        return told(verdict)
    if seconds > CPU_SECONDS:
        return f"{seconds:.1f} s of processor time (at most {CPU_SECONDS:g})"
    return f"a verdict of {size} bytes (at most {VERDICT_BYTES})" if size > VERDICT_BYTES else ""

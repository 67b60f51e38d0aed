"""What runs in the candidate's process: load the source, call what the input says, write what comes back.

Covered: nothing, and nothing has to be. The candidate may read and change all of this; all that it can do with the
channel is to claim values. Neither expected values nor the inputs of other tests are here.

Records on the channel: ``V`` value, ``W`` value that a coroutine returned, ``E`` (exception type, nearest built-in
type, message), ``U`` why the value is no plain one, ``L`` (as ``E``) the source could not be loaded, ``D`` the name
that is not defined; before ``V``, ``W`` and ``E``, where it was asked for and they differ: ``M`` the arguments as the
call has left them.
Standard library only; see ``programs.py`` for what is left of this text in its process.
"""

from __future__ import annotations

import builtins
import contextlib
import marshal
import os
import sys
import types
from typing import Any, NoReturn

from .values import NotPlainError, decode, encode

_read, _write, _exit, _exec, _compile = os.read, os.write, os._exit, exec, compile
MESSAGE = 300
"""Characters of an exception's message that are told."""


def main(source: str, preamble: bytes, entry: str | None) -> NoReturn:
    """Load and serve. Prints go to the error output, so that they count against its limit and disturb nothing."""
    channel, calls = os.dup(1), os.dup(0)
    os.dup2(2, 1)
    _close_input()  # a program that reads it while it is loaded finds its end, not the arguments of calls
    module = types.ModuleType("solution")
    sys.modules["solution"] = module
    names = module.__dict__
    try:
        if preamble:
            load(preamble, names)
            names.pop(entry or "", None)
        _exec(_compile(source, "solution.py", "exec", dont_inherit=True), names)
    except BaseException as error:
        send(channel, b"L" + _told(error))
        _exit(0)
    watched, wanted = marshal.loads(received(calls))  # noqa: S302  (the grader's)
    for name, plain, call in wanted:
        arguments, keywords = marshal.loads(call) if plain else decode(call)  # noqa: S302
        before = (encode((arguments, keywords)) if plain else call) if watched else None
        send(channel, _called(names, name, arguments, keywords, before))
    _exit(0)


def load(preamble: bytes, names: dict[str, Any]) -> None:
    """The prompt's imports and helper functions; a prompt that is no program gives none."""
    with contextlib.suppress(Exception, SystemExit):
        _exec(marshal.loads(preamble), names)  # noqa: S302  (compiled by the grader)


def _close_input() -> None:
    reading, writing = os.pipe()
    os.close(writing)
    os.dup2(reading, 0)
    os.close(reading)


def received(source: int = 0) -> bytes:
    """All of the input. Read after the source was loaded."""
    data = b""
    while piece := _read(source, 1 << 16):
        data += piece
    return data


def _called(
    names: dict[str, Any], name: str, arguments: list[Any], keywords: dict[str, Any], before: bytes | None
) -> bytes:
    try:
        first, *rest = name.split(".")
        function = names[first]
        for attribute in rest:
            function = getattr(function() if isinstance(function, type) else function, attribute)
    except BaseException:
        return b"D" + encode(name)
    kind = b"V"
    try:
        value = function(*arguments, **keywords)
        if type(value) is types.CoroutineType:
            import asyncio

            kind, value = b"W", asyncio.run(value)
        record = kind + encode(value)
    except NotPlainError as error:
        return b"U" + encode(str(error))
    except BaseException as error:
        record = b"E" + _told(error)
    return record if before is None else _changed(before, arguments, keywords) + record


def _changed(before: bytes, arguments: list[Any], keywords: dict[str, Any]) -> bytes:
    try:
        now = encode((arguments, keywords))
    except BaseException:  # no plain values any more: the test keeps its own
        return b""
    return b"M" + now if now != before else b""


def _told(error: BaseException) -> bytes:
    kind = type(error)
    near = next((base for base in kind.__mro__ if getattr(builtins, base.__name__, None) is base), Exception)
    try:
        message = str(error)[:MESSAGE]
        return encode((str(kind.__name__), near.__name__, message if type(message) is str else ""))
    except BaseException:
        return encode(("Exception", "Exception", ""))


def send(channel: int, record: bytes) -> None:
    """Write all of a record."""
    view = memoryview(record)
    while view:
        view = view[_write(channel, view) :]

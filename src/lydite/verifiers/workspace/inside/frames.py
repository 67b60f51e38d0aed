"""Who may look at the frames of those that called, and how functions are kept from being looked into.

What tests expect, and what they are judged with, stands in the frames below the candidate's functions.

Covered: ``sys._getframe`` and its kin, and the frames of tracebacks, generators and coroutines, which Python tells of
in audit events. A function of pytest or the standard library may look that was loaded before there was a candidate,
that names what it asks for itself, and that does not hand frames on; one that does (``inspect.currentframe``,
``traceback.extract_stack``) may where its caller is such a function, or the grader's. Everybody else is told of and
gets an exception. So is who reads the code of the grader's tests. Functions are known by their code objects, since
files and names of functions are easily borrowed; code of the standard library that was loaded later is compared with
what its file has.

Not covered: what C code would tell (``ctypes`` is refused as well), what is printed of a stack by ``logging``, and
constants of the grader's functions that are not called ``test...``.
"""

from __future__ import annotations

import _functools  # type: ignore[import-not-found]
import gc
import io
import logging
import os
import sys
import traceback
import types
from collections.abc import Callable, Collection
from typing import Any

_ASKED = frozenset({"_getframe", "_current_frames", "_current_exceptions"})
_HELD = frozenset({"tb_frame", "gi_frame", "cr_frame", "ag_frame"})
_C = frozenset({"ctypes.dlopen", "ctypes.dlsym", "ctypes.cdata", "ctypes.cdata/buffer", "ctypes.string_at"})
_SEEKING = frozenset({"_getframe", "currentframe", "stack", "extract_stack", "tb_frame", "gi_frame", "cr_frame"})
_HAND_ON = ("inspect", "types", "asyncio.base_tasks", "bdb", "pdb", "_pytest._code.code")
_STDLIB = os.path.dirname(os.__file__) + os.sep
_getframe, _id, _type, _isinstance, _len, _open, _compile = sys._getframe, id, type, isinstance, len, io.open, compile
_read: dict[str, list[types.CodeType]] = {}

known: dict[int, types.CodeType] = {}
"""Code that was there before a candidate's, by id."""
_lookers: dict[int, frozenset[str]] = {}
_hand_on: dict[int, frozenset[str]] = {}


def learn() -> None:
    """Take what is loaded now for known. To be called before anything of a candidate's is."""
    frames = _ASKED | _HELD
    for function in gc.get_objects():
        if type(function) is types.FunctionType:
            _learn(function.__code__, function.__module__, frames)
    for function in (traceback.walk_stack, traceback.extract_stack, traceback.print_stack, traceback.format_stack):
        _hand_on[id(function.__code__)] = frames
    for name in ("walk_tb", "_walk_tb_with_full_positions"):
        if hasattr(traceback, name):
            _hand_on[id(getattr(traceback, name).__code__)] = frames
    _hand_on[id(logging.currentframe.__code__)] = frames


def _learn(code: types.CodeType, module: str | None, frames: frozenset[str]) -> None:
    for one in codes_of(code):
        if id(one) not in known:
            known[id(one)] = one
            if not frames.isdisjoint(one.co_names):
                _lookers[id(one)] = frames.intersection(one.co_names)
            if module in _HAND_ON:
                _hand_on[id(one)] = frames


def _look_up(code: types.CodeType) -> None:
    """Take code for known that is what the file has that it names, if that is one of the standard library."""
    file = code.co_filename
    if file[: _len(_STDLIB)] != _STDLIB or "-packages" in file or ".." in file:
        return
    if file not in _read:
        try:
            with _open(file, "rb") as source:
                _read[file] = codes_of(_compile(source.read(), file, "exec", dont_inherit=True))
        except (OSError, SyntaxError, ValueError):
            _read[file] = []
    for one in _read[file]:
        if one == code:
            _learn(code, file[_len(_STDLIB) : -3].replace("/", "."), _ASKED | _HELD)
            return


def codes_of(code: types.CodeType) -> list[types.CodeType]:
    """A code object and those that it holds."""
    found = [code]
    for one in found:
        found += [constant for constant in one.co_consts if _isinstance(constant, types.CodeType)]
    return found


def watch_frames(
    tell: Callable[[str], Any],
    graders: dict[int, types.CodeType],
    spaces: list[dict[str, Any]],
    allowed: Collection[str],
    bottom: types.CodeType,
) -> None:
    """From now on, let nobody look whom we do not know.

    Args:
        tell: called with words, when somebody did.
        graders: the grader's own code by id, which may grow.
        spaces: the name spaces of the grader's modules, which may grow.
        allowed: what the grader's own files name; nothing of this kind is then refused.
        bottom: code below which nobody is looked at.
    """
    frames_may = not _SEEKING.isdisjoint(allowed)
    c_may = "ctypes" in allowed

    def hook(event: str, given: tuple[Any, ...]) -> None:
        if event == "object.__getattr__":
            asked = given[1]
            if asked == "__code__":
                if is_test(given[0]) and not ours(own()):
                    refuse("the code of a test was read")
                return
            if asked not in _HELD:
                return
        elif event[:4] == "sys.":
            asked = event[4:]
            if asked not in _ASKED or (given and _type(given[0]) is _Frame and given[0].f_code is itself):
                return
        else:
            if event in _C and not c_may:
                refuse("ctypes was used")
            return
        frame = own()
        code = _id(frame.f_code)
        if frames_may or code in graders:
            return
        if code not in known:
            _look_up(frame.f_code)
        if code not in _lookers or asked not in _lookers[code]:
            refuse(f"{asked} was asked for")
        while frame is not None and _id(frame.f_code) in _hand_on:
            frame = frame.f_back
        if frame is not None and _id(frame.f_code) not in known and _id(frame.f_code) not in graders:
            refuse(f"{asked} was asked for")

    def own() -> Any:
        return _getframe().f_back.f_back  # type: ignore[union-attr]

    def ours(frame: Any) -> bool:
        while frame is not None and frame.f_code is not bottom:
            if _id(frame.f_code) not in known and _id(frame.f_code) not in graders:
                return False
            frame = frame.f_back
        return True

    def is_test(function: Any) -> bool:
        if _type(function) is not types.FunctionType or function.__name__[:4] != "test":
            return False
        for space in spaces:  # noqa: SIM110  (``any`` may be another)
            if function.__globals__ is space:
                return True
        return False

    def refuse(words: str) -> None:
        tell(words)
        raise RuntimeError(words)

    itself = own.__code__
    sys.addaudithook(hook)


_Frame = type(sys._getframe())


def sealed(function: Callable[..., Any]) -> Any:
    """The same function, which shows neither its closure nor its module: it is held by C code only.

    A cache of no size keeps nothing and calls through.
    """
    return _functools._lru_cache_wrapper(function, 0, False, tuple)


Sealed = _functools._lru_cache_wrapper


def hollow(namespace: dict[str, Any], *used: Any) -> None:
    """Empty the classes of a module, which anybody finds among the subclasses of ``object``. Of what is still used,
    the methods are kept by the objects themselves."""
    for value in list(namespace.values()):
        if not isinstance(value, type) or value.__module__ != namespace["__name__"]:
            continue
        functions = {name: one for name, one in vars(value).items() if type(one) is types.FunctionType}
        for one in used:
            if type(one) is value:
                vars(one).update((name, types.MethodType(function, one)) for name, function in functions.items())
        for name in functions:
            delattr(value, name)

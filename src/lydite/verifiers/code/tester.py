"""What runs in the process of an assert-source test: the test's code, around a proxy of the candidate.

Covered: the candidate never shares a process with the asserts. The proxy answers with values that the grader has
collected from the candidate's process, in the order of the calls, and only as long as the calls are the ones that they
were collected for. Not covered: a test's source is its author's, and is trusted to test something.

What the candidate has changed in an argument is changed in the test's own list, dict, set, deque or bytearray: where
the test makes the call for that alone, as a statement of its own, or everywhere, where the configuration says so.

At a call whose answer is not known yet the run can no longer decide anything. It tells that call and goes on with a
:class:`Hole` for an answer, only to tell which calls are likely to follow, so that all of them can be made at once.

Records on the channel: ``C`` a call, of unknown answer or predicted; or, at the end, one of ``P`` passed, ``F``
(exception type, message, whether the candidate raised it), ``X`` stopped at the call at which the candidate's process
ended, ``A`` the arguments are no plain values. Standard library only.
"""

from __future__ import annotations

import builtins
import marshal
import os
import random
import sys
import types
from collections import deque
from typing import Any, NoReturn

from .candidate import MESSAGE, load, received, send
from .values import DICTS, NotPlainError, decode, encode


class UnknownError(Exception):
    """What the test does next depends on an answer that is not known."""


class Hole:
    """Stands for an answer that is not known. Within an assertion it goes along with anything; outside, it raises
    where it would decide what happens next."""

    asserting = 0

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __hash__(self) -> int:
        return 0

    def __str__(self) -> str:
        return ""


def _itself(self: Hole, *_: Any, **__: Any) -> Hole:
    return self


def _only_asserting(value: Any) -> Any:
    def answer(self: Hole, *_: Any) -> Any:
        if not Hole.asserting:
            raise UnknownError
        return iter(()) if value is None else value

    return answer


for _word in ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "matmul"]:
    setattr(Hole, f"__{_word}__", _itself)
    setattr(Hole, f"__r{_word}__", _itself)
for _word in ["eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "round", "call", "getitem", "setitem"]:
    setattr(Hole, f"__{_word}__", _itself)
for _word, _value in {
    "bool": True,
    "contains": True,
    "float": 0.0,
    "int": 0,
    "index": 0,
    "len": 0,
    "iter": None,
}.items():
    setattr(Hole, f"__{_word}__", _only_asserting(_value))


async def _given(value: Any) -> Any:
    return value


class Proxy:
    """The candidate's function, as the test sees it."""

    def __init__(
        self, channel: int, name: str, known: list[tuple[bytes, str, bytes, bytes]], most: int, in_place: bool
    ) -> None:
        self.channel, self.__name__ = channel, name
        self.known, self.most, self.in_place = known, most, in_place
        self.made = 0
        self.guessing = False
        self.raised: BaseException | None = None

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.call(arguments, keywords, self.in_place)

    def alone(self, function: Any, *arguments: Any, **keywords: Any) -> None:
        """A call that is a statement of its own: of us, or of something that has the same name."""
        if function is self:
            self.call(arguments, keywords, True)
        else:
            function(*arguments, **keywords)

    def call(self, arguments: tuple[Any, ...], keywords: dict[str, Any], in_place: bool) -> Any:
        """The candidate's answer to a call."""
        try:
            call = encode((list(arguments), keywords))
        except NotPlainError as error:
            self.stop(b"" if self.guessing else b"A" + encode(str(error)))
        at = self.made
        self.made += 1
        if not self.guessing and at < len(self.known) and self.known[at][0] == call:
            _, kind, raw, changed = self.known[at]
            if in_place and changed:
                now = decode(changed)
                for mine, new in zip(arguments, now[0], strict=False):
                    _set(mine, new)
                for name in now[1]:
                    _set(keywords.get(name), now[1][name])
            return self.answer(kind, raw)
        self.guessing = True
        send(self.channel, b"C" + encode((at, call)))
        if self.made >= self.most:
            self.stop(b"")
        return Hole()

    def answer(self, kind: str, raw: bytes) -> Any:
        """A value, as an object of ours, or the candidate's exception."""
        if kind == "V":
            return decode(raw)
        if kind == "W":
            return _given(decode(raw))
        if kind == "E":
            _, near, message = decode(raw)
            self.raised = exception_like(near, message)
            raise self.raised
        self.stop(b"X")

    def failed(self, message: Any = "") -> None:
        """An assertion does not hold."""
        if not self.guessing:
            raise AssertionError(message)

    def stop(self, record: bytes) -> NoReturn:
        send(self.channel, record)
        os._exit(0)


def _set(mine: Any, new: Any) -> None:
    """Give a container of the test's the content that the candidate has left in its copy; the same objects stay where
    the shape is the same."""
    kind = type(mine)
    if kind in DICTS and type(new) is dict:
        kind = dict
    if kind is not type(new) or kind not in (list, dict, set, deque, bytearray, tuple):
        return
    if kind is list or kind is tuple or kind is deque:
        kept = [_kept(*pair) for pair in zip(mine, new, strict=False)] + list(new)[len(mine) :]
        if kind is not tuple:
            mine.clear()
            mine.extend(kept)
    elif kind is dict:
        whole = {name: _kept(mine.get(name), new[name]) for name in new}
        mine.clear()
        mine.update(whole)
    elif kind is set:
        mine.clear()
        mine.update(new)
    else:
        mine[:] = new


def _kept(mine: Any, new: Any) -> Any:
    kind = dict if type(mine) in DICTS else type(mine)
    if kind is not type(new) or kind not in (list, dict, set, deque, bytearray):
        return new
    _set(mine, new)
    return mine


def exception_like(near: str, message: str) -> BaseException:
    """An exception of a built-in type. The name is the candidate's to choose, and ``exec`` is a built-in name too."""
    kind = getattr(builtins, near, None)
    if not isinstance(kind, type) or not issubclass(kind, BaseException):
        return Exception(message)
    if kind in (StopIteration, StopAsyncIteration, GeneratorExit):
        # These end the loop of whoever calls: all(map(...)) would be true. As with generators (PEP 479).
        return RuntimeError(f"raised {near}")
    try:
        return kind(message)
    except TypeError:  # some need more than a message
        return Exception(message)


def run_test() -> NoReturn:
    """Run one test, as the standard input has it."""
    channel = os.dup(1)
    os.dup2(2, 1)
    code, preamble, entry, most, in_place, known = decode(received())
    proxy = Proxy(channel, entry.rpartition(".")[2], known, most, in_place)
    module = types.ModuleType("tests")
    sys.modules["tests"] = module
    names = module.__dict__
    random.seed(0)
    if preamble:
        load(preamble, names)
    names.update({proxy.__name__: proxy, "candidate": proxy, "_the_proxy": proxy, "_the_hole": Hole})
    try:
        exec(marshal.loads(code), names)  # noqa: S102, S302  (the author's, compiled by the grader)
        if not proxy.made and isinstance(names.get("check"), types.FunctionType):
            names["check"](proxy)
    except BaseException as error:
        try:
            message = str(error)[:MESSAGE]
        except Exception:
            message = ""
        ours = error is proxy.raised
        proxy.stop(b"" if proxy.guessing else b"F" + encode((type(error).__name__, message, ours)))
    proxy.stop(b"" if proxy.guessing else b"P" + encode(proxy.made))

"""What runs at the side: compiling an expression, matching it, and seeing what it is made of."""

from __future__ import annotations

import re
import re._parser as parser  # type: ignore[import-not-found]
import warnings
from typing import Any, Literal

import msgspec

MAX_WORDS = 1000
"""Texts that an expression may list before one no longer calls it a list."""


class Request(msgspec.Struct, frozen=True, array_like=True):
    """An expression with its flags (of ``imsxa``), and the texts that it is held against."""

    pattern: str
    flags: str
    mode: Literal["fullmatch", "search"]
    texts: list[str]


class Matched(msgspec.Struct, frozen=True, array_like=True):
    """One truth value per text; ``words``: all that the expression can match, where it is a list of words."""

    error: str | None
    found: list[bool] = []
    words: list[str] | None = None


def serve(request: bytes) -> bytes:
    """The reply to one request."""
    return msgspec.msgpack.encode(match(msgspec.msgpack.decode(request, type=Request)))


def match(request: Request) -> Matched:
    """Match an expression with each of the texts."""
    flags = 0
    for letter in request.flags:
        flags |= {"i": re.I, "m": re.M, "s": re.S, "x": re.X, "a": re.A}[letter]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pattern = re.compile(request.pattern, flags)
            words = listed(request.pattern, flags)
    except (re.error, OverflowError, ValueError) as error:
        return Matched(str(error)[:200])
    except RecursionError:
        return Matched("is nested too deeply")
    finally:
        re.purge()
    look = pattern.fullmatch if request.mode == "fullmatch" else pattern.search
    return Matched(None, [look(text) is not None for text in request.texts], words)


def listed(pattern: str, flags: int) -> list[str] | None:
    """The words that an expression lists, where it is nothing but an alternation of literal texts, sorted."""
    try:
        words = _words(parser.parse(pattern, flags))
    except _NotAListError:
        return None
    return sorted(words)


class _NotAListError(Exception):
    pass


def _words(items: Any) -> set[str]:
    words = {""}
    for operation, argument in items:
        name = str(operation)
        if name == "LITERAL":
            more = {chr(argument)}
        elif name == "BRANCH":
            more = set().union(*map(_words, argument[1]))
        elif name in ("SUBPATTERN", "ATOMIC_GROUP"):
            more = _words(argument[-1] if name == "SUBPATTERN" else argument)
        elif name == "AT":
            continue
        elif name == "IN" and all(str(kind) == "LITERAL" for kind, _ in argument):
            more = {chr(value) for _, value in argument}
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and argument[1] <= 16:
            once, more, power = _words(argument[2]), set(), {""}
            for times in range(int(argument[1]) + 1):
                more |= power if times >= argument[0] else set()
                power = _joined(power, once)
        else:
            raise _NotAListError
        words = _joined(words, more)
    return words


def _joined(heads: set[str], tails: set[str]) -> set[str]:
    if len(heads) * len(tails) > MAX_WORDS:
        raise _NotAListError
    return {head + tail for head in heads for tail in tails}

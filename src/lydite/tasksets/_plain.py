"""Make sure that a document is plain JSON before anything else looks at it.

Documents come from JSON, from YAML (whose aliases can build cycles and exponential growth) and from callers in Python.
Past this check every value has canonical bytes, so a digest, a ledger and a file can hold it.
"""

from __future__ import annotations

import math
from typing import Any

from lydite.errors import InputError

_MAX_DEPTH = 64
_MAX_NODES = 4_000_000
_MAX_CHARS = 1_000_000_000

_Path = tuple[Any, ...]  # (parent path, key), innermost last; () at the top


def ensure_plain(value: Any) -> None:
    """Raise unless ``value`` is made of objects with text keys, lists, texts, finite numbers, booleans and nulls.

    Raises:
        InputError: names the field; also for more than 64 levels, four million values or a billion characters, which
            is what YAML aliases can unfold to.
    """
    nodes = chars = 0
    stack: list[tuple[Any, int, _Path]] = [(value, 0, ())]
    while stack:
        item, depth, path = stack.pop()
        nodes += 1
        if isinstance(item, str):
            chars += len(item)
            if not item.isascii():
                _ensure_utf8(item, path)
        elif isinstance(item, dict):
            if depth >= _MAX_DEPTH:
                raise _error("nested too deeply", path, f"at most {_MAX_DEPTH} levels")
            for key, below in item.items():
                if not isinstance(key, str):
                    raise _error(f"key {key!r:.60} is not a text", path, _remedy(path))
                chars += len(key)
                _ensure_utf8(key, path)
                stack.append((below, depth + 1, (path, key)))
        elif isinstance(item, list):
            if depth >= _MAX_DEPTH:
                raise _error("nested too deeply", path, f"at most {_MAX_DEPTH} levels")
            stack.extend((below, depth + 1, (path, index)) for index, below in enumerate(item))
        elif isinstance(item, float):
            if not math.isfinite(item):
                raise _error(f"{item} is not a JSON number", path, "write it as a text, or leave it out")
        elif item is not None and not isinstance(item, int):
            raise _error(f"a {type(item).__name__} is not a JSON value", path, "write it as a text in quotes")
        if nodes > _MAX_NODES or chars > _MAX_CHARS:
            raise InputError("the document is too large", remedy="unfold fewer YAML aliases, or split the document")


def _remedy(path: _Path) -> str:
    """What to do about a key that is no text. Quotes would make another value of what a program returns."""
    names: set[str | int] = set()
    while path:
        path, name = path
        names.add(name)
    if "tests" in names or "visible" in names:
        return "JSON has no such keys: use an assert, such as assert f(1) == {1: 2}"
    return "put the key in quotes"


def _ensure_utf8(text: str, path: _Path) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        message = "holds a lone surrogate, which is half a character"
        raise _error(message, path, "write the whole character as UTF-8") from None


def _error(message: str, path: _Path, remedy: str) -> InputError:
    names: list[str] = []
    while path:
        path, key = path
        names.append(str(key)[:60].encode(errors="replace").decode())
    return InputError(message, field=".".join(reversed(names)) or None, remedy=remedy)

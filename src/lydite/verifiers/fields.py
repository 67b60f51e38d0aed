"""Configurations of checkers, read into typed structures, with errors that name the field and the remedy."""

from __future__ import annotations

import difflib
import re
from typing import Any, TypeVar

import msgspec

from lydite.codec import well_formed
from lydite.errors import InputError

T = TypeVar("T")

_PLACE = re.compile(r" - at (?:`key` in )?`\$\.?(.*)`$")
_TYPE = re.compile(r"`((?:str|int|float|bool|array|object|null)(?: \| (?:str|int|float|bool|array|object|null))*)`")
_WORDS = {
    "str": "text",
    "int": "whole number",
    "float": "number",
    "bool": "true or false",
    "array": "list",
    "object": "object",
    "null": "null",
}
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`")
_MISSING = re.compile(r"Object missing required field `(.*)`")


def read_config(config: dict[str, Any], kind: type[T], verifier: str) -> T:
    """The configuration as a structure.

    Args:
        config: plain JSON values.
        kind: a ``msgspec.Struct`` with ``forbid_unknown_fields=True``; its fields are what the checker knows. Bounds go
            into the types (``Annotated[int, msgspec.Meta(ge=1)]``), what types cannot say is checked by the caller.
        verifier: the checker's name, for the message.

    Raises:
        InputError: names the field that is unknown, missing or wrong.
    """
    try:
        return msgspec.convert(config, kind)
    except msgspec.ValidationError as error:
        message = str(error)
    except RecursionError:
        raise InputError("is nested too deeply", field="config", remedy="give fewer levels") from None
    except UnicodeError:
        field = next((name for name, value in config.items() if not _encodable({name: value})), "config") or "config"
        told, remedy = "holds a lone surrogate, which is no text", "write the character that was meant"
        raise InputError(told, field=well_formed(field), remedy=remedy) from None
    place = _PLACE.search(message)
    field = _dotted(place.group(1)) if place else ""
    message = message[: place.start()] if place else message
    if unknown := _UNKNOWN.fullmatch(message):
        known = [info.encode_name for info in msgspec.structs.fields(kind)] if not field else []  # type: ignore[arg-type]
        near = difflib.get_close_matches(unknown.group(1)[:100], known, n=1)
        remedy = f"{verifier} knows {', '.join(known)}" if known else "leave it out"
        remedy += f"; did you mean {near[0]}?" if near else ""
        raise InputError("unknown field", field=_join(field, unknown.group(1) or "''"), remedy=remedy)
    if missing := _MISSING.fullmatch(message):
        raise InputError("is missing", field=_join(field, missing.group(1)), remedy=f"{verifier} needs it")
    message = _TYPE.sub(_in_words, message[:1].lower() + message[1:])
    raise InputError(message.replace(", got", ", found"), field=field or "config", remedy="see docs/verdicts.md")


def no_python(error: Exception) -> str:
    """Why a source is no Python, with the line of the source, told once."""
    if isinstance(error, SyntaxError):
        return f"is no Python: {error.msg}" + (f" in its line {error.lineno}" if error.lineno else "")
    return f"is no Python: {error or type(error).__name__}"[:300]


def _in_words(types: re.Match[str]) -> str:
    return " or ".join(_WORDS[name] for name in types.group(1).split(" | "))


def _encodable(value: Any) -> bool:
    try:
        msgspec.json.encode(value)
    except UnicodeError:
        return False
    return True


def _dotted(path: str) -> str:
    """``tests[0].input`` as ``tests.0.input``; ``[...]`` stands for some entry."""
    return re.sub(r"\[(\.\.\.|\d+)\]", lambda match: f".{match.group(1)}", path).strip(".")


def _join(*parts: str) -> str:
    return ".".join(part for part in parts if part)

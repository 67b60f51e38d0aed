"""JSON bodies of requests, looked at by hand: errors name the field as the sender wrote it (``data[3].status``)."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from lydite.errors import InputError
from lydite.server.errors import RefusedError

T = TypeVar("T")


def below(where: str, name: str) -> str:
    """The name of a field of a field."""
    return f"{where}.{name}" if where else name


def refusal(field: str, message: str) -> RefusedError:
    """An error about a field, which message and ``param`` both name."""
    return RefusedError(f"{field}: {message}", param=field)


def refused_at(error: InputError, where: str = "", default: str = "") -> RefusedError:
    """An error about input, as one about the field of a body that it lies in."""
    message = error.message + (f" ({error.remedy})" if error.remedy else "")
    return refusal(below(where, error.field or default).rstrip(".") or "body", message)


def only(given: Any, known: Collection[str], where: str = "") -> dict[str, Any]:
    """An object with no other fields than these.

    Raises:
        RefusedError: it is none, or has another; names it.
    """
    if not isinstance(given, dict):
        raise RefusedError(f"must be an object, not {shown(given)}", param=where or None)
    for name in given:
        if name not in known:
            field = below(where, str(name)[:100].encode("utf-8", "replace").decode())
            near = difflib.get_close_matches(str(name)[:100], known, n=1)
            remedy = f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(known))}"
            raise refusal(field, f"unknown field ({remedy})")
    return given


def field(given: Mapping[str, Any], name: str, kind: type[T], default: T | None = None, *, where: str = "") -> T:
    """A field of a kind; null counts as left out.

    Raises:
        RefusedError: it is of another kind, or missing where there is no default.
    """
    value, path = given.get(name), below(where, name)
    if value is None:
        if default is None:
            raise refusal(path, "is missing")
        return default
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        word = {str: "a text", bool: "true or false", int: "a whole number", list: "a list", dict: "an object"}[kind]
        raise refusal(path, f"must be {word}, not {shown(value)}")
    return value


def shown(value: Any) -> str:
    """A value for a message: short, and fit to be written."""
    return f"{value!r:.60}".encode("utf-8", "backslashreplace").decode()


def json_body(schema: dict[str, Any], example: Any = None, *, required: bool = True) -> dict[str, Any]:
    """``openapi_extra`` of a route whose body is looked at by hand."""
    content: dict[str, Any] = {"schema": schema}
    if example is not None:
        content["example"] = example
    return {"requestBody": {"required": required, "content": {"application/json": content}}}

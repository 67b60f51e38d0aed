"""Errors of pydantic in words: where, as the sender wrote it, and what is allowed. No name of a type gets out."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import AliasChoices, BaseModel

Place = tuple[str | int, ...]
_BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "finite_number": "a number",
    "string": "a text",
    "bool": "true or false",
    "list": "a list",
    "dict": "an object",
    "mapping": "an object",
    "model": "an object",
}


def place_in(document: Any, loc: Sequence[str | int]) -> Place:
    """A location of pydantic's as a path into the document: the tags of unions, which nobody wrote, are left out."""
    where: list[str | int] = []
    here = document
    for depth, part in enumerate(loc):
        held = here if isinstance(here, dict) else dict(enumerate(here)) if isinstance(here, list) else None
        if held is None or (part not in held and depth < len(loc) - 1):
            continue
        here = held.get(part)
        where.append(part)
    return tuple(where)


def said(errors: Sequence[Mapping[str, Any]], document: Any) -> tuple[Place, str]:
    """Where the first error lies, and what is wrong there: of a union, what each member asks for."""
    where, kind = place_in(document, errors[0]["loc"]), errors[0]["type"]
    same = [one for one in errors if place_in(document, one["loc"]) == where]
    wanted = list(dict.fromkeys(filter(None, map(_wanted, same))))
    if kind == "missing":
        return where, "is missing"
    if not wanted:
        return where, str(errors[0]["msg"]).removeprefix("Value error, ")
    return where, f"must be {' or '.join(wanted)}, not {_shown(errors[0].get('input'))}"


def keys_of(model: type[BaseModel] | None) -> list[str]:
    """Keys that a model takes, other spellings included."""
    keys: list[str] = []
    for name, field in model.model_fields.items() if model else ():
        others = field.validation_alias
        if isinstance(others, AliasChoices):
            keys.extend(str(choice) for choice in others.choices)
        else:
            keys.append(field.alias or name)
    return keys


def meant(name: str, known: Sequence[str]) -> str | None:
    """The known name that was most likely meant, else all of them; ``None`` where none is known."""
    near = difflib.get_close_matches(name[:100], known, n=1)
    return f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}" if known else None


def below(model: type[BaseModel] | None, path: Sequence[str | int]) -> type[BaseModel] | None:
    """The model at the end of a path into another, as far as there is one."""
    for part in path:
        if model is None:
            return None
        if isinstance(part, str):
            field = model.model_fields.get(part)
            model = model_in(field.annotation) if field else None
    return model


def model_in(annotation: Any) -> type[BaseModel] | None:
    """The first model in a type; ``None`` where it has none."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for item in getattr(annotation, "__args__", ()) if (found := model_in(item))), None)


def _wanted(error: Mapping[str, Any]) -> str | None:
    """What the place should hold, to follow on "must be"."""
    kind, context = str(error["type"]), error.get("ctx") or {}
    for name, words in _BOUNDS.items():
        if name in context:
            return f"{words} {context[name]:g}" if isinstance(context[name], float) else f"{words} {context[name]}"
    if kind in ("literal_error", "enum"):
        return str(context["expected"])
    if kind.startswith("string_too_"):
        long = kind.endswith("long")
        limit = context["max_length" if long else "min_length"]
        return f"a text of at {'most' if long else 'least'} {limit} characters"
    if kind in ("too_long", "too_short"):
        long = kind == "too_long"
        return f"at {'most' if long else 'least'} {context['max_length' if long else 'min_length']} entries"
    for name, words in _KINDS.items():
        if kind == name or (kind.startswith(f"{name}_") and "pattern" not in kind):
            return words
    return None


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, str) and len(value) > 60:
        return f"a text of {len(value)} characters"
    return f"{value!r:.60}".encode("utf-8", "backslashreplace").decode()

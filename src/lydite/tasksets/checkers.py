"""The kinds of checkers that a task document may name, and the fields that each cannot do without.

The room that judges owns what a configuration means. Here is only what a document's author should be told at once,
with file and line: an unknown kind, a missing gold, a rubric without checks. A kind whose verifier is not installed is
still a valid document. Checkers of the author's own, by path or from an installed package, have whatever configuration
they like.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any, Final

from lydite.errors import InputError
from lydite.task import Checker
from lydite.tasksets._names import as_object, child, nearest, only, show

#: Checkers of what an episode left in its workspace: kind to required fields.
STATE: Final[dict[str, tuple[str, ...]]] = {
    "exit_code": ("command",),
    "file_exists": ("paths",),
    "pytest": ("test_paths",),
    "script": ("script",),
}
#: Checkers of an answer: kind to required fields.
ANSWER: Final[dict[str, tuple[str, ...]]] = {
    "math": ("answer",),
    "exact": ("answer",),
    "choice": ("answer",),
    "code": ("tests",),
    "json_schema": ("schema",),
    "sql": ("setup", "reference"),
    "regex": (),
    "text_transform": ("cases",),
    "steps": (),
    "proof": ("system", "statement"),
    "format": ("required",),
    "grader": ("grader",),
}
#: Checkers made of other checkers: kind to required fields.
COMPOSITE: Final[dict[str, tuple[str, ...]]] = {
    "all_of": ("checkers",),
    "weighted": ("checkers",),
    "gate": ("checkers", "gate"),
}
#: Every kind that is known by name.
CHECKERS: Final[dict[str, tuple[str, ...]]] = {**STATE, **ANSWER, **COMPOSITE}

#: Entry-point group through which an installed package offers kinds of its own.
GROUP: Final = "lydite.verifiers"

_TEXTS = frozenset({"command", "script", "reference", "statement", "system", "gate"})
_LISTS = frozenset({"paths", "test_paths", "tests", "cases", "required", "setup", "must_match", "must_not_match"})


def parse_checker(value: Any, field: str = "checker") -> Checker:
    """A checker document, nested ones included.

    Raises:
        InputError: not an object, an unknown kind or key, or a required field of the configuration is missing.
    """
    document = as_object(value, field, 'give {"type": "…", "config": {…}}')
    for key in document:
        if key not in ("type", "config"):
            kind = document.get("type")
            inside = f"move it into {field}.config" if isinstance(kind, str) and is_known(kind) else None
            raise InputError(
                "unknown field", field=child(field, key), remedy=inside or nearest(key, ("type", "config"))
            )
    kind = document.get("type")
    if kind is None:
        raise InputError("is missing", field=child(field, "type"), remedy="one of: " + ", ".join(CHECKERS))
    if not isinstance(kind, str):
        remedy = "one of: " + ", ".join(CHECKERS)
        raise InputError(f"unknown checker {show(kind)}", field=child(field, "type"), remedy=remedy)
    config = as_object(document.get("config", {}), child(field, "config"), "give an object of settings")
    checker = Checker(type=kind, config=config)
    check_config(checker, field)
    return checker


def check_config(checker: Checker, field: str = "checker") -> None:
    """Raise for what no verifier could judge by.

    Raises:
        InputError: names the field of the configuration.
    """
    config, where = checker.config, child(field, "config")
    if not is_known(checker.type):
        remedy = nearest(checker.type, [*CHECKERS, *installed(GROUP)]) + "; or path.py:name"
        raise InputError(f"unknown checker {show(checker.type)}", field=child(field, "type"), remedy=remedy)
    if checker.type not in CHECKERS:
        return  # its author alone knows what it needs
    for name in CHECKERS[checker.type]:
        if config.get(name) is None:
            raise _missing(checker, name, where)
    for name in _TEXTS & config.keys() & set(CHECKERS[checker.type]):
        text = config[name]
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"must be a text, not {show(text)}", field=child(where, name), remedy="write it out")
    required = ("must_match", "must_not_match") if checker.type == "regex" else CHECKERS[checker.type]
    for name in _LISTS & config.keys() & set(required):
        items = config[name]
        if name == "setup" and isinstance(items, str):  # one database may be given as one text
            continue
        if not isinstance(items, list):
            raise InputError(f"must be a list, not {show(items)}", field=child(where, name), remedy="put it in [ ]")
        if not items and checker.type != "regex":
            raise InputError("is empty", field=child(where, name), remedy="nothing would be checked: give at least one")
    if checker.type == "regex" and not (config.get("must_match") or config.get("must_not_match")):
        raise InputError("has no cases", field=child(where, "must_match"), remedy="give texts that must (not) match")
    answer = config.get("answer")
    if "answer" in CHECKERS[checker.type] and isinstance(answer, str) and not answer.strip():
        raise InputError("is empty", field=child(where, "answer"), remedy="give the right answer")
    if checker.type in COMPOSITE:
        _check_parts(checker, where)


def nested(checker: Checker) -> list[Checker]:
    """The checkers that a composite is made of, all the way down; the checker itself when it is none."""
    return [part for _, part in walk(checker) if part.type not in COMPOSITE]


def walk(checker: Checker, field: str = "checker") -> Iterator[tuple[str, Checker]]:
    """The checker and, all the way down, those that it is made of, each with the dotted name of its field."""
    yield field, checker
    parts = checker.config.get("checkers") if checker.type in COMPOSITE else None
    for name, part in parts.items() if isinstance(parts, dict) else ():
        below = child(f"{field}.config.checkers", name)
        yield from walk(Checker(type=part["type"], config=part.get("config") or {}), below)


def is_known(kind: str) -> bool:
    """Whether a document may name this kind: a known one, ``path.py:name``, or one of an installed package.

    Nothing is imported or executed to find out, so a path need not exist here.
    """
    return kind in CHECKERS or ".py:" in kind or kind in installed(GROUP)


def default_env(checker: Checker) -> str:
    """``workspace`` where anything is judged by the state that an episode leaves, else ``none``."""
    return "workspace" if any(part.type in STATE for part in nested(checker)) else "none"


def installed(group: str) -> frozenset[str]:
    """Names that packages on the import path offer under an entry-point group."""
    return _installed(group, tuple(sys.path))


@lru_cache(maxsize=16)
def _installed(group: str, path: tuple[str, ...]) -> frozenset[str]:
    """Looked up once for each import path."""
    return frozenset(point.name for point in entry_points(group=group))


def _missing(checker: Checker, name: str, where: str) -> InputError:
    """A required key is not there; where another key looks like it, that one is named."""
    others = {key.casefold(): key for key in checker.config if key not in CHECKERS[checker.type]}
    if name not in checker.config and (close := difflib.get_close_matches(name, others, n=1, cutoff=0.6)):
        return InputError("unknown key", field=child(where, others[close[0]]), remedy=f"did you mean {name!r}?")
    given = f"; there is only {', '.join(map(show, list(others.values())[:5]))}" if others else ""
    return InputError("is missing", field=child(where, name), remedy=f"a {checker.type} checker needs it{given}")


def _check_parts(checker: Checker, where: str) -> None:
    config, below = checker.config, child(where, "checkers")
    parts = as_object(config["checkers"], below, 'give {"name": {"type": "…", "config": {…}}}')
    if not parts:
        raise InputError("is empty", field=below, remedy="nothing would be checked: give at least one")
    for name, part in parts.items():
        parse_checker(part, child(below, name))
    if checker.type == "gate" and config["gate"] not in parts:
        remedy = nearest(config["gate"], parts)
        raise InputError(f"{show(config['gate'])} is none of the checkers", field=child(where, "gate"), remedy=remedy)
    weights = as_object(config.get("weights", {}), child(where, "weights"), "give numbers by checker name")
    only(weights, parts.keys(), child(where, "weights"))
    for name, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or weight < 0:
            field = child(child(where, "weights"), name)
            raise InputError(f"must be a number from 0, not {show(weight)}", field=field, remedy="give a weight")

"""What may stand in the fields of a task document of the service, and in its task."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

from lydite.errors import InputError, MissingExtraError, UnavailableError
from lydite.server.apart import built
from lydite.server.bodies import refusal, refused_at, shown
from lydite.server.tasks import problems_of
from lydite.tasksets.documents import parse_task
from lydite.verifiers import checker_of

STATUSES = ("draft", "published", "archived")
FIELDS = ("type", "status", "title", "topics", "user", "scope", "spec")
_LENGTHS = {"title": 500, "user": 200, "scope": 100}
_MOST_TOPICS, _TOPIC = 50, 100
FATAL = ("malformed", "checker", "env", "flags", "empty_prompt")
"""Rules of lint whose findings make a document useless; the others are told, and it is kept."""


def check_workspace(name: str, field: str = "workspaceid") -> str:
    """The name of a workspace.

    Raises:
        RefusedError: it is no line of text of 1 to 200 characters.
    """
    return _line(name, field, 200, empty=False)


def check_fields(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The fields of a document but its task, checked; those that are left out stay out.

    Args:
        given: fields of ``Document``.
        where: what errors call the document; empty where there is one only.

    Raises:
        RefusedError: names the field.
    """
    fields = dict(given)
    for name, value in given.items():
        field = f"{where}.{name}".lstrip(".")
        if name not in FIELDS:
            raise refusal(field, f"unknown field (known: {', '.join(FIELDS)})")
        if name == "type" and value != "rlTask":
            raise refusal(field, f"is {shown(value)}: only documents of type 'rlTask' are tasks")
        if name == "status" and value not in STATUSES:
            raise refusal(field, f"is {shown(value)}: one of {', '.join(STATUSES)}")
        if name in _LENGTHS:
            fields[name] = _line(value, field, _LENGTHS[name])
        if name == "topics":
            fields[name] = check_topics(value, field)
    return fields


def check_topics(value: Any, field: str = "topics") -> tuple[str, ...]:
    """Labels, each once.

    Raises:
        RefusedError: no list of short texts, or too many.
    """
    if not isinstance(value, list | tuple) or len(value) > _MOST_TOPICS:
        raise refusal(field, f"must be a list of at most {_MOST_TOPICS} texts")
    return tuple(dict.fromkeys(_line(topic, f"{field}[{at}]", _TOPIC, empty=False) for at, topic in enumerate(value)))


def check_spec(spec: Any, field: str) -> None:
    """Refuse a task that could not be used: read by the readers of task files, linted, its checker compiled.

    Raises:
        RefusedError: names the field below ``field``.
    """
    if not isinstance(spec, dict):
        raise refusal(field, 'must be an object, a task document: {"prompt": …, "checker": {…}}')
    for problem in problems_of([spec]):
        if problem.severity == "error" and problem.rule in FATAL:
            remedy = f" ({problem.remedy})" if problem.remedy else ""
            raise refusal(f"{field}.{problem.field}" if problem.field else field, problem.message + remedy)
    try:
        built(checker_of(parse_task(spec)))
    except InputError as error:
        raise refused_at(error, field, "checker") from None
    except (UnavailableError, MissingExtraError):
        pass  # it can be kept here and judged elsewhere; a job over it says so


def _line(value: Any, field: str, most: int, *, empty: bool = True) -> str:
    if not isinstance(value, str) or len(value) > most or (not empty and not value.strip()):
        raise refusal(field, f"must be a text of {0 if empty else 1} to {most} characters")
    if any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in value):
        raise refusal(field, "holds control characters, line ends or halves of characters")
    return value

"""From the rows of an uploaded file to tasks: line for line, so that an error names the line of the upload.

A row of a reinforcement file is ``{"messages": [..., the user's last], ...}``; what stands beside the messages is
``item`` of the grader; thresholds of detectors in ``metadata.flags`` hold for the task. Any other row is a task
document, or a row of a data set that is known, and stays as it is.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from lydite.codec import canonical
from lydite.errors import InputError
from lydite.policies.messages import conversation
from lydite.server.errors import RefusedError
from lydite.server.jobs.checks import check_task
from lydite.tasksets.documents import parse_task, task_document
from lydite.tasksets.messages import parse_prompt

PATIENCE = 8.0
"""Seconds in which checkers are looked at before the job is made; its process looks at the others first."""
MEASURED = 1000
"""Tasks that are made of rows with answers."""
_BOM = b"\xef\xbb\xbf"

Side = Literal["training_file", "validation_file"]


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """A checker of Lydite's by name: its configuration apart from what each row says."""

    name: str
    config: dict[str, Any] = {}


Grading = Named | Mapping[str, Any] | None
"""A checker by name, a grader document, or nothing: then each row says by itself what it is judged by."""


def read_rows(path: Path, side: Side) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Line number and row; ``None`` for an empty line.

    Raises:
        RefusedError: not an object, not JSON, not UTF-8; names the line.
    """
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            text = line.removeprefix(_BOM) if number == 1 else line
            if not text.strip():
                yield number, None
                continue
            try:
                row = msgspec.json.decode(text)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                remedy = "a file has one JSON object on each line, and nothing else"
                raise _unusable(side, number, InputError(f"not JSON: {str(error)[:200]}", remedy=remedy)) from None
            if not isinstance(row, dict):
                raise _unusable(side, number, InputError("a row is a JSON object, one on each line"))
            yield number, row


class Rows(NamedTuple):
    """Task documents, one on the line of its row; how many there are, and how many of them the job's grader judges."""

    data: bytes
    tasks: int
    graded: int


def tasks_of(path: Path, side: Side, grading: Grading) -> Rows:
    """The tasks of a reinforcement file. A task document keeps its own checker, whatever grades the other rows.

    Raises:
        RefusedError: names the file, the line and the field; for a grader that cannot be used, the grader's field.
    """
    until = time.monotonic() + PATIENCE
    lines, places, graded = list[bytes](), dict[str, int](), 0
    for number, row in read_rows(path, side):
        if row is None:
            lines.append(b"")
            continue
        asked = "messages" in row
        try:
            document = _task(row, grading) if asked else row
            task = parse_task(document)
            if time.monotonic() < until:
                check_task(task)
            if (first := places.setdefault(task.id, number)) != number:
                raise InputError(f"the same task stands on line {first}", remedy="remove one of the two")
        except InputError as error:
            told = _grader if asked and not graded else _unusable
            raise told(side, number, error if asked else _in_doubt(row, error)) from None
        graded += asked
        lines.append(canonical(document if asked else task_document(task)))
    if not places:
        raise RefusedError("the file holds no rows", param=side)
    return Rows(b"\n".join(lines) + b"\n", len(places), graded)


def _in_doubt(row: dict[str, Any], error: InputError) -> InputError:
    """A row without messages that is no task either: it was mostly meant to have them."""
    if any(name in row for name in ("checker", "task_spec", "rawTrainingData")):
        return error
    field = f"{error.field}: " if error.field else ""
    return InputError(
        "is missing",
        field="messages",
        remedy=f'a row is {{"messages": [{{"role": "user", "content": "..."}}], ...}}; as a task document it cannot be '
        f"read either: {field}{error.message}",
    )


def _task(row: dict[str, Any], grading: Grading) -> dict[str, Any]:
    prompt = parse_prompt(row["messages"], "messages")
    if prompt[-1].role != "user":
        raise InputError(
            f"ends with the role {prompt[-1].role}", field="messages", remedy="the last message is the user's"
        )
    item = {name: value for name, value in row.items() if name != "messages"}
    labels = item.get("metadata")
    flags = {"flags": labels["flags"]} if isinstance(labels, dict) and "flags" in labels else {}
    if grading is None:
        checker = item.pop("checker", None)
        if not isinstance(checker, dict) or "type" not in checker:
            raise InputError(
                "nothing says what decides", field="checker", remedy="give the method a grader, or each row a checker"
            )
    elif isinstance(grading, Named):
        checker = _checker(grading, item)
    else:
        checker = {"type": "grader", "config": {"grader": dict(grading), "item": item}}
        item = {}
    document: dict[str, Any] = {"prompt": row["messages"], "checker": checker}
    if item or flags:
        document["metadata"] = {**item, **flags}
    return document


def _checker(named: Named, item: dict[str, Any]) -> dict[str, Any]:
    """The checker of a row whose verifier is named: the row's ``checker``, or its ``answer`` (or ``gold``)."""
    own = item.pop("checker", {})
    if not isinstance(own, dict):
        raise InputError("must be an object", field="checker")
    if "type" in own:
        if own["type"] != named.name:
            raise InputError(
                f"is {str(own['type'])[:40]!r}, and the job's verifier is {named.name}", field="checker.type"
            )
        own = own.get("config") or {}
    config = {**named.config, **own}
    for name in ("answer", "gold"):
        if name in item:
            value = item.pop(name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            config.setdefault("answer", str(value) if number else value)
    return {"type": named.name, "config": config}


def answered(path: Path, side: Side, kind: str) -> tuple[bytes, bytes]:
    """The rows of a supervised or preference file as they are, and tasks made of them: the prompt, and the answer that
    was written (or preferred) as what is right. They are what such a run is measured by.

    Raises:
        RefusedError: names the line and the field.
    """
    read = _demonstration if kind == "supervised" else _preference
    rows: list[bytes] = []
    tasks: dict[str, bytes] = {}
    for number, row in read_rows(path, side):
        rows.append(b"" if row is None else canonical(row))
        if row is None:
            continue
        try:
            prompt, answer = read(row)
            if answer.strip() and len(tasks) < MEASURED:
                checker = {"type": "exact", "config": {"answer": answer}}
                task = parse_task({"prompt": prompt, "checker": checker, "solution": answer})
                tasks.setdefault(task.id, canonical(task_document(task)))
        except InputError as error:
            raise _unusable(side, number, error) from None
    if not tasks:
        raise RefusedError("the file holds no rows with an answer in words", param=side)
    return b"\n".join(rows) + b"\n", b"\n".join(tasks.values()) + b"\n"


def _demonstration(row: dict[str, Any]) -> tuple[Any, str]:
    _only(row, ("messages",))
    talk = conversation(row.get("messages"), "user", field="messages")
    parse_prompt(row["messages"][:-1] if isinstance(row["messages"], list) else [], "messages")
    if talk[-1].role != "assistant":
        raise InputError("must end with the assistant's message", field="messages")
    _plain(row["messages"], "messages")
    return row["messages"][:-1], talk[-1].content


def _preference(row: dict[str, Any]) -> tuple[Any, str]:
    _only(row, ("input", "preferred_output", "non_preferred_output"))
    asked = row.get("input")
    if not isinstance(asked, dict):
        raise InputError('must be {"messages": [...]}', field="input")
    for name, value in asked.items():
        if name not in ("messages", "parallel_tool_calls") and value:
            raise InputError("is not learned from", field=f"input.{name}", remedy="leave it out")
    parse_prompt(asked.get("messages"), "input.messages")
    _plain(asked["messages"], "input.messages")
    sides = []
    for name in ("preferred_output", "non_preferred_output"):
        said = conversation(row.get(name), "assistant", field=name)
        if any(message.role != "assistant" for message in said):
            raise InputError("must be the assistant's", field=name)
        sides.append(said)
    return asked["messages"], sides[0][-1].content if len(sides[0]) == 1 else ""


def _only(row: dict[str, Any], names: tuple[str, ...]) -> None:
    for name, value in row.items():
        if name not in names and value:
            raise InputError("is not learned from", field=name[:80], remedy=f"a row has {', '.join(names)}")


def _plain(messages: Any, field: str) -> None:
    for index, message in enumerate(messages if isinstance(messages, list) else ()):
        if isinstance(message, dict) and message.get("weight") not in (None, 1):
            remedy = "the last message alone is learned from: leave the others' weight out"
            raise InputError("only 1 is possible", field=f"{field}.{index}.weight", remedy=remedy)


def _grader(side: Side, number: int, error: InputError) -> RefusedError:
    """An error about the first row that the grader was put to. Where it is the grader's, it is told so."""
    mark = "checker.config.grader"
    field = error.field or ""
    if field == "checker.type" or field.startswith(mark):
        where = "method.reinforcement.grader" + field.removeprefix(mark if field.startswith(mark) else "checker")
        remedy = f" ({error.remedy})" if error.remedy else ""
        return RefusedError(f"{where}: {error.message}{remedy} (found with row {number} of {side})", param=where)
    return _unusable(side, number, error)


def _unusable(side: Side, number: int, error: InputError) -> RefusedError:
    field = f"{error.field}: " if error.field else ""
    remedy = f" ({error.remedy})" if error.remedy else ""
    return RefusedError(f"line {number}: {field}{error.message}{remedy}", param=side, code="invalid_row")


_TRICK = re.compile(
    r"\s*(?:from\s+(?:rlvr|lydite)\s+import\s+verifier\s*[;\n]\s*)?grade\s*=\s*verifier\(\s*(['\"])"
    r"(?P<name>[\w.-]{1,80}(?:@\d{1,9})?)\1\s*\)\s*"
)


def named_in(source: str) -> str | None:
    """The verifier that a ``python`` grader names in place of a program: ``grade = verifier("math@3")``."""
    found = _TRICK.fullmatch(source)
    return found["name"] if found else None

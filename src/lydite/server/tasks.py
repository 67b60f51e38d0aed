"""Task documents before they are used: what is wrong with them, and what attacks their checkers let through."""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from lydite.codec import well_formed
from lydite.errors import InputError
from lydite.server.apart import TooLongError, apart
from lydite.server.errors import RefusedError
from lydite.server.home import Home
from lydite.server.probes import Probes, Probing
from lydite.task import Task
from lydite.tasksets.documents import parse_task
from lydite.tasksets.lint import Finding, lint_readings
from lydite.tasksets.read import Document, Reading, read_documents
from lydite.verifiers.chunks import Clock

if TYPE_CHECKING:
    from lydite.probes.card import Card

__all__ = ["MOST_TRIED", "Probing", "Problem", "Tasks", "problems_of", "read_tasks"]

MOST_TRIED = 100
"""Tasks of one request that are set up, solved and judged."""
TRYING = 120.0
"""Seconds that trying the tasks of one request may take; those that are left are told as not tried. Also of one."""
WARNINGS = frozenset(
    {"duplicate_prompt", "near_duplicate", "gold_in_setup", "no_hidden_part", "outside_workspace", "scores_untouched"}
    | {"not_tried"}
)
"""Rules whose findings may be meant; everything else makes a task useless, or a reward free."""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to mend.

    Attributes:
        index: which of the documents, from 0.
        task: its id, empty where there is none.
        severity: ``error``: it cannot be used as it is, or rewards what it should not; ``warning``: worth a look.
        rule: which rule of ``lydite tasks lint`` found it.
        message: what is wrong.
        field: dotted name of the field, where there is one.
        remedy: what to do.
        line: of the text where the document begins, or where it cannot be read.
    """

    index: int
    task: str = ""
    severity: Literal["error", "warning"]
    rule: str
    message: str
    field: str | None = None
    remedy: str | None = None
    line: int | None = None


class Tasks:
    """Blocking; safe from threads. Nothing of it runs outside of the sandbox."""

    def __init__(self, home: Home) -> None:
        self._probes = Probes(home)
        self._trying = threading.Semaphore(1)

    def validate(self, text: str, *, tried: bool = True) -> list[Problem]:
        """What is wrong with task documents; nothing of them is kept.

        Args:
            text: the content of a task file: one document, a list, one a line, or YAML.
            tried: whether each task is also set up, solved and judged in the sandbox, as ``lydite tasks lint`` does;
                that takes seconds for a workspace. Without, it takes milliseconds: fit for every key that is pressed.

        Raises:
            RefusedError: more than ``MOST_TRIED`` tasks to be tried, or one that takes longer than ``TRYING``.
        """
        documents = documents_of(text)
        if tried and len(documents) > MOST_TRIED:
            raise RefusedError(
                f"{len(documents)} tasks: at most {MOST_TRIED} are tried at once (give fewer, or tried=false)"
            )
        values = [document.value if document.error is None else document.error for document in documents]
        lines = [document.error.line if document.error else document.line for document in documents]
        found = self._tried(text) if tried else problems_of(values)
        return [msgspec.structs.replace(problem, line=lines[problem.index]) for problem in found]

    def probe(self, task: Task) -> Probing:
        """Begin to attack a task's checker, or tell how far that is; its card is there when it is ``done``.

        Raises:
            RefusedError: the task names code of this machine, or too many wait already.
        """
        refuse_paths(task)
        return self._probes.begin(task)

    def probing(self, digest: str) -> Probing | None:
        """How far the probing of the task with this digest is; ``None`` where none was asked for."""
        return self._probes.state(digest)

    def card(self, digest: str) -> Card | None:
        """The checker card of the task with this digest (``Task.digest``), where it was probed here."""
        return self._probes.card(digest)

    def has_card(self, digest: str) -> bool:
        """Whether there is a card."""
        return self._probes.has_card(digest)

    def close(self) -> None:
        """Stop what is being probed."""
        self._probes.close()

    def _tried(self, text: str) -> list[Problem]:
        with self._trying:
            try:
                found = apart("lydite.server.tasks:try_them", well_formed(text).encode(), TRYING)
            except TooLongError as error:
                raise RefusedError(
                    f"to try one of the tasks {error.message} (with tried=false, what can be seen without is told)"
                ) from None
        return msgspec.json.decode(found, type=list[Problem])


def try_them(data: bytes, clock: Clock) -> bytes:
    """What is wrong with the tasks of a text that shows when they are tried: done apart."""
    from lydite.probes.bench import bench
    from lydite.probes.sound import judged
    from lydite.sampling import Judge

    values = [one.value if one.error is None else one.error for one in documents_of(data.decode())]
    with bench() as own:
        until, judge = time.monotonic() + TRYING, Judge()

        def rule(task: Task) -> Iterable[Finding]:
            clock.start("")
            if time.monotonic() > until:
                told = f"the tasks before it took {TRYING:.0f} s: give fewer at once"
                return [Finding(rule="not_tried", message=told, task=task.id)]
            return judged(task, judge, own)

        return msgspec.json.encode(problems_of(values, rule))


def problems_of(
    documents: Iterable[object], rule: Callable[[Task], Iterable[Finding]] | None = None, *, pairs: bool = True
) -> list[Problem]:
    """What is wrong with task documents, given as JSON values.

    Args:
        documents: task documents, a ``task_spec`` in its wrapper, rows of known data sets; or why one cannot be read.
        rule: one more rule, for those that are sound and name no code of this machine.
        pairs: whether they are compared with each other.
    """
    place = Path("text")
    found: list[Problem] = []
    readings: list[Reading] = []
    for index, value in enumerate(documents):
        try:
            if isinstance(value, InputError):
                raise InputError(value.message, field=value.field, remedy=value.remedy)
            task = parse_task(value)
            refuse_paths(task)
        except RefusedError as error:
            found.append(
                Problem(index=index, severity="error", rule="checker", message=error.message, field=error.param)
            )
        except InputError as error:
            readings.append(Reading(place, index, error=error.at(line=index)))
        else:
            readings.append(Reading(place, index, task))
    for finding in lint_readings(readings, rule=rule):
        index = finding.line or 0
        if finding.rule in ("duplicate_id", "duplicate_prompt", "near_duplicate") and not pairs:
            continue
        found.append(
            Problem(
                index=index,
                task=finding.task,
                severity="warning" if finding.rule in WARNINGS else "error",
                rule=finding.rule,
                message=_PLACES.sub(lambda match: f"document {match[1]}", finding.message),
                field=finding.field,
                remedy=finding.remedy,
            )
        )
    return sorted(found, key=lambda problem: problem.index)


def read_tasks(text: str) -> list[Task]:
    """The tasks of a text: one document, a list, one a line, or YAML.

    Raises:
        InputError: names the line, the field and the remedy.
    """
    tasks: list[Task] = []
    for document in documents_of(text):
        if document.error is not None:
            raise InputError(
                document.error.message,
                line=document.error.line,
                field=document.error.field,
                remedy=document.error.remedy,
            )
        tasks.append(parse_task(document.value, line=document.line))
    return tasks


_PLACES = re.compile(r"\btext:(\d+)")


def refuse_paths(task: Task) -> None:
    """Refuse a task that names Python files of this machine: what a request brings never runs outside of the sandbox.

    Raises:
        RefusedError: names the field.
    """
    from lydite.tasksets.checkers import walk

    if ":" in task.env:
        raise RefusedError("an environment of this machine's files cannot be named here", param="env")
    for field, checker in walk(task.checker):
        if ":" in checker.type:
            raise RefusedError(
                f"{checker.type[:80]!r}: a checker of this machine's files cannot be named here (use a built-in one,"
                " or install it as a package)",
                param=f"{field}.type",
            )


def documents_of(text: str) -> list[Document]:
    """The documents of a text in their order, and in place of one, or behind them, why it cannot be read."""
    documents: list[Document] = []
    with tempfile.TemporaryDirectory(prefix="lydite-validate-") as folder:
        path = Path(folder) / f"text{_suffix(text)}"
        path.write_text(well_formed(text), encoding="utf-8")
        try:
            documents.extend(read_documents(path))
        except InputError as error:
            documents.append(Document(path, error.line or 1, error=error))
    return documents


def _suffix(text: str) -> str:
    begin = text.lstrip("\ufeff \t\r\n")
    if not begin.startswith(("{", "[")):
        return ".yaml" if begin else ".json"
    if begin.startswith("["):
        return ".json"
    with contextlib.suppress(ValueError, RecursionError):
        _, end = json.JSONDecoder().raw_decode(begin)
        return ".jsonl" if begin[end:].strip() else ".json"
    with contextlib.suppress(ValueError, RecursionError):
        json.loads(begin.partition("\n")[0])
        return ".jsonl"
    return ".json"

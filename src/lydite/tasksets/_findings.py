"""What lint says: one finding, and the names of the rules."""

from __future__ import annotations

from typing import Literal

import msgspec

from lydite.errors import InputError
from lydite.task import Task

Rule = Literal[
    "malformed",
    "duplicate_id",
    "duplicate_prompt",
    "near_duplicate",
    "empty_prompt",
    "gold_in_prompt",
    "gold_in_setup",
    "no_hidden_part",
    "outside_workspace",
    "checker",
    "env",
    "flags",
    "no_verifier",
    "setup_fails",
    "passes_untouched",
    "scores_untouched",
    "solution",
    "not_tried",
]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to mend.

    Attributes:
        rule: which rule found it; ``malformed`` means that the document cannot be used at all.
        message: what is wrong.
        task: id of the task, empty where there is none.
        other: id of the second task, for rules about pairs.
        path, line: where the task was read, where known.
        field: dotted name of the field, where there is one.
        remedy: what to do.
    """

    rule: Rule
    message: str
    task: str = ""
    other: str = ""
    path: str | None = None
    line: int | None = None
    field: str | None = None
    remedy: str | None = None

    def __str__(self) -> str:
        where = ":".join(str(part) for part in (self.path, self.line) if part is not None)
        parts = [where, self.task, self.field or ""]
        told = ": ".join(part for part in parts if part)
        return f"{told}: {self.message} [{self.rule}]" + (f" ({self.remedy})" if self.remedy else "")


def finding_of(error: InputError, rule: Rule, task: Task | None = None) -> Finding:
    """What an error says, as a finding of this rule."""
    return Finding(
        rule=rule,
        message=error.message,
        task="" if task is None else task.id,
        path=None if error.path is None else str(error.path),
        line=error.line,
        field=error.field,
        remedy=error.remedy,
    )

"""What probing is made of: attacks, what became of them, and what is known of the task that they are made for.

An attack is a submission that does not do the task and tries to be judged ``correct``. It got through where it is. A
part of the score is shown and not held against a checker: partial credit is what it is for.

Checks carry the ids of OpenEnv's validation list where that has one (``semantic.oracle_max`` ...).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any

import msgspec

from lydite.sandbox import Snapshot
from lydite.task import Checker, Task


class Check:
    """Ids of checks. Those with a dot in OpenEnv's list are its own; ``probe.`` marks what it has no name for."""

    ORACLE = "semantic.oracle_max"
    FLOOR = "semantic.floor_gap"
    CANARY = "semantic.canary_floor"
    LEAKAGE = "semantic.no_solution_leakage"
    DETERMINISM = "semantic.verifier_determinism"
    PORTABILITY = "semantic.verifier_portability"
    ADVERSARIAL = "statistical.adversarial_floor"
    GAMEABILITY = "statistical.gameability_gap"
    CONTAINMENT = "runtime.host_containment"
    BOUNDS = "runtime.resource_bounds"
    ORACLE_CONTAINMENT = "runtime.oracle_containment"
    WELL_FORMED = "runtime.reward_well_formed"


PROMISES: dict[str, str] = {
    Check.ORACLE: "the reference solution scores 1",
    Check.FLOOR: "doing nothing earns nothing",
    Check.CANARY: "the gold beside a wrong answer does not count",
    Check.LEAKAGE: "the gold is in no prompt, environment variable or workspace",
    Check.DETERMINISM: "the same submission gets the same verdict, again and under load",
    Check.PORTABILITY: "and in another process with another hash seed",
    Check.ADVERSARIAL: "what does not do the task is not judged correct",
    Check.GAMEABILITY: "what is shown of the checker is not enough to pass it",
    Check.CONTAINMENT: "what judges cannot be reached, replaced or ended",
    Check.BOUNDS: "bombs do not pass, and do not become our fault",
    Check.ORACLE_CONTAINMENT: "tests and rewards cannot be read, replaced or forged",
    Check.WELL_FORMED: "every verdict is one: no submission makes the checker fail",
}
"""What each check holds a checker to, in the order in which a card shows them."""


class Attack(msgspec.Struct, frozen=True, kw_only=True):
    """A submission that does not do the task.

    Attributes:
        name: id of the check that it belongs to.
        kind: its short name, such as ``empty`` or ``always_equal``.
        what: one line for people.
        mend: what the task's author can do where it gets through.
        text: the completion.
        files: path to text, written into the untouched workspace before the commands.
        commands: run there, in order; they may fail.
        soft: getting through is told as a warning: the checker asks for no more (a form, a schema), so nobody but the
            author knows whether it is enough.
        costly: made once for each kind and shape of checker, not for every task.
        rival: a submission that cannot be right if this one is (two constants). Where this one is judged correct, it
            happens to be right unless its rival earns ``least`` of the score, too.
        least: see ``rival``; an attribute of the rival.
    """

    name: str
    kind: str
    what: str
    mend: str
    text: str = ""
    files: dict[str, str] = {}
    commands: tuple[str, ...] = ()
    soft: bool = False
    costly: bool = False
    rival: Attack | None = None
    least: float = 1.0

    @property
    def acts(self) -> bool:
        """Whether it needs a workspace to act in."""
        return bool(self.files or self.commands)

    @property
    def shown(self) -> str:
        """The submission as a card shows it."""
        files = "".join(f"--- {path}\n{text}\n" for path, text in self.files.items())
        commands = "".join(f"$ {command}\n" for command in self.commands)
        said = f"{self.text}\n" if self.text and (files or commands) else self.text
        return said + files + commands


class Level(StrEnum):
    """How a check went."""

    PASSED = "passed"
    WARNING = "warning"  # somebody has to look
    FAILED = "failed"  # something got through, or the reference does not score 1
    NOT_MADE = "not_made"  # with the reason; never counted as passed


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one attack, or of one check without an attack, at one task.

    Attributes:
        task: id of the task.
        check, kind: of the attack; a kind such as ``reference`` where there was none.
        level: how it went.
        outcome: of the verdict; empty where there was none.
        share: of the score, in [0, 1]; ``None`` where the verdict is ``invalid`` or there is none.
        reason: of the verdict.
        told: one sentence for a person.
        what, mend: as the attack has them.
        shown: the submission, where it got through or is worth a look.
    """

    task: str
    check: str
    kind: str
    level: Level
    outcome: str = ""
    share: float | None = None
    reason: str = ""
    told: str = ""
    what: str = ""
    mend: str = ""
    shown: str = ""

    @property
    def got_through(self) -> bool:
        return self.level is Level.FAILED


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A task as attackers see it.

    Attributes:
        task: the task; its checker may be a composite.
        checker: as it is compiled (``verifiers.checker_of``).
        parts: the checkers that it is made of; the checker itself where it is no composite.
        untouched: the workspace as an attempt finds it; ``None`` where there is none.
        solved: the workspace as the reference solution leaves it; ``None`` where that is not known.
    """

    task: Task
    checker: Checker
    parts: tuple[Checker, ...]
    untouched: Snapshot | None = None
    solved: Snapshot | None = None

    @property
    def kinds(self) -> frozenset[str]:
        """Types of the parts."""
        return frozenset(part.type for part in self.parts)

    def of(self, *kinds: str) -> list[Checker]:
        """The parts of these types."""
        return [part for part in self.parts if part.type in kinds]

    @property
    def solution_text(self) -> str | None:
        """The reference solution, where it is a text."""
        return self.task.solution if isinstance(self.task.solution, str) else None

    @property
    def solution_files(self) -> dict[str, str]:
        """The files of the reference solution, where it has any."""
        return dict(self.task.solution.get("files") or {}) if isinstance(self.task.solution, dict) else {}


Family = Callable[[Target], Iterable[Attack]]
"""A family of attacks: those that make sense against a target, cheapest first."""


def leaves(config: Any, levels: int = 6) -> list[str]:
    """Texts and numbers in a configuration, as texts, in order."""
    if isinstance(config, str):
        return [config]
    if isinstance(config, bool) or config is None:
        return []
    if isinstance(config, int | float):
        return [repr(config)]
    inner = config.values() if isinstance(config, dict) else config if isinstance(config, list | tuple) else ()
    return [text for value in inner for text in leaves(value, levels - 1)] if levels else []

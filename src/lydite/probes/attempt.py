"""One task: every attack that makes sense against it, carried out and judged."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from lydite.codec import canonical
from lydite.errors import InputError, MissingExtraError, UnavailableError
from lydite.probes import chance, leakage, stability
from lydite.probes.panel import attacks
from lydite.probes.protocol import Attack, Check, Family, Finding, Level, Target
from lydite.probes.world import WorkspaceGoneError, World
from lydite.sandbox import Snapshot
from lydite.task import Checker, Task
from lydite.tasksets.checkers import nested
from lydite.verdict import Outcome, Verdict
from lydite.verifiers import CompiledChecker, Submission, build, checker_of

FLOOR = 0.5
"""Share of the score from which doing nothing is told as a warning."""
SHOWN = 2000
"""Characters of a submission that a finding keeps."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is tried. ``only``: ids of checks, their last words, or kinds of attacks; empty: all. ``families``: of
    attacks; ``None``: the panel."""

    only: tuple[str, ...] = ()
    families: tuple[Family, ...] | None = None

    def wants(self, check: str, kind: str = "") -> bool:
        return not self.only or any(name in (check, kind, check.rpartition(".")[2]) for name in self.only)


class Claims:
    """Which costly attacks were made on which shape of checker. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: set[tuple[str, str]] = set()

    def claim(self, what: str, shape: str) -> bool:
        """Whether this is the first time."""
        with self._lock:
            if (what, shape) in self._made:
                return False
            self._made.add((what, shape))
            return True


class Probed(msgspec.Struct, frozen=True, kw_only=True):
    """A task, and everything that was found.

    Attributes:
        verifier: id of the checker; empty in results that add to an earlier one.
        seconds: wall clock.
        samples: submissions and verdicts, for checks made elsewhere.
        complete: whether everything was tried before the work was stopped.
        unusable: why nothing could be tried at all, where that is the task's own fault.
    """

    task: Task
    verifier: str
    findings: tuple[Finding, ...]
    seconds: float
    samples: tuple[stability.Sample, ...] = ()
    complete: bool = True
    unusable: str = ""


def target_of(task: Task) -> Target:
    """A task as attackers see it."""
    checker = checker_of(task)
    return Target(task=task, checker=checker, parts=tuple(nested(checker)))


def shape(checker: Checker) -> str:
    """Type and fields of the configuration, values left out: what two checkers that work alike have in common."""
    return canonical([checker.type, _shape(checker.config)]).decode()


def _shape(config: dict[str, Any]) -> Any:
    inner: dict[str, Any] = {}
    for name, value in config.items():
        if name == "checkers" and isinstance(value, dict):
            parts = value.values()
            inner[name] = sorted(canonical([part["type"], _shape(part.get("config") or {})]).decode() for part in parts)
        elif isinstance(value, list):
            keys = [sorted(item)[:2] if isinstance(item, dict) else type(item).__name__ for item in value]
            inner[name] = sorted({canonical(key).decode() for key in keys})
        else:
            inner[name] = ""
    return inner


class Bout:
    """Attacks on one task. ``stopped`` is asked between any two of them."""

    def __init__(self, task: Task, world: World, plan: Plan, claims: Claims, stopped: Callable[[], bool]) -> None:
        self.target = target_of(task)
        self.task, self.world, self.plan, self.claims, self.stopped = task, world, plan, claims, stopped
        self.shape = shape(self.target.checker)
        self.check: CompiledChecker
        self.untouched: Snapshot | None = None
        self.samples: list[stability.Sample] = []

    def run(self) -> Probed:
        """Everything that is known of the task afterwards. What was not made is among it, with the reason."""
        began = time.perf_counter()
        findings: list[Finding] = []
        verifier, unusable = self.target.checker.type, ""
        try:
            self.check = build(self.target.checker)
            verifier = self.check.id
            if self.task.env not in ("none", "workspace"):
                raise UnavailableError(f"attacks cannot act in the environment {self.task.env!r:.60}")
            self.untouched = self.world.untouched(self.task)
            self.target = msgspec.structs.replace(self.target, untouched=self.untouched)
            findings.extend(self._findings())
        except (UnavailableError, MissingExtraError) as error:
            findings.append(self._not_made("all", "unavailable", str(error)))
        except InputError as error:
            unusable = str(error)
            findings.append(self._not_made("all", "unusable", unusable))
        return Probed(
            task=self.task,
            verifier=verifier,
            findings=tuple(findings),
            seconds=time.perf_counter() - began,
            samples=tuple(self.samples),
            complete=not (unusable or self.stopped()),
            unusable=unusable,
        )

    def _findings(self) -> Iterator[Finding]:
        for finding in self._reference():  # also where it is not asked for: attacks are told from what it leaves
            if self.plan.wants(finding.check, finding.kind):
                yield finding
        for attack in attacks(self.target, self.plan.families):
            if self.stopped():
                return
            if self.plan.wants(attack.name, attack.kind) and (
                not attack.costly or self.claims.claim(attack.kind, self.shape)
            ):
                found = self._attacked(attack)
                yield found
                if found.got_through and attack.name == Check.FLOOR:
                    told = f"{attack.what} is judged correct, so anything may be: nothing else was tried"
                    yield self._not_made(Check.ADVERSARIAL, "panel", told)
                    break
        if self.plan.wants(Check.GAMEABILITY, "chance_level") and (guess := chance.finding(self.target)) is not None:
            yield guess
        if self.plan.wants(Check.LEAKAGE):
            yield from leakage.findings(self.target, self.untouched, self.world, self.claims.claim)
        if self.plan.wants(Check.DETERMINISM):
            whole = not self.check.waits or self.claims.claim(Check.DETERMINISM, self.shape)
            yield from stability.repeated(self.task, self.check, self.samples, whole, self.stopped)

    def _reference(self) -> Iterator[Finding]:
        if self.task.solution is None:
            told = "the task has no solution"
            yield self._not_made(Check.ORACLE, "reference", told)
            return
        try:
            if isinstance(self.task.solution, str):
                given = self._submission(self.task.solution, self.untouched)
            elif self.untouched is None:
                told = 'there is no workspace to solve it in: say "env": "workspace", or give the solution as a text'
                yield self._not_made(Check.ORACLE, "reference", told)
                return
            else:
                solved = self.world.solved(self.task, self.untouched)
                self.target = msgspec.structs.replace(self.target, solved=solved)
                given = self._submission("", solved)
        except InputError as error:
            yield self._reference_finding(Level.FAILED, None, f"the reference cannot be carried out: {error}")
            return
        verdict = self.check(given)
        self.samples.append(stability.Sample.of("reference", self.check, given, verdict))
        level = Level.PASSED if verdict.correct else Level.FAILED
        yield self._reference_finding(level, verdict, "" if verdict.correct else told_of(verdict))

    def _reference_finding(self, level: Level, verdict: Verdict | None, told: str) -> Finding:
        return Finding(
            task=self.task.id,
            check=Check.ORACLE,
            kind="reference",
            level=level,
            outcome="" if verdict is None else str(verdict.outcome),
            share=None if verdict is None else verdict.score,
            reason="" if verdict is None else verdict.reason,
            told=told,
            what="the reference solution",
            mend="mend the solution, or the checker",
        )

    def _attacked(self, attack: Attack) -> Finding:
        verdict, given = self._judged(attack)
        level, told = self._level(attack, verdict)
        if level is Level.FAILED and given is not None and self._does_the_task(attack, given):
            level, told = Level.PASSED, "leaves what the reference solution leaves"
        if given is not None and len(self.samples) < 2 and not verdict.correct and attack.name != Check.FLOOR:
            self.samples.append(stability.Sample.of(attack.kind, self.check, given, verdict))
        return Finding(
            task=self.task.id,
            check=Check.WELL_FORMED if verdict.outcome is Outcome.INVALID else attack.name,
            kind=attack.kind,
            level=level,
            outcome=str(verdict.outcome),
            share=verdict.score,
            reason=verdict.reason,
            told=told,
            what=attack.what,
            mend=attack.mend,
            shown="" if level is Level.PASSED else attack.shown[:SHOWN],
        )

    def _level(self, attack: Attack, verdict: Verdict) -> tuple[Level, str]:
        if verdict.outcome is Outcome.INVALID:
            return Level.WARNING, f"the checker fails on it: {verdict.detail or verdict.reason}"
        if not verdict.correct:
            if attack.name == Check.FLOOR and (verdict.score or 0) >= FLOOR:
                return Level.WARNING, f"doing nothing earns {verdict.score:g} of the score"
            return Level.PASSED, ""
        if attack.rival is not None:
            against, _ = self._judged(attack.rival)
            if (against.score or 0) < attack.rival.least:
                return Level.PASSED, "happens to be right"
            return Level.FAILED, "judged correct, and so is what contradicts it"
        if attack.soft:
            return Level.WARNING, "judged correct: the checker asks for no more"
        return Level.FAILED, "judged correct"

    def _does_the_task(self, attack: Attack, given: Submission) -> bool:
        """Whether what an attack leaves is what the reference leaves, at least in the files that it wrote."""
        solved, state = self.target.solved, given.state
        if solved is None or state is None:
            return False
        same = bool(attack.files) and all(
            path in solved.files and solved.files[path] == state.files.get(path) for path in attack.files
        )
        return solved == state or same

    def _judged(self, attack: Attack) -> tuple[Verdict, Submission | None]:
        state = self.untouched
        if attack.acts and state is not None:
            try:
                state = self.world.attacked(state, attack)
            except WorkspaceGoneError:
                return Verdict.of(0.0, "workspace_lost", self.check.id), None
        given = self._submission(attack.text, state)
        return self.check(given), given

    def _submission(self, text: str, state: Snapshot | None) -> Submission:
        return Submission(text=text, prompt=self.task.prompt_text, state=state)

    def _not_made(self, check: str, kind: str, told: str) -> Finding:
        return Finding(task=self.task.id, check=check, kind=kind, level=Level.NOT_MADE, told=told)


def told_of(verdict: Verdict) -> str:
    """A verdict in a few words: the outcome, the reason, and what was read or seen."""
    read = f", read as {verdict.extracted[:60]!r}" if verdict.extracted else ""
    bad = next((part for part in verdict.parts if part.score is not None and part.score < 1), None)
    part = f", {bad.name}: {bad.reason}" if bad is not None and not read else ""
    detail = f": {verdict.detail[:200]}" if verdict.detail and not read and not part else ""
    return f"{verdict.outcome.value} ({verdict.reason}{read}{part}){detail}"

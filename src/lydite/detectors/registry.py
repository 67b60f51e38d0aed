"""Which detectors there are, which attempts they look at, and one call to have them all look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast

from lydite.detectors.answer_first import AnswerFirst
from lydite.detectors.answer_lookup import AnswerLookup
from lydite.detectors.false_step import FalseStep
from lydite.detectors.forged_output import ForgedOutput
from lydite.detectors.grader_paths import GraderPaths
from lydite.detectors.introspection import Introspection
from lydite.detectors.kinds import kinds_of
from lydite.detectors.prompt_numbers import PromptNumbers
from lydite.detectors.protected_edits import ProtectedEdits
from lydite.detectors.protocol import Detector, GroupDetector, Named, TaskDetector
from lydite.detectors.rigged_run import RiggedRun
from lydite.detectors.same_answer import SameAnswerNoWork
from lydite.detectors.several_answers import SeveralAnswers
from lydite.detectors.test_literals import TestLiterals
from lydite.detectors.visible_work import NoVisibleWork
from lydite.errors import InputError
from lydite.flag import Flag
from lydite.rollout import Rollout
from lydite.task import Task
from lydite.verdict import Outcome, Verdict

ANSWERS = frozenset(["math", "choice"])
MATH = frozenset(["math"])
CODE = frozenset(["code"])
ANY = None


class Entry(NamedTuple):
    """A detector of attempts in the list.

    Attributes:
        detector: who looks.
        about: what for, in a line.
        kinds: verifiers of which one has to be among the verdict's; ``ANY`` for all.
        correct: whether only attempts that were judged correct are looked at.
        text: whether attempts that answer in text are looked at.
        episode: whether attempts that called tools are.
        task: whether it has to know the task.
    """

    detector: Detector | TaskDetector
    about: str
    kinds: frozenset[str] | None
    correct: bool = True
    text: bool = True
    episode: bool = True
    task: bool = False


_LOOKUP = "a table of what tests expect"
_INSIDE = "frames, heap, modules of the judging process"
_RIGGED = "a test run ended, skipped or rigged"
_PATHS = "files of the grader, of tests, of other processes"
_EDITS = "tests, their settings or start-up files changed"
_FOUND = "answers looked up in history, network, packages"
_FORGED = "words of a tool, user or verifier in its own text"
ENTRIES: tuple[Entry, ...] = (
    Entry(NoVisibleWork(), "a right answer that shows no work", ANSWERS),
    Entry(FalseStep(), "a right answer with a false step on the way", ANSWERS),
    Entry(PromptNumbers(), "work that only says the prompt's numbers again", MATH, task=True),
    Entry(AnswerFirst(), "the answer before any work", ANSWERS),
    Entry(SeveralAnswers(), "more than one answer marked as the answer", ANSWERS),
    Entry(TestLiterals(), _LOOKUP, CODE, correct=False, episode=False, task=True),
    Entry(TestLiterals(), _LOOKUP, ANY, correct=False, text=False, task=True),
    Entry(Introspection(), _INSIDE, CODE, correct=False, episode=False, task=True),
    Entry(Introspection(), _INSIDE, ANY, correct=False, text=False, task=True),
    Entry(RiggedRun(), _RIGGED, CODE, correct=False, episode=False, task=True),
    Entry(RiggedRun(), _RIGGED, ANY, correct=False, text=False, task=True),
    Entry(GraderPaths(), _PATHS, CODE, correct=False, episode=False, task=True),
    Entry(GraderPaths(), _PATHS, ANY, correct=False, text=False, task=True),
    Entry(ProtectedEdits(), _EDITS, ANY, correct=False, text=False, task=True),
    Entry(AnswerLookup(), _FOUND, ANY, correct=False, text=False, task=True),
    Entry(ForgedOutput(), _FORGED, ANY, correct=False, task=True),
)
"""The detectors of attempts, in the order in which their flags are reported."""

DETECTORS: tuple[Detector | TaskDetector, ...] = tuple(
    {entry.detector.name: entry.detector for entry in ENTRIES}.values()
)
"""Each of them once."""

GROUP_DETECTORS: tuple[GroupDetector, ...] = (SameAnswerNoWork(),)
GROUP_ABOUT = {"same_answer_no_work": "one answer, without work, throughout a group"}


class Listed(NamedTuple):
    """A detector as ``lydite flags list`` shows it. ``looks_at``: attempts, groups or runs."""

    name: str
    version: int
    bars: bool
    looks_at: str
    about: str


def listed() -> list[Listed]:
    """Every detector, once, those of runs last."""
    from lydite.detectors.curves import RUN_DETECTORS

    found = {}
    for entry in ENTRIES:
        found[entry.detector.name] = _listed(entry.detector, "attempts", entry.about)
    for group in GROUP_DETECTORS:
        found[group.name] = _listed(group, "groups", GROUP_ABOUT[group.name])
    for run in RUN_DETECTORS:
        found[run.name] = _listed(run, "runs", run.about)
    return list(found.values())


def _listed(detector: Named, looks_at: str, about: str) -> Listed:
    return Listed(detector.name, detector.version, detector.bars, looks_at, about)


Look = Callable[[Rollout, Verdict, dict[str, Any], Task], Flag | None]


@lru_cache(maxsize=1024)
def _looks(verifier: str, correct: bool, episode: bool) -> tuple[tuple[str, Look], ...]:
    """Who looks at an attempt. Found once for each verifier: most detectors then cost a text nothing."""
    judged = kinds_of(verifier)
    return tuple(
        (entry.detector.name, _look(entry))
        for entry in ENTRIES
        if (entry.kinds is None or entry.kinds & judged)
        and (correct or not entry.correct)
        and (entry.episode if episode else entry.text)
    )


def names_looking(verifier: str, correct: bool, episode: bool) -> tuple[str, ...]:
    """Names of the detectors that look at an attempt.

    Args:
        verifier: as in the verdict, such as ``math@1``.
        correct: whether it was judged correct.
        episode: whether it called tools.
    """
    return tuple(name for name, _ in _looks(verifier, correct, episode))


def _look(entry: Entry) -> Look:
    if entry.task:
        return cast(TaskDetector, entry.detector).look
    plain = cast(Detector, entry.detector).look
    return lambda rollout, verdict, config, task: plain(rollout, verdict, config)


_NOTHING: dict[str, Any] = {}


def detect(rollout: Rollout, verdict: Verdict, task: Task) -> tuple[Flag, ...]:
    """Flags of one attempt, from the detectors that look at attempts.

    Args:
        rollout: the attempt.
        verdict: what was said of it. Where it is ``invalid`` because nothing could be asked or judged, nobody looks.
        task: its task; ``metadata.flags.<detector>`` holds thresholds, and ``false`` there switches a detector off.

    Raises:
        InputError: unusable thresholds; names the field.
    """
    completion = rollout.completion
    episode = len(completion) > 1 or (len(completion) == 1 and bool(completion[0].tool_calls))
    if episode:
        episode = any(message.tool_calls for message in completion)
    settings = task.metadata.get("flags") or None
    flags: list[Flag] = []
    for name, look in _looks(verdict.verifier, verdict.outcome is Outcome.CORRECT, episode):
        if settings is None:
            flag = look(rollout, verdict, _NOTHING, task)
        else:
            config = _settings(settings, name)
            if config is None:
                continue
            try:
                flag = look(rollout, verdict, config, task)
            except InputError as error:
                raise error.at(prefix=f"metadata.flags.{name}") from None
        if flag is not None:
            flags.append(flag)
    return tuple(flags)


def detect_group(rollouts: Sequence[Rollout], verdicts: Sequence[Verdict], task: Task) -> list[tuple[Flag, ...]]:
    """For each attempt of a group, the flags that only the group shows.

    Raises:
        InputError: unusable thresholds; names the field.
    """
    flags: list[tuple[Flag, ...]] = [()] * len(rollouts)
    settings = task.metadata.get("flags") or {}
    for detector in GROUP_DETECTORS:
        config = _settings(settings, detector.name)
        if config is None:
            continue
        try:
            seen = detector.look(rollouts, verdicts, config, task)
        except InputError as error:
            raise error.at(prefix=f"metadata.flags.{detector.name}") from None
        flags = [(*old, new) if new is not None else old for old, new in zip(flags, seen, strict=True)]
    return flags


def check_settings(task: Task) -> None:
    """Find out before anything is spent whether a task's thresholds can be used.

    Raises:
        InputError: an unknown detector, an unknown threshold, a value that is none.
    """
    settings = task.metadata.get("flags") or {}
    known = [detector.name for detector in (*DETECTORS, *GROUP_DETECTORS)]
    if isinstance(settings, dict):
        for name in settings:
            if name not in known:
                raise InputError(
                    "no such detector", field=f"metadata.flags.{name}", remedy=f"one of {', '.join(known)}"
                )
    blank = Rollout(id="", task=task.id, task_digest="")
    verdict = Verdict.of(1.0, "correct", "math@1")
    for detector in DETECTORS:
        config = _settings(settings, detector.name)
        if config:
            entry = next(entry for entry in ENTRIES if entry.detector.name == detector.name)
            try:
                _look(entry)(blank, verdict, config, task)
            except InputError as error:
                raise error.at(prefix=f"metadata.flags.{detector.name}") from None
    detect_group([], [], task)


def _settings(settings: Any, name: str) -> dict[str, Any] | None:
    """A detector's thresholds; ``None`` where it is switched off."""
    if not isinstance(settings, dict):
        raise InputError("expected an object: detector to thresholds", field="metadata.flags")
    config = settings.get(name, _NOTHING)
    if config is False:
        return None
    if not isinstance(config, dict):
        raise InputError("expected an object, or false", field=f"metadata.flags.{name}")
    return config

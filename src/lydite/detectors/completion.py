"""The verdict on a completion that no policy of ours gave, and what the detectors say of it."""

from __future__ import annotations

import time

import msgspec

from lydite.detectors.registry import detect
from lydite.flag import Flag
from lydite.rollout import Message, Rollout
from lydite.task import Task
from lydite.verdict import Outcome, Verdict
from lydite.verifiers.build import CompiledChecker
from lydite.verifiers.protocol import Submission


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """``seconds`` went into judging."""

    verdict: Verdict
    flags: tuple[Flag, ...] = ()
    seconds: float = 0.0


def look(check: CompiledChecker, given: Submission | Verdict) -> Looked:
    """Judge a completion and let the detectors look at it.

    Args:
        check: what judges.
        given: what ``verifiers.run.submission`` made of the completion: a verdict where it is none.
    """
    if isinstance(given, Verdict):
        return Looked(verdict=given)
    started = time.perf_counter()
    verdict = check(given)
    seconds = time.perf_counter() - started
    if verdict.outcome is Outcome.INVALID:
        return Looked(verdict=verdict, seconds=seconds)
    said = given.messages or (Message(role="assistant", content=given.text),)
    asked = (Message(role="user", content=given.prompt),) if given.prompt else ()
    rollout = Rollout(id="", task="", task_digest="", completion=said)
    flags = detect(rollout, verdict, Task(id="", prompt=asked, checker=check.checker))
    return Looked(verdict=verdict, flags=flags, seconds=seconds)

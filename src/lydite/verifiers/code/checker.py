"""Checkers of the author's own: called in a process of their own, and what it means when one fails.

A checker that raises, runs out of time or gives no number does so on a value that the candidate chose; if that were our
fault, returning nonsense would be a way out of a wrong answer. So it counts as a wrong answer, with two exceptions that
no candidate can bring about: a checker that cannot even be loaded, and one that fails on the ``expected`` value of the
test too. Then the test is broken, and the verdict is ``invalid``.
"""

from __future__ import annotations

from collections.abc import Sequence

from lydite.sandbox import ExecResult, Limits
from lydite.verifiers.code.box import run_each
from lydite.verifiers.code.compare import shown, told
from lydite.verifiers.code.config import CallTest
from lydite.verifiers.code.outcome import OK, Outcome, ended
from lydite.verifiers.code.programs import CHECKER
from lydite.verifiers.code.rewrite import compiled_checker
from lydite.verifiers.code.values import MalformedError, decode, encode


class CheckerError(Exception):
    """A checker is broken: no attempt may be blamed for it."""


def judge_values(tests: Sequence[CallTest], values: Sequence[bytes], limits: Limits) -> list[Outcome]:
    """What the checkers of some tests say of what was returned, encoded.

    Raises:
        CheckerError: a checker is broken.
        LostError: the sandbox failed.
    """
    inputs = [_input(test.checker or "", test.arguments, value) for test, value in zip(tests, values, strict=True)]
    results = run_each(CHECKER, inputs, limits)
    return [_said(test, value, result, limits) for test, value, result in zip(tests, values, results, strict=True)]


def _input(checker: str, arguments: bytes, value: bytes) -> bytes:
    return encode((compiled_checker(checker), arguments, value))


def _said(test: CallTest, value: bytes, result: ExecResult, limits: Limits) -> Outcome:
    share, fault = _read(result)
    if share is not None:
        if share == 1:
            return OK
        return Outcome("wrong", f"the checker gave {share:g} for {shown(decode(value))}", share)
    if not result.stdout.startswith(b"G"):
        raise CheckerError(f"{test.name}: the checker cannot be loaded: {fault}")
    if test.has_expected and (reason := _fails_anyway(test, limits)):
        raise CheckerError(f"{test.name}: the checker fails on what is expected, too: {reason}")
    return Outcome("wrong", f"the checker could not judge {shown(decode(value))}: {fault}")


def _fails_anyway(test: CallTest, limits: Limits) -> str:
    """Why a checker cannot judge the expected value; empty where it can."""
    data = _input(test.checker or "", test.arguments, encode(test.expected))
    share, fault = _read(run_each(CHECKER, [data], limits)[0])
    return fault if share is None else ""


def _read(result: ExecResult) -> tuple[float | None, str]:
    """What a checker said, or why it said nothing."""
    data = result.stdout.removeprefix(b"G")
    try:
        if data[:1] == b"R":
            return float(decode(data[1:])), ""
        if data[:1] == b"E":
            return None, told(*decode(data[1:]))
    except MalformedError:
        pass
    failure = ended(result)
    return None, (failure.evidence if failure and failure.evidence else "") or "ended before it had said anything"

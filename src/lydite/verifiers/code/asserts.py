"""Assert-source tests: the test's code in one process, the candidate in another, and values between them.

Covered: the candidate has neither the asserts nor an expected value in its process. What it returns reaches the test
as plain values; that a test passed is said by the test's own process alone. Not covered: tests that depend on time or
on anything but the seeded ``random``.

A test that only compares answers (see ``plain.py``) needs no process: the candidate is run once, and that is all. Any
other test is run again and again, each time with the answers known so far, until it ends (see ``tester.py``). As it
tells which calls are likely to follow, twice is usual: the calls of the first time do not depend on the candidate and
are kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from lydite.sandbox import ExecResult, Limits, Status
from lydite.verifiers.code import plain
from lydite.verifiers.code.box import run_each
from lydite.verifiers.code.compare import told
from lydite.verifiers.code.config import AssertTest
from lydite.verifiers.code.outcome import OK, Outcome, Record, ended, failed, read_records
from lydite.verifiers.code.plain import MAX_CALLS
from lydite.verifiers.code.programs import TESTER, Call, calls_input, candidate_program, portable
from lydite.verifiers.code.rewrite import compiled_prompt, compiled_test, preamble_of
from lydite.verifiers.code.values import MalformedError, decode_at, encode

MAX_ROUNDS = 400
"""Times that a test is run with more answers known."""
MAX_TIMES = 4
"""Time limits that all runs for one test may take together."""

Known = list[tuple[bytes, str, bytes, bytes]]
"""Per call: its encoded arguments, the kind of record, its encoded content, and the arguments as changed."""


class Setting(NamedTuple):
    """What the tests of one submission have in common. ``prompt``: the prompt's code."""

    source: str
    prompt: str
    entry: str
    limits: Limits
    deterministic: bool = False
    in_place: bool = False


class Ran:
    """What a test's process said.

    Attributes:
        end: how it ended, or ``None`` where it needs answers to ``calls``.
        first: which call of the test ``calls`` begins with.
        calls: encoded arguments.
    """

    def __init__(self, end: Outcome | None, first: int, calls: list[bytes]) -> None:
        self.end, self.first, self.calls = end, first, calls


def judge_asserts(setting: Setting, tests: Sequence[AssertTest]) -> list[Outcome]:
    """What became of each test, in order.

    Raises:
        LostError: the sandbox failed.
    """
    program = candidate_program(setting.source, preamble_of(setting.source, setting.prompt), setting.entry)
    done: dict[int, Outcome] = {}
    simple = {at: one.plain for at, one in enumerate(tests) if one.plain and one.plain.means_the_same(setting.prompt)}
    ran = _run_candidate(program, [test.calls for test in simple.values()], setting, watched=False)
    for (at, test), result in zip(simple.items(), ran, strict=True):
        outcome = plain.judge(test, *_answers([data for _, data in test.calls], result, setting.deterministic))
        if outcome is not None:
            done[at] = outcome
    others = [at for at in range(len(tests)) if at not in done]
    if others:
        outcomes = _judge_in_process(program, setting, [tests[at] for at in others])
        done |= dict(zip(others, outcomes, strict=True))
    return [done[at] for at in range(len(tests))]


def _judge_in_process(program: str, setting: Setting, tests: Sequence[AssertTest]) -> list[Outcome]:
    calls = [list(_first_calls(test.source, setting._replace(source=""))) for test in tests]
    spent = [0.0 for _ in tests]
    done: dict[int, Outcome] = {}
    for _ in range(MAX_ROUNDS):
        left = [at for at in range(len(tests)) if at not in done]
        if not left:
            break
        ran = _run_candidate(program, [[*map(portable, calls[at])] for at in left], setting, watched=True)
        answers = [_answers(calls[at], result, setting.deterministic) for at, result in zip(left, ran, strict=True)]
        inputs = [_input(tests[at].source, setting, known) for at, (known, _) in zip(left, answers, strict=True)]
        tested = _run_tests(inputs, setting.limits)
        for at, result, (_, stopped), test in zip(left, ran, answers, tested, strict=True):
            said = _read(test, stopped)
            spent[at] += result.wall_s + test.wall_s
            if said.end is not None:
                done[at] = said.end
            elif said.first + len(said.calls) > MAX_CALLS:
                done[at] = Outcome("error", f"more than {MAX_CALLS} calls")
            elif spent[at] > MAX_TIMES * setting.limits.timeout:
                done[at] = Outcome("timeout", "ran out of time")
            else:
                calls[at] = calls[at][: said.first] + said.calls
    return [done.get(at, Outcome("error", "the test does not come to an end")) for at in range(len(tests))]


def _run_candidate(program: str, calls: Sequence[Sequence[Call]], setting: Setting, watched: bool) -> list[ExecResult]:
    """One run of the candidate's program for the calls of each test; all twice, where answers must not differ."""
    times = 2 if setting.deterministic else 1
    stdins = [calls_input([(setting.entry, call) for call in [*some] * times], watched) for some in calls]
    return run_each(program, stdins, setting.limits)


@lru_cache(maxsize=4096)
def _first_calls(test: str, setting: Setting) -> tuple[bytes, ...]:
    """The calls that a test begins with, as far as can be told without an answer."""
    result = _run_tests([_input(test, setting, [])], setting.limits)[0]
    return tuple(_read(result, None).calls)


_said: dict[bytes, ExecResult] = {}
MAX_SAID = 4096
"""Ends of tests that are kept, of at most so many bytes each."""
MAX_SAID_BYTES = 4096


def _run_tests(inputs: Sequence[bytes], limits: Limits) -> list[ExecResult]:
    """Run tests with the answers known so far. What a test says depends on nothing but these, so that the same answers
    (those of all right programs, for one) are judged once."""
    keys = [hashlib.sha256(data).digest() for data in inputs]
    found = {key: said for key in keys if (said := _said.get(key)) is not None}
    new = {key: data for key, data in zip(keys, inputs, strict=True) if key not in found}
    for key, result in zip(new, run_each(TESTER, list(new.values()), limits), strict=True):
        found[key] = result
        if result.status is Status.OK and len(result.stdout) <= MAX_SAID_BYTES:
            if len(_said) >= MAX_SAID:
                _said.clear()
            _said[key] = result
    return [found[key] for key in keys]


def _input(test: str, setting: Setting, known: Known) -> bytes:
    code = compiled_test(test, setting.entry)
    return encode((code, compiled_prompt(setting.prompt), setting.entry, MAX_CALLS, setting.in_place, known))


def _answers(calls: list[bytes], result: ExecResult, deterministic: bool) -> tuple[Known, Outcome | None]:
    """The answers to calls, and what is said where the test comes to a call that has none."""
    records, whole = read_records(result.stdout)
    known: Known = []
    stopped: Outcome | None = None
    again: list[Record] | None = None
    given: dict[bytes, tuple[str, bytes]] = {}
    if deterministic:
        records, again = records[: len(calls)], records[len(calls) :]
    if result.status is Status.OK and (not whole or len(again or records) > len(calls)):
        records, stopped = [], Outcome("error", "wrote to the grader's channel")
    for at, (call, record) in enumerate(zip(calls, records, strict=False)):
        if record.kind not in "VWE" or (record.kind == "E" and record.content[1] == "MemoryError"):
            stopped = failed(record)
            break
        said = (record.kind, record.raw)
        if again is not None and (
            [(two.kind, two.raw) for two in again[at : at + 1]] != [said] or given.setdefault(call, said) != said
        ):
            stopped = ended(result) or Outcome("wrong", "the same call again has another answer")
            break
        known.append((call, record.kind, record.raw, record.changed))
    failure = ended(result)
    if failure is not None and len(known) == len(calls):  # it went on beyond its limit: at the first call that says so
        known = known[: next((at for at, (_, kind, *_) in enumerate(known) if kind == "E"), max(0, len(known) - 1))]
    if len(known) < len(calls):
        stopped = stopped or failure or Outcome("error", "ended before it returned")
        known += [(call, "X", b"", b"") for call in calls[len(known) :]]
    return known, stopped


def _read(result: ExecResult, stopped: Outcome | None) -> Ran:
    """What a test's process said. Its output is its own: the candidate has no part in that process but its values."""
    data, at = result.stdout, 0
    first = 0
    calls: list[bytes] = []
    while at < len(data):
        kind = data[at : at + 1]
        if kind == b"X":
            return Ran(stopped or Outcome("error", "ended before it returned"), 0, [])
        try:
            content, at = decode_at(data, at + 1)
        except MalformedError:
            break  # cut off: it ran out of time while it was telling
        if kind == b"C":
            first = content[0] if not calls else first
            calls.append(content[1])
        elif kind == b"P":
            return Ran(OK if content else Outcome("error", "the test calls nothing"), 0, [])
        elif kind == b"A":
            return Ran(Outcome("error", f"the test's arguments are no plain values ({told(content, '')})"), 0, [])
        else:
            name, message, raised = content
            return Ran(Outcome("error" if raised else "wrong", told(name, message)), 0, [])
    if calls:
        return Ran(None, first, calls)
    if result.status is Status.OK:
        return Ran(Outcome("error", "the test ended before its end"), 0, [])
    return Ran(ended(result), 0, [])

"""Run a candidate's source through tests of all forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from lydite.sandbox import ExecResult, Limits
from lydite.verifiers.code.asserts import Setting, judge_asserts
from lydite.verifiers.code.box import run_each
from lydite.verifiers.code.checker import judge_values
from lydite.verifiers.code.compare import equal, equal_in_any_order, same_output, shown
from lydite.verifiers.code.config import AssertTest, CallTest, CodeConfig, InputTest, Test
from lydite.verifiers.code.outcome import OK, Outcome, Record, ended, failed, read_records
from lydite.verifiers.code.programs import calls_input, candidate_program, portable
from lydite.verifiers.code.rewrite import preamble_of

CHUNK = 8
MAX_TIMEOUTS = 3
"""Tests that may run out of time: the others are then not run and count as timed out. Else a program that hangs holds
up a worker for as many time limits as there are tests."""

T = TypeVar("T", InputTest, CallTest, AssertTest)


def judge_tests(source: str, preamble: str, config: CodeConfig) -> dict[str, Outcome]:
    """What became of each test, by its name.

    Args:
        preamble: the prompt's code (``source.prompt_code``).

    Raises:
        LostError: the sandbox failed.
        CheckerError: a checker of a test is broken.
    """
    limits = Limits(timeout=config.timeout, memory_mb=config.memory_mb)
    tests: list[Test] = [*config.tests, *config.examples]
    done: dict[str, Outcome] = {}
    inputs = [test for test in tests if isinstance(test, InputTest)]
    if inputs:
        done |= _each(inputs, lambda some: _run_inputs(source, some, limits, config.deterministic))
    calls = [test for test in tests if isinstance(test, CallTest)]
    if calls:
        program = candidate_program(source, preamble_of(source, preamble), config.entry_point)
        done |= _each(calls, lambda some: _run_calls(program, some, limits, config.deterministic))
    asserts = [test for test in tests if isinstance(test, AssertTest)]
    if asserts:
        setting = Setting(source, preamble, config.entry_point or "", limits, config.deterministic, config.in_place)
        done |= _each(asserts, lambda some: judge_asserts(setting, some))
    return done


def _each(tests: Sequence[T], judge: Callable[[Sequence[T]], list[Outcome]]) -> dict[str, Outcome]:
    done: dict[str, Outcome] = {}
    late, at = 0, 0
    while at < len(tests):
        if late >= MAX_TIMEOUTS:
            done |= {test.name: Outcome("timeout", f"not run after {late} that ran out of time") for test in tests[at:]}
            break
        # One by itself at first: a program that hangs usually hangs always.
        some = tests[at : at + (1 if late or not at else CHUNK)]
        outcomes = judge(some)
        late += sum(outcome.kind == "timeout" for outcome in outcomes)
        done |= {test.name: outcome for test, outcome in zip(some, outcomes, strict=True)}
        at += len(some)
    return done


def _run_inputs(source: str, tests: Sequence[InputTest], limits: Limits, deterministic: bool) -> list[Outcome]:
    stdins = [test.input.encode("utf-8", "replace") for test in tests]
    results = run_each(source, stdins, limits)
    outcomes = [_printed(result, test) for result, test in zip(results, tests, strict=True)]
    passed = [at for at, outcome in enumerate(outcomes) if outcome.kind == "ok"]
    if deterministic and passed:
        results = run_each(source, [stdins[at] for at in passed], limits)
        for at, again in zip(passed, results, strict=True):
            if (outcome := _printed(again, tests[at])).kind != "ok":
                outcomes[at] = Outcome(outcome.kind, f"the same input again: {outcome.evidence}")
    return outcomes


def _printed(result: ExecResult, test: InputTest) -> Outcome:
    failure = ended(result)
    if failure is not None:
        return failure
    if same_output(result.stdout, test.expected):
        return OK
    said = result.stdout[:400].decode("utf-8", "replace")
    return Outcome("wrong", f"printed {shown(said)}, not {shown(test.expected)}")


def _run_calls(program: str, tests: Sequence[CallTest], limits: Limits, deterministic: bool) -> list[Outcome]:
    times = 2 if deterministic else 1
    stdins = [calls_input([(test.call, portable(test.arguments))] * times, watched=False) for test in tests]
    results = run_each(program, stdins, limits)
    returned = [_returned(result, times) for result in results]
    outcomes = [
        record if isinstance(record, Outcome) else _compared(record, test)
        for record, test in zip(returned, tests, strict=True)
    ]
    checked = {at: one.raw for at, one in enumerate(returned) if isinstance(one, Record) and tests[at].checker}
    said = judge_values([tests[at] for at in checked], list(checked.values()), limits)
    for at, outcome in zip(checked, said, strict=True):
        outcomes[at] = outcome
    return outcomes


def _returned(result: ExecResult, times: int) -> Record | Outcome:
    """What a call returned, or why it did not."""
    failure = ended(result)
    if failure is not None:
        return failure
    records, whole = read_records(result.stdout)
    for record in records:
        if (failed_ := failed(record)) is not None:
            return failed_
    if not whole or len(records) != times:
        return Outcome("error", "ended before it returned" if not result.stdout else "wrote to the grader's channel")
    if any(record.raw != records[0].raw for record in records):
        return Outcome("wrong", f"the same call returned {' and then '.join(shown(one.content) for one in records)}")
    return records[0]


def _compared(record: Record, test: CallTest) -> Outcome:
    value = record.content
    if test.multiset:
        right = equal_in_any_order(value, test.expected, test.tolerance)
    else:
        right = equal(value, test.expected, test.tolerance)
    return OK if right else Outcome("wrong", f"returned {shown(value)}, not {shown(test.expected)}")

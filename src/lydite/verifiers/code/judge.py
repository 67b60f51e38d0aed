"""Run a candidate's source through tests of all forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from lydite.sandbox import ExecResult, Limits
from lydite.verifiers.code.asserts import judge_asserts
from lydite.verifiers.code.box import run_each
from lydite.verifiers.code.compare import equal, same_output, shown
from lydite.verifiers.code.config import AssertTest, CallTest, CodeConfig, InputTest, Test
from lydite.verifiers.code.outcome import OK, Outcome, ended, failed, read_records
from lydite.verifiers.code.programs import candidate_program
from lydite.verifiers.code.values import encode

CHUNK = 8
MAX_TIMEOUTS = 3
"""Tests that may run out of time: the others are then not run and count as timed out. Else a program that hangs holds
up a worker for as many time limits as there are tests."""

T = TypeVar("T", InputTest, CallTest, AssertTest)


def judge_tests(source: str, preamble: bytes, config: CodeConfig) -> dict[str, Outcome]:
    """What became of each test, by its name.

    Raises:
        LostError: the sandbox failed.
    """
    limits = Limits(timeout=config.timeout, memory_mb=config.memory_mb)
    tests: list[Test] = [*config.tests, *config.examples]
    done: dict[str, Outcome] = {}
    inputs = [test for test in tests if isinstance(test, InputTest)]
    if inputs:
        done |= _each(inputs, lambda some: _run_inputs(source, some, limits))
    calls = [test for test in tests if isinstance(test, CallTest)]
    if calls:
        program = candidate_program(source, preamble, config.entry_point)
        done |= _each(calls, lambda some: _run_calls(program, some, limits))
    asserts = [test for test in tests if isinstance(test, AssertTest)]
    if asserts:
        entry = config.entry_point or ""
        done |= _each(asserts, lambda some: judge_asserts(source, preamble, entry, some, limits))
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


def _run_inputs(source: str, tests: Sequence[InputTest], limits: Limits) -> list[Outcome]:
    results = run_each(source, [test.input.encode("utf-8", "replace") for test in tests], limits)
    return [_printed(result, test) for result, test in zip(results, tests, strict=True)]


def _run_calls(program: str, tests: Sequence[CallTest], limits: Limits) -> list[Outcome]:
    results = run_each(program, [encode([(test.call, test.arguments)]) for test in tests], limits)
    return [_returned(result, test) for result, test in zip(results, tests, strict=True)]


def _printed(result: ExecResult, test: InputTest) -> Outcome:
    failure = ended(result)
    if failure is not None:
        return failure
    if same_output(result.stdout, test.expected):
        return OK
    said = result.stdout[:400].decode("utf-8", "replace")
    return Outcome("wrong", f"printed {shown(said)}, not {shown(test.expected)}")


def _returned(result: ExecResult, test: CallTest) -> Outcome:
    failure = ended(result)
    if failure is not None:
        return failure
    records, whole = read_records(result.stdout)
    if not whole or len(records) != 1:
        return Outcome("error", "ended before it returned" if not result.stdout else "wrote to the grader's channel")
    failure = failed(records[0])
    if failure is not None:
        return failure
    value = records[0].content
    if equal(value, test.expected, test.tolerance):
        return OK
    return Outcome("wrong", f"returned {shown(value)}, not {shown(test.expected)}")

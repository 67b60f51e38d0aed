"""Run a candidate's source through tests of the forms input/expected and call/expected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from lydite.sandbox import ExecResult, Limits
from lydite.verifiers.code.box import run_each
from lydite.verifiers.code.compare import equal, same_output, shown
from lydite.verifiers.code.config import CallTest, CodeConfig, InputTest, Test
from lydite.verifiers.code.outcome import OK, Outcome, ended, failed, read_records
from lydite.verifiers.code.programs import candidate_program
from lydite.verifiers.code.values import encode

CHUNK = 8
MAX_TIMEOUTS = 3
"""Tests that may run out of time: the others are then not run and count as timed out. Else a program that hangs holds
up a worker for as many time limits as there are tests."""

T = TypeVar("T", InputTest, CallTest)


def judge_tests(source: str, preamble: str, config: CodeConfig) -> dict[str, Outcome]:
    """What became of each test, by its name.

    Raises:
        LostError: the sandbox failed.
    """
    limits = Limits(timeout=config.timeout, memory_mb=config.memory_mb)
    tests: list[Test] = [*config.tests, *config.examples]
    inputs = [test for test in tests if isinstance(test, InputTest)]
    calls = [test for test in tests if isinstance(test, CallTest)]
    done: dict[str, Outcome] = {}
    if inputs:
        done |= _each(source, inputs, lambda test: test.input.encode("utf-8", "replace"), _printed, limits)
    if calls:
        program = candidate_program(source, preamble, config.entry_point)
        done |= _each(program, calls, lambda test: encode([(test.call, test.args, test.kwargs)]), _returned, limits)
    return done


def _each(
    program: str,
    tests: Sequence[T],
    stdin: Callable[[T], bytes],
    judge: Callable[[ExecResult, T], Outcome],
    limits: Limits,
) -> dict[str, Outcome]:
    done: dict[str, Outcome] = {}
    late, at = 0, 0
    while at < len(tests):
        if late >= MAX_TIMEOUTS:
            done |= {test.name: Outcome("timeout", f"not run after {late} that ran out of time") for test in tests[at:]}
            break
        # One by itself at first: a program that hangs usually hangs always.
        chunk = tests[at : at + (1 if late or not at else CHUNK)]
        for test, result in zip(chunk, run_each(program, [stdin(test) for test in chunk], limits), strict=True):
            outcome = judge(result, test)
            late += outcome.kind == "timeout"
            done[test.name] = outcome
        at += len(chunk)
    return done


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

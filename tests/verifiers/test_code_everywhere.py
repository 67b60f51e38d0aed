"""The same verdicts from threads, event loops and processes; every test is told, by its name, once."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lydite import verify, verify_many
from lydite.errors import InputError
from lydite.verdict import Outcome
from lydite.verifiers import build

TESTS: list[dict[str, Any] | str] = [
    {"call": "f", "args": [3], "expected": 6},
    "assert f(4) == 8",
    "for n in range(3):\n    assert f(n) == 2 * n",
]
CHECKER = {"type": "code", "config": {"tests": TESTS, "entry_point": "f", "timeout": 20}}
PROGRAMS = [f"def f(n):\n    return 2 * n + {k % 3}" for k in range(24)]
SCORES = [float(k % 3 == 0) for k in range(24)]


def score(program: str) -> float | None:
    return verify(CHECKER, f"```python\n{program}\n```").score


def test_eight_threads() -> None:
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(score, PROGRAMS)) == SCORES


def test_an_event_loop() -> None:
    async def all_of_them() -> list[float | None]:
        return await asyncio.gather(*(asyncio.to_thread(score, program) for program in PROGRAMS))

    assert asyncio.run(all_of_them()) == SCORES


def test_two_processes() -> None:
    items = [(CHECKER, f"```python\n{program}\n```") for program in PROGRAMS]
    assert [verdict.score for verdict in verify_many(items, jobs=2)] == SCORES


FORKS = """
import multiprocessing
from lydite import verify

CHECKER = {"type": "code", "config": {"tests": [{"call": "f", "args": [3], "expected": 6}], "timeout": 20}}

def score(k):
    return verify(CHECKER, f"def f(n):\\n    return 2 * n + {k % 2}").score

if __name__ == "__main__":
    assert score(0) == 1
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(score, range(10), chunksize=1) == [1, 0] * 5
    assert score(1) == 0
"""


def test_forks_of_a_process_that_has_judged_already() -> None:
    done = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()


KINDS = {
    "ok": "return n",
    "wrong": "return n + 1",
    "error": "raise ValueError(n)",
    "timeout": "while True: pass",
    "memory": "return bytearray(10**10)",
    "output": "for _ in range(99): print('y' * 10**6)",
}
PROGRAM = "def f(n):\n" + "".join(f"    if n == {k}:\n        {line}\n" for k, line in enumerate(KINDS.values()))


@pytest.mark.parametrize("form", ["call", "assert", "input"])
def test_every_test_is_told_with_how_it_ended(form: str) -> None:
    program = PROGRAM
    if form == "call":
        tests: list[Any] = [{"call": "f", "args": [k], "expected": k} for k in range(6)]
    elif form == "assert":
        tests = [f"assert f({k}) == {k}" for k in range(6)]
    else:
        tests = [{"input": f"{k}", "expected": f"{k}"} for k in range(6)]
        program += "print(f(int(input())))\n"
    config = {"tests": tests, "visible": tests[:1], "entry_point": "f", "timeout": 4, "memory_mb": 64}
    verdict = verify({"type": "code", "config": config}, f"```python\n{program}```")
    names = ["t1 visible", "t2", "t3", "t4", "t5", "t6"]
    assert [(part.name, part.reason) for part in verdict.parts] == list(zip(names, KINDS, strict=True))
    assert [part.score for part in verdict.parts] == [1, 0, 0, 0, 0, 0]
    assert (verdict.outcome, verdict.score, verdict.reason) == (Outcome.PARTIAL, pytest.approx(1 / 6), "wrong")
    assert verdict.detail == "visible 1 of 1, hidden 0 of 5"


def test_the_names_of_the_parts_are_those_of_the_tests_whatever_the_candidate_does() -> None:
    config = {"tests": TESTS, "visible": ["assert f(0) == 0", TESTS[0]], "entry_point": "f", "timeout": 2}
    wanted = ["t1 visible", "t2", "t3", "v1 visible"]
    for program in (
        "def f(n): return 2 * n",
        "import os\nos._exit(0)\ndef f(): pass",
        "def f(",
        "raise SystemExit\ndef f(): 1",
    ):
        verdict = verify({"type": "code", "config": config}, f"```python\n{program}\n```")
        assert [part.name for part in verdict.parts] == wanted


def test_a_visible_test_that_is_no_test_is_shown_and_not_counted() -> None:
    config = {"tests": ["assert f(1) == 1"], "visible": ["assert f(2) == 2"], "entry_point": "f"}
    verdict = verify({"type": "code", "config": config}, "def f(n): return 1")
    assert verdict.correct
    assert [(part.name, part.reason) for part in verdict.parts] == [("t1", "ok"), ("v1 visible", "wrong")]
    assert verdict.detail == "visible 0 of 1, hidden 1 of 1"


def test_true_is_not_one_where_tests_are_told_apart() -> None:
    tests = [{"call": "f", "args": [True], "expected": 1}, {"call": "f", "args": [1], "expected": 1}]
    verdict = verify({"type": "code", "config": {"tests": tests, "visible": tests[1:]}}, "def f(n): return 1")
    assert [part.name for part in verdict.parts] == ["t1", "t2 visible"]


def test_a_checker_without_tests_is_refused() -> None:
    for config in ({"tests": []}, {"tests": [], "visible": ["assert f(1) == 1"], "entry_point": "f"}):
        with pytest.raises(InputError, match="no tests"):
            build({"type": "code", "config": config})


def test_a_skipped_test_is_not_passed() -> None:
    skip = "import unittest\ndef f(n):\n    raise unittest.SkipTest('x')"
    for test in TESTS:
        config = {"tests": [test], "entry_point": "f"}
        assert verify({"type": "code", "config": config}, skip).reason == "error"

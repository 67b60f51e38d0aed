from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lydite.errors import InputError
from lydite.verdict import Outcome, Verdict
from lydite.verifiers import verify_many

MATH = {"type": "math", "config": {"answer": "7"}}


@pytest.fixture
def moody(tmp_path: Path) -> dict[str, Any]:
    """A verifier that dies or sleeps when the completion says so."""
    file = tmp_path / "moody.py"
    file.write_text(
        "import os, time\n"
        "def moody(submission, config):\n"
        "    if submission.text == 'die':\n"
        "        os._exit(9)\n"
        "    if submission.text == 'sleep':\n"
        "        time.sleep(60)\n"
        "    print('verifiers may print')\n"
        "    return submission.text == 'good'\n"
    )
    return {"type": f"{file}:moody", "config": {}}


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_verdicts_come_in_the_order_of_the_items(jobs: int) -> None:
    items = [(MATH, f"\\boxed{{{index % 10}}}") for index in range(700)]
    assert [verdict.correct for verdict in verify_many(items, jobs=jobs)] == [index % 10 == 7 for index in range(700)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_shapes_of_items(jobs: int) -> None:
    items: list[Any] = [
        (MATH, "\\boxed{7}"),
        (MATH, [{"role": "assistant", "content": "\\boxed{7}"}]),
        {"checker": MATH, "completion": "\\boxed{7}", "prompt": None},
        (MATH, "\\boxed{3+4}", "What is 3+4?"),
        (MATH, None),
        (MATH, 7),
        ({"type": "nope"}, "x"),
        {"completion": "x"},
        7,
    ]
    reasons = [verdict.reason for verdict in verify_many(items, jobs=jobs)]
    bad = ["bad_completion", "bad_item", "bad_item", "bad_item"]
    assert reasons == ["correct"] * 3 + ["restated_question", "no_answer", *bad]


def test_items_are_taken_lazily() -> None:
    taken = 0

    def endless() -> Iterator[tuple[dict[str, Any], str]]:
        nonlocal taken
        for index in itertools.count():
            taken = index
            yield MATH, "\\boxed{7}"

    for jobs in (1, 2):
        verdicts = verify_many(endless(), jobs=jobs)
        assert all(verdict.correct for verdict in itertools.islice(verdicts, 10))
        verdicts.close()  # type: ignore[attr-defined]
        assert taken < 4000


def test_a_dying_worker_costs_its_own_item_only(moody: dict[str, Any]) -> None:
    texts = (["good", "bad"] * 40 + ["die"] + ["good"] * 60) * 2
    verdicts = list(verify_many([(moody, text) for text in texts], jobs=2))
    for text, verdict in zip(texts, verdicts, strict=True):
        if text == "die":
            assert (verdict.outcome, verdict.reason) == (Outcome.INVALID, "worker_died")
        else:
            assert verdict.correct is (text == "good")


def test_a_time_limit_is_the_attempts_fault_and_stops_only_it(moody: dict[str, Any]) -> None:
    texts = ["good", "sleep", "good", "bad", "sleep", "good"]
    verdicts = list(verify_many([(moody, text) for text in texts], jobs=1, timeout=0.5))
    assert [verdict.reason for verdict in verdicts] == [
        "correct",
        "timeout",
        "correct",
        "incorrect",
        "timeout",
        "correct",
    ]
    assert verdicts[1].outcome is Outcome.INCORRECT


def test_no_worker_stays_behind(moody: dict[str, Any]) -> None:
    verdicts = verify_many([(moody, "good")] * 2000, jobs=2)
    next(verdicts)
    verdicts.close()  # type: ignore[attr-defined]
    assert _workers() == []


def _in_daemon(queue: Any) -> None:
    queue.put([verdict.correct for verdict in verify_many([(MATH, "\\boxed{7}"), (MATH, "8")], jobs=2)])


def test_works_in_a_daemonic_process() -> None:
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=_in_daemon, args=(queue,), daemon=True)
    process.start()
    assert queue.get(timeout=60) == [True, False]
    process.join(10)


def test_works_from_a_thread() -> None:
    found: list[Verdict] = []
    thread = threading.Thread(target=lambda: found.extend(verify_many([(MATH, "\\boxed{7}")] * 3, jobs=2)))
    thread.start()
    thread.join(60)
    assert [verdict.correct for verdict in found] == [True] * 3


def test_a_script_without_a_main_guard_may_use_workers(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            from lydite import verify_many
            checker = {"type": "math", "config": {"answer": "7"}}
            print([v.correct for v in verify_many([(checker, "\\\\boxed{7}"), (checker, "8")], jobs=2)])
            """
        )
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert done.stdout == "[True, False]\n", done.stderr


@pytest.mark.parametrize(("jobs", "timeout"), [(0, None), (-1, None), (1, 0), (1, -2.0), (1, float("nan"))])
def test_limits_that_cannot_be_honoured(jobs: int, timeout: float | None) -> None:
    with pytest.raises(InputError):
        verify_many([], jobs=jobs, timeout=timeout)


def _workers() -> list[str]:
    listed = subprocess.run(["ps", "-o", "ppid=,args=", "-A"], capture_output=True, text=True).stdout.splitlines()
    return [line for line in listed if line.split()[:1] == [str(os.getpid())] and "lydite.verifiers.pool" in line]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_error_in_the_items_reaches_the_caller_and_ends_the_workers(error: type[BaseException]) -> None:
    def items() -> Iterator[Any]:
        yield from [(MATH, "\\boxed{7}")] * 500
        raise error

    with pytest.raises(error):
        list(verify_many(items(), jobs=2))
    assert _workers() == []


def test_an_interrupt_of_the_caller_ends_the_workers(moody: dict[str, Any]) -> None:
    code = (
        "import sys, json, signal, threading, os; from lydite.verifiers import verify_many;"
        "threading.Timer(2, os.kill, (os.getpid(), signal.SIGINT)).start();"
        "list(verify_many([(json.loads(sys.argv[1]), 'sleep')] * 50, jobs=2))"
    )
    done = subprocess.run([sys.executable, "-c", code, json.dumps(moody)], capture_output=True, timeout=50)
    assert b"KeyboardInterrupt" in done.stderr
    listed = subprocess.run(["ps", "-o", "args=", "-A"], capture_output=True, text=True).stdout
    assert moody["type"] not in listed


def test_a_consumer_that_stops_taking_stops_the_reading(moody: dict[str, Any]) -> None:
    taken = 0

    def endless() -> Iterator[Any]:
        nonlocal taken
        while True:
            taken += 1
            yield moody, "good"

    verdicts = verify_many(endless(), jobs=2)
    next(verdicts)
    before = taken
    time.sleep(0.5)
    assert taken == before
    verdicts.close()  # type: ignore[attr-defined]


def test_one_slow_item_does_not_stop_the_others(tmp_path: Path) -> None:
    file = tmp_path / "waits.py"
    file.write_text(
        "import pathlib, time\n"
        "def waits(submission, config):\n"
        "    flag = pathlib.Path(config['flag'])\n"
        "    if submission.text == 'first':\n"
        "        until = time.monotonic() + 30\n"
        "        while not flag.exists() and time.monotonic() < until:\n"
        "            time.sleep(0.01)\n"
        "        return flag.exists()\n"
        "    if submission.text == 'last':\n"
        "        flag.touch()\n"
        "    return True\n"
    )
    checker = {"type": f"{file}:waits", "config": {"flag": str(tmp_path / "flag")}}
    items = [(checker, "first"), *((checker, "x" * 9000) for _ in range(12)), (checker, "last")]
    assert all(verdict.correct for verdict in verify_many(items, jobs=2))


def test_a_checker_that_is_never_ready_is_no_attempts_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lydite.verifiers import pool

    monkeypatch.setattr(pool, "PREPARE_SECONDS", 3.0)
    file = tmp_path / "stuck.py"
    file.write_text(
        "import time\n"
        "class Stuck:\n"
        "    name, version = 'stuck', 1\n"
        "    def compile(self, config):\n"
        "        time.sleep(60)\n"
    )
    (verdict,) = verify_many([({"type": f"{file}:Stuck"}, "x")], timeout=1)
    assert (verdict.outcome, verdict.reason) == (Outcome.INVALID, "verifier_error")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_verifier_that_leaves_is_a_fault_of_its_own(tmp_path: Path, jobs: int) -> None:
    file = tmp_path / "leaves.py"
    file.write_text("import sys\ndef leaves(submission, config):\n    sys.exit(3)\n")
    verdicts = list(verify_many([({"type": f"{file}:leaves"}, "x")] * 3, jobs=jobs))
    assert [verdict.reason for verdict in verdicts] == ["verifier_error"] * 3

from __future__ import annotations

import asyncio
import concurrent.futures
import multiprocessing
import os
import time
from collections.abc import Iterator

import pytest

from lydite.verifiers.aside import Aside, LostError, OverBudgetError

TARGET = "verifiers.aside_targets:perform"


@pytest.fixture
def aside() -> Iterator[Aside]:
    one = Aside(TARGET, cpu_seconds=0.2, memory_mb=256)
    yield one
    one.close()


def test_a_reply_comes_back(aside: Aside) -> None:
    assert aside.call(b"echo " + b"x" * 3_000_000) == b"x" * 3_000_000


def test_one_process_serves_many_calls(aside: Aside) -> None:
    assert len({aside.call(b"pid") for _ in range(20)}) == 1


@pytest.mark.parametrize("word", [b"spin", b"backtrack"])
def test_a_long_call_ends_and_the_next_one_works(aside: Aside, word: bytes) -> None:
    with pytest.raises(OverBudgetError, match="time"):
        aside.call(word)
    assert aside.call(b"echo again") == b"again"


@pytest.mark.parametrize("word", [b"memory", b"recursion", b"segfault"])
def test_a_large_call_ends_and_the_next_one_works(aside: Aside, word: bytes) -> None:
    with pytest.raises(OverBudgetError, match="memory"):
        aside.call(word)
    assert aside.call(b"echo again") == b"again"


def test_time_in_which_nothing_is_computed_is_not_charged(aside: Aside) -> None:
    assert aside.call(b"sleep") == b"slept"


def test_an_exception_of_the_function_is_our_fault(aside: Aside) -> None:
    with pytest.raises(LostError, match="ValueError: on purpose"):
        aside.call(b"raise")


def test_a_process_killed_from_outside_is_our_fault(aside: Aside) -> None:
    with pytest.raises(LostError):
        aside.call(b"killed")


def test_an_idle_process_that_was_killed_is_replaced(aside: Aside) -> None:
    pid = int(aside.call(b"pid"))
    os.kill(pid, 9)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert aside.call(b"echo again") == b"again"


def test_what_the_function_prints_is_not_taken_for_a_reply(aside: Aside) -> None:
    assert aside.call(b"print") == b"printed"
    assert aside.call(b"echo again") == b"again"


def test_a_process_is_replaced_after_its_calls() -> None:
    one = Aside(TARGET, recycle=2)
    pids = [one.call(b"pid") for _ in range(4)]
    one.close()
    assert pids[0] == pids[1] != pids[2] == pids[3]


def test_from_threads(aside: Aside) -> None:
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        assert list(threads.map(aside.call, [b"echo %d" % n for n in range(200)])) == [b"%d" % n for n in range(200)]


async def test_from_asyncio(aside: Aside) -> None:
    assert await asyncio.gather(*(asyncio.to_thread(aside.call, b"echo %d" % n) for n in range(20))) == [
        b"%d" % n for n in range(20)
    ]


def _in_child(aside: Aside, queue: multiprocessing.SimpleQueue[bytes]) -> None:
    queue.put(aside.call(b"pid"))
    try:
        aside.call(b"spin")
    except OverBudgetError:
        queue.put(b"ended")
    aside.close()


def test_in_a_daemonic_process_after_a_fork(aside: Aside) -> None:
    here = aside.call(b"pid")
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_in_child, args=(aside, queue), daemon=True)
    child.start()
    assert queue.get() != here
    assert queue.get() == b"ended"
    child.join()
    assert aside.call(b"pid") == here


@pytest.mark.parametrize("busy", [False, True])
def test_the_processes_end_with_the_caller(busy: bool) -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        aside = Aside(TARGET)
        os.write(writer, aside.call(b"pid"))
        if busy:
            aside.call(b"spin", 600.0)
        os._exit(0)
    os.close(writer)
    pid = int(os.read(reader, 20))
    os.close(reader)
    if busy:
        time.sleep(0.2)
        os.kill(child, 9)
    os.waitpid(child, 0)
    for _ in range(500):
        if not os.path.exists(f"/proc/{pid}"):
            break
        time.sleep(0.02)
    assert not os.path.exists(f"/proc/{pid}")

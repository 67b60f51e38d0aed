"""Events: written with what they speak of, told to all who watch, read from the database once for them."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

import pytest
from server_index_contract import opened

from lydite.server import events
from lydite.server.events import Bus, Event


@pytest.fixture
def bus(home: Path) -> Iterator[Bus]:
    made = opened(home).bus
    yield made
    made.engine.dispose()


def put(bus: Bus, *numbers: int, topic: str = "run:a") -> None:
    with bus.engine.begin() as connection:
        for number in numbers:
            bus.put(connection, topic, "rollouts", {"n": number})
    bus.wake()


async def take(watcher: AsyncIterator[Event], count: int) -> list[int]:
    return [(await asyncio.wait_for(anext(watcher), 20)).data["n"] for _ in range(count)]


async def nothing_comes(watcher: AsyncIterator[Event]) -> bool:
    waiting = asyncio.ensure_future(anext(watcher))
    done, _ = await asyncio.wait({waiting}, timeout=0.3)
    waiting.cancel()
    with contextlib.suppress(asyncio.CancelledError, StopAsyncIteration):
        await waiting
    return not done


def test_events_are_numbered_and_found_behind_a_number(bus: Bus) -> None:
    assert bus.last() == 0
    put(bus, 1, 2, 3)
    put(bus, 4, topic="job:b")
    found = bus.past()
    assert [event.data["n"] for event in found] == [1, 2, 3, 4]
    assert [event.seq for event in found] == sorted({event.seq for event in found})
    assert bus.last() == found[-1].seq
    assert [event.data["n"] for event in bus.past(["run:a"], after=found[0].seq)] == [2, 3]
    assert [event.data["n"] for event in bus.past(["run:a", "job:b"], limit=2)] == [1, 2]
    assert bus.past(after=10**30) == []
    assert len(bus.past(after=-(10**30))) == 4


def test_what_is_rolled_back_was_never_told(bus: Bus) -> None:
    with bus.engine.begin() as connection:
        bus.put(connection, "run:a", "run", {})
        connection.rollback()
    assert bus.past() == []


def test_old_events_are_forgotten_and_numbers_never_used_again(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "KEPT", 10)
    monkeypatch.setattr(events, "_PRUNE_EVERY", 20)
    put(bus, *range(1, 41))
    assert [event.seq for event in bus.past()] == list(range(31, 41))


async def test_a_watcher_gets_what_comes_and_what_was(bus: Bus) -> None:
    put(bus, 1, 2)
    now, all_of_it = bus.watch(), bus.watch(after=0)
    assert await take(all_of_it, 2) == [1, 2]
    await asyncio.to_thread(put, bus, 3)
    assert await take(now, 1) == [3]
    assert await take(all_of_it, 1) == [3]
    put(bus, 4)
    assert await take(now, 1) == [4]
    assert await nothing_comes(now)


async def test_what_comes_between_the_call_and_the_first_step_is_told(bus: Bus) -> None:
    watcher = bus.watch()
    put(bus, 1)
    assert await take(watcher, 1) == [1]


async def test_a_watcher_gets_its_topics_only(bus: Bus) -> None:
    watcher = bus.watch(["run:a", "job:c"], after=0)
    for number, topic in enumerate(("run:a", "run:b", "job:c", "run:ab")):
        put(bus, number, topic=topic)
    assert await take(watcher, 2) == [0, 2]
    assert await nothing_comes(watcher)


async def test_one_that_was_away_for_long_gets_everything_once(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "_TAIL", 10)
    put(bus, *range(25))
    early, late = bus.watch(after=0), bus.watch()
    assert await take(early, 3) == [0, 1, 2]
    waiting = asyncio.ensure_future(take(late, 40))
    for number in range(25, 65):
        put(bus, number)
        if number % 7 == 0:
            await asyncio.sleep(0.01)
    assert await take(early, 62) == list(range(3, 65))
    assert await waiting == list(range(25, 65))


async def test_a_number_that_is_yet_to_come_means_now(bus: Bus) -> None:
    put(bus, 1)
    watcher = bus.watch(after=10**9)
    put(bus, 2)
    assert await take(watcher, 1) == [2]


async def test_many_watchers_read_the_database_once(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0
    past = bus.past

    def counted(topics: Sequence[str] = (), *, after: int = 0, limit: int = 1000) -> list[Event]:
        nonlocal read
        read += 1
        return past(topics, after=after, limit=limit)

    monkeypatch.setattr(bus, "past", counted)
    watchers = [asyncio.ensure_future(take(bus.watch(["run:a"]), 2)) for _ in range(200)]
    await asyncio.sleep(0.5)
    idle = read
    await asyncio.sleep(0.5)
    assert read == idle
    await asyncio.to_thread(put, bus, 1, 2)
    assert await asyncio.gather(*watchers) == [[1, 2]] * 200
    assert read - idle <= 2
    assert not bus._tails


async def test_watchers_that_leave_are_forgotten(bus: Bus) -> None:
    watcher = bus.watch(after=0)
    waiting = asyncio.ensure_future(anext(watcher))
    await asyncio.sleep(0.1)
    waiting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await waiting
    await watcher.aclose()  # type: ignore[attr-defined]
    assert not bus._tails
    put(bus, 1)


def test_loops_of_several_threads_are_told_and_ended_ones_do_no_harm(bus: Bus) -> None:
    async def watch() -> list[int]:
        return await take(bus.watch(after=0), 3)

    found: list[list[int]] = []
    threads = [threading.Thread(target=lambda: found.append(asyncio.run(watch()))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(3):
        put(bus, number)
    for thread in threads:
        thread.join()
    assert found == [[0, 1, 2]] * 3
    put(bus, 4)


async def test_a_database_that_fails_for_a_moment_loses_nothing(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    watcher = bus.watch()
    waiting = asyncio.ensure_future(take(watcher, 2))
    await asyncio.sleep(0.1)
    past, failed = bus.past, []

    def failing(topics: Sequence[str] = (), *, after: int = 0, limit: int = 1000) -> list[Event]:
        if not failed:
            failed.append(after)
            raise OSError("disk")
        return past(topics, after=after, limit=limit)

    monkeypatch.setattr(bus, "past", failing)
    put(bus, 1, 2)
    assert await waiting == [1, 2]

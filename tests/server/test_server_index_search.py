"""Searching files line by line: what is found is what looking at every line finds."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from server_index_contract import graded, listed, opened

from lydite.ledger import RunFolder
from lydite.server.index import scanning, search
from lydite.server.index.index import Index
from lydite.server.index.rows import RolloutFilter
from lydite.server.index.scanning import Needle, scan

LINES = st.lists(st.text(alphabet='aAbBxX *\\"{é:', max_size=30).map(lambda text: text.encode()), max_size=40)


@settings(max_examples=150, deadline=None)
@example(lines=[b"*"], needle=b"*", down=False, chunk=64)
@given(
    lines=LINES,
    needle=st.text(alphabet="abx *\\{é", min_size=1, max_size=3).map(lambda text: text.encode()),
    down=st.booleans(),
    chunk=st.sampled_from([1, 7, 64, 1 << 18]),
)
def test_every_line_is_found_that_has_it(lines: list[bytes], needle: bytes, down: bool, chunk: int) -> None:
    data = b"".join(line + b"\n" for line in lines)
    starts = [sum(len(line) + 1 for line in lines[:at]) for at in range(len(lines))]
    expected = [start for start, line in zip(starts, lines, strict=True) if needle in line.lower()]
    descriptor = os.memfd_create("lines")
    try:
        os.write(descriptor, data)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(scanning, "CHUNK", chunk)
            found = scan(
                descriptor,
                0,
                len(data),
                Needle(needle),
                lambda line: needle in line.lower(),
                down=down,
                deadline=math.inf,
            )
            hits = [at.offset for at in found if at.hit]
    finally:
        os.close(descriptor)
    assert hits == (expected[::-1] if down else expected)


def test_a_file_that_became_shorter_ends_the_search(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"one\ntwo\n")
    with open(path, "rb") as file:
        for down in (False, True):
            found = scan(file.fileno(), 0, 5000, Needle(b"two"), lambda line: True, down=down, deadline=math.inf)
            assert [at.offset for at in found if at.hit] in ([4], [])


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """A run of 60 attempts; those with ``Quokka`` are few, and one has 3 MB of text."""
    home = tmp_path_factory.mktemp("searched")
    words = [
        f"attempt {at} {'Quokka' if at % 13 == 0 else ''}{'x' * 3_000_000 if at == 20 else ''}" for at in range(60)
    ]
    (home / "runs").mkdir()
    with RunFolder.create(home / "runs" / "r", kind="sample", settings={}) as run:
        run.append([graded(at, index=at // 5, words=text) for at, text in enumerate(words)])
    made = opened(home)
    made.refresh()
    yield made
    made.engine.dispose()


@pytest.mark.parametrize("sort", ["seq", "-seq", "reward", "-reward", "tokens", "-seconds"])
@pytest.mark.parametrize("seconds", [10, 0])
@pytest.mark.parametrize("few", [0, 2000])
def test_pages_of_a_search_are_those_of_the_list_however_it_is_done(
    index: Index, monkeypatch: pytest.MonkeyPatch, sort: str, seconds: float, few: int
) -> None:
    monkeypatch.setattr(search, "SECONDS", seconds)
    monkeypatch.setattr(search, "_FEW", few)
    monkeypatch.setattr(search, "_BATCH", 8)
    monkeypatch.setattr(scanning, "CHUNK", 1000)
    for more in ({}, {"outcomes": ("correct", "incorrect")}, {"task": "t0"}):
        every = listed(index, "r", RolloutFilter(sort=sort, **more), 100)  # type: ignore[arg-type]
        expected = [row.seq for row in every if (row.seq - 1) % 13 == 0]
        for limit in (1, 2, 100):
            which = RolloutFilter(sort=sort, q="quokka", **more)  # type: ignore[arg-type]
            assert [row.seq for row in listed(index, "r", which, limit)] == expected


def test_a_search_that_runs_out_of_time_gives_what_it_has_and_goes_on(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "SECONDS", 0)
    monkeypatch.setattr(search, "_FEW", 0)
    monkeypatch.setattr(scanning, "CHUNK", 1000)
    page = index.rollouts("r", RolloutFilter(q="wombat"))
    assert page.items == ()
    assert page.next is not None
    steps = 0
    while page.next is not None:
        page = index.rollouts("r", RolloutFilter(q="wombat"), after=page.next)
        assert page.items == ()
        steps += 1
        assert steps < 100

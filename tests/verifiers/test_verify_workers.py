"""Workers that are copies of the command: when they are, and what becomes of them."""

from __future__ import annotations

import io
import os
import subprocess
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.cli.verify_lines import FRAMING, blocks, prepared
from lydite.verifiers import forked
from lydite.verifiers.chunks import Clock, Lost, Pace
from lydite.verifiers.pool import map_in_processes

SETUP = b'["math", {}, false, "in.jsonl"]'
LINE = b"\0\0\0\0\0\0\0\1" + b'{"completion": "5", "gold": "5"}\n'


def _work(chunk: bytes, clock: Clock) -> bytes:
    clock.item(0)
    return chunk + b"%d" % os.getppid()


def _run(chunks: list[bytes], jobs: int) -> list[bytes | Lost]:
    return list(map_in_processes("no:factory", chunks, jobs, FRAMING, Pace(), work=_work))


def test_copies_answer_in_order() -> None:
    mine = b"%d" % os.getpid()
    assert _run([b"%d:" % n for n in range(50)], 2) == [b"%d:" % n + mine for n in range(50)]


def test_nothing_is_left_of_copies() -> None:
    before = set(os.listdir("/proc/self/fd"))
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    others = set(children.read_text().split())  # of the tests before
    _run([b"1"], 1)
    assert set(os.listdir("/proc/self/fd")) == before
    assert set(children.read_text().split()) <= others


def test_a_process_with_threads_is_not_copied() -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        assert not forked.may_fork()
    finally:
        stop.set()
        thread.join()


def test_a_process_with_children_is_not_copied() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        assert not forked.may_fork()
        child.kill()


@pytest.mark.parametrize("kind", ["math", "own.py:check", "somebodys"])
def test_only_verifiers_of_ours_are_prepared_in_the_command(kind: str) -> None:
    assert prepared(SETUP, LINE) is not None
    line = LINE.replace(b'"gold": "5"', b'"checker": {"type": "%s", "config": {"answer": "5"}}' % kind.encode())
    assert (prepared(SETUP, line) is not None) is (kind == "math")


@given(
    st.lists(st.sampled_from([b"", b"\0", b"\0\0", b"\r", b"x", b"long line", b"\0x"]), max_size=20),
    st.booleans(),
    st.integers(1, 30),
)
def test_blocks_hold_every_line_once(lines: list[bytes], ended: bool, size: int) -> None:
    pace = Pace()
    pace.bytes = size
    data = b"\n".join(lines) + (b"\n" if ended and lines else b"")
    found: list[bytes] = []
    for block in blocks(io.BytesIO(data), pace):
        items = FRAMING.split(block)
        assert int.from_bytes(block[:8], "big") == len(found) + 1
        found += [item[8:-1] for item in items]
    wanted = data.split(b"\n")
    if not wanted[-1]:
        wanted.pop()
    assert found == [b"\0\0" if line == b"\0" else line for line in wanted]

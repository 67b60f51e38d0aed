"""What people say of flags is kept, whatever happens to the process that keeps it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from lydite.flag import Flag
from lydite.ledger.reviews import FILE, Decision, Review, Reviews
from memory_rows import BAR, HINT, make_row

FLAG = Flag(detector="no_visible_work", version=3, bars=True)


def test_the_last_decision_counts_and_can_be_withdrawn(tmp_path: Path) -> None:
    reviews = Reviews(tmp_path)
    for decision in (Decision.CONFIRMED, Decision.DISMISSED):
        reviews.add([("sample/t/0", FLAG, decision)], "why")
    found = Reviews(tmp_path).of("sample/t/0", FLAG)
    assert found is not None
    assert (found.decision, found.note) == (Decision.DISMISSED, "why")
    reviews.add([("sample/t/0", FLAG, Decision.WITHDRAWN)])
    assert Reviews(tmp_path).of("sample/t/0", FLAG) is None
    assert len((tmp_path / FILE).read_bytes().splitlines()) == 3


def test_a_decision_is_about_one_version_of_a_detector(tmp_path: Path) -> None:
    reviews = Reviews(tmp_path)
    reviews.add([("sample/t/0", FLAG, Decision.DISMISSED)])
    assert reviews.of("sample/t/0", msgspec.structs.replace(FLAG, version=4)) is None


def test_dismissed_flags_bar_nothing_and_confirmed_ones_do(tmp_path: Path) -> None:
    reviews = Reviews(tmp_path)
    row = make_row("t", 0, 1.0, flags=(BAR, HINT))
    assert reviews.applied(row) is row
    reviews.add([(row.rollout.id, BAR, Decision.DISMISSED), (row.rollout.id, HINT, Decision.CONFIRMED)])
    assert [flag.bars for flag in reviews.applied(row).record.flags] == [False, True]
    assert [flag.bars for flag in row.record.flags] == [True, False]


def test_a_line_that_was_cut_anywhere_harms_no_other(tmp_path: Path) -> None:
    reviews = Reviews(tmp_path)
    reviews.add([("sample/a/0", FLAG, Decision.CONFIRMED)])
    reviews.add([("sample/b/0", FLAG, Decision.DISMISSED)])
    whole = (tmp_path / FILE).read_bytes()
    first = whole.index(b"\n") + 1
    for end in range(first, len(whole)):
        (tmp_path / FILE).write_bytes(whole[:end])
        Reviews(tmp_path).add([("sample/c/0", FLAG, Decision.CONFIRMED)])
        found = Reviews(tmp_path)
        assert found.of("sample/a/0", FLAG) is not None
        assert found.of("sample/c/0", FLAG) is not None


def test_what_was_acknowledged_outlives_a_kill(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib\nfrom lydite.flag import Flag\nfrom lydite.ledger.reviews import *\n"
        f"reviews = Reviews(pathlib.Path({str(tmp_path)!r}))\n"
        "flag = Flag(detector='d', version=1, bars=True)\n"
        "for number in range(10**6):\n"
        "    reviews.add([(f'sample/t/{number}', flag, Decision.CONFIRMED)])\n"
        "    print(number, flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = [int(process.stdout.readline()) for _ in range(40)]
        os.kill(process.pid, signal.SIGKILL)
    flag = Flag(detector="d", version=1, bars=True)
    found = Reviews(tmp_path)
    assert all(found.of(f"sample/t/{number}", flag) is not None for number in told)


def test_several_may_write_at_once(tmp_path: Path) -> None:
    def write(who: int) -> None:
        reviews = Reviews(tmp_path)
        for number in range(20):
            reviews.add([(f"sample/{who}/{number}", FLAG, Decision.CONFIRMED)])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(4)))
    lines = (tmp_path / FILE).read_bytes().splitlines()
    assert len({msgspec.json.decode(line, type=Review).rollout for line in lines}) == 80
    assert Reviews(tmp_path).damaged == 0

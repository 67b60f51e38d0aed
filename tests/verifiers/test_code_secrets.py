"""What a candidate's process holds: the input of its own test, never another's, and never what is expected."""

from __future__ import annotations

import re
from typing import Any

import pytest

from lydite import verify

SEARCH = r"""
import gc, inspect, os, re, sys

FORM = re.compile(rb"(?:INPUT|EXPECTED|MESSAGE)-\d+")

def places():
    for descriptor in range(64):
        try:
            yield os.pread(descriptor, 1 << 22, 0)
        except OSError:
            pass
    for root, _, names in (*os.walk("."), *os.walk("/tmp"), *os.walk("/dev/shm")):
        for name in names:
            try:
                with open(os.path.join(root, name), "rb") as file:
                    yield name.encode() + file.read()
            except OSError:
                pass
    for who in [name for name in os.listdir("/proc") if name.isdigit()] + ["self"]:
        for what in ("cmdline", "environ"):
            try:
                with open(f"/proc/{who}/{what}", "rb") as file:
                    yield file.read()
            except OSError:
                pass
        try:
            with open(f"/proc/{who}/maps") as maps, open(f"/proc/{who}/mem", "rb", buffering=0) as memory:
                for line in maps:
                    start, _, end = line.split()[0].partition("-")
                    if line.split()[1].startswith("r"):
                        try:
                            memory.seek(int(start, 16))
                            yield memory.read(int(end, 16) - int(start, 16))
                        except (OSError, ValueError, OverflowError):
                            pass
        except OSError:
            pass
    for thing in gc.get_objects():
        yield repr(thing).encode("utf-8", "replace") if isinstance(thing, (dict, list, tuple)) else b""
    frame = sys._getframe()
    while frame:
        yield repr(frame.f_locals).encode("utf-8", "replace")
        frame = frame.f_back

def search():
    return sorted({found.decode() for place in places() for found in FORM.findall(place)})
"""
AT_LOAD = "FOUND = search()\ndef f(*_):\n    return FOUND\n"
IN_CALL = "def f(*_):\n    return search()\n"


def markers(parts: Any) -> list[set[str]]:
    """What each test's candidate told that it had found."""
    return [
        set(re.findall(r"(?:INPUT|EXPECTED|MESSAGE)-\d+", (part.evidence or "").partition(", not ")[0]))
        for part in parts
    ]


@pytest.mark.parametrize("program", [AT_LOAD, IN_CALL])
def test_a_call_test_shows_its_own_arguments_alone(program: str) -> None:
    tests = [{"call": "f", "args": [f"INPUT-{n}"], "expected": f"EXPECTED-{n}"} for n in range(3)]
    verdict = verify({"type": "code", "config": {"tests": tests}}, f"```python\n{SEARCH}{program}```")
    assert verdict.score == 0
    assert markers(verdict.parts) == [{f"INPUT-{n}"} for n in range(3)]


def test_a_program_finds_its_own_input_alone() -> None:
    tests = [{"input": f"INPUT-{n}", "expected": f"EXPECTED-{n}"} for n in range(3)]
    verdict = verify({"type": "code", "config": {"tests": tests}}, f"```python\n{SEARCH}print(search())\n```")
    assert verdict.score == 0
    assert markers(verdict.parts) == [{f"INPUT-{n}"} for n in range(3)]


TOLD = "\ndef f(*_):\n    raise ValueError(' '.join(search()))\n"


@pytest.mark.parametrize("program", ["FOUND = search()" + TOLD.replace("search()", "FOUND"), TOLD])
@pytest.mark.parametrize("loop", ["", "for _ in range(1):\n    "])
def test_an_assert_test_shows_its_own_arguments_alone(program: str, loop: str) -> None:
    tests = [f"{loop}assert f('INPUT-{n}') == 'EXPECTED-{n}', 'MESSAGE-{n}'" for n in range(3)]
    config = {"tests": tests, "entry_point": "f"}
    verdict = verify({"type": "code", "config": config}, f"```python\n{SEARCH}{program}```")
    assert verdict.score == 0
    assert markers(verdict.parts) == [{f"INPUT-{n}"} for n in range(3)]


def test_a_checker_and_what_it_expects_are_not_there() -> None:
    checker = "def check(args, kwargs, output):\n    'MESSAGE-1'\n    return output == 'EXPECTED-1'"
    config = {"tests": [{"call": "f", "args": ["INPUT-1"], "expected": "EXPECTED-1", "checker": checker}]}
    verdict = verify({"type": "code", "config": config}, f"```python\n{SEARCH}{IN_CALL}```")
    assert verdict.parts[0].evidence == "the checker gave 0 for ['INPUT-1']"


def test_nothing_is_left_of_the_candidate_that_ran_before() -> None:
    left = (
        "import os, threading\n"
        "NAME = 'INP' + 'UT-7'\n"
        "for folder in ('.', '/tmp', '/dev/shm', '/var/tmp'):\n"
        "    try: open(os.path.join(folder, NAME), 'w').write(NAME)\n"
        "    except OSError: pass\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    while True: pass\n"
        "def f(*_):\n    return NAME\n"
    )
    tests = [{"call": "f", "args": [], "expected": "INPUT-7"}, {"call": "f", "args": [1], "expected": "INPUT-7"}]
    checker = {"type": "code", "config": {"tests": tests}}
    assert verify(checker, f"```python\n{left}```").correct
    for _ in range(4):  # every worker
        assert markers(verify(checker, f"```python\n{SEARCH}{IN_CALL}```").parts) == [set(), set()]

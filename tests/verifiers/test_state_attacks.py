"""No way of cheating on the grader's tests is judged correct, none is ``invalid``, and honest attempts are correct."""

from __future__ import annotations

from functools import cache

import pytest

from lydite.sandbox import Snapshot
from lydite.sandbox.jail.packing import Entry, Kind
from lydite.sandbox.snapshot import closed
from lydite.verdict import Outcome, Verdict
from lydite.verifiers import Submission, build

from .state_attacks import ATTACKS, CONFIG, HONEST, OTHER_HONEST

AGAIN = (
    "stub",
    "built-ins",
    "anything in a list",
    "the grader's built-ins",
    "helper in sys.modules",
    "skip when called",
)
"""Verdicts with random numbers, addresses, drawn names and the order of sets close by."""
TAMPERED = {
    "forged channel",
    "forged channel, then leave",
    "equal to anything",
    "equal to the first that asks",
    "equal by name of the type",
    "equal number",
    "equal by another method's code",
    "equal by a metaclass",
    "mock.ANY",
    "anything in a list",
    "built-ins",
    "runner",
    "code of the runner",
    "reports",
    "pluggy",
    "rewriting",
    "unittest",
    "pytest.raises",
    "math.isclose",
    "plugin found in frames",
    "traced over the asserts",
    "profile",
    "helper in sys.modules",
    "helper replaced",
}


def state(files: dict[str, str]) -> Snapshot:
    return Snapshot(
        closed(
            Entry(path, Kind.LINK, text[3:].encode())
            if text.startswith("-> ")
            else Entry(path, Kind.FILE, text.encode())
            for path, text in files.items()
        )
    )


def verdict(files: dict[str, str]) -> Verdict:
    check = build({"type": "pytest", "config": {**CONFIG, "timeout": 2.0, "memory_mb": 256}})
    return check(Submission(text="I have finished the task.", state=state(files)))


@cache
def first_verdict(name: str) -> Verdict:
    return verdict(ATTACKS[name])


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_earns_nothing(name: str) -> None:
    said = first_verdict(name)
    assert said.outcome is Outcome.INCORRECT, said


@pytest.mark.parametrize("name", sorted(TAMPERED))
def test_attack_is_named(name: str) -> None:
    said = first_verdict(name)
    assert said.reason == "tampered", said


@pytest.mark.parametrize("name", AGAIN)
def test_a_verdict_is_the_same_again(name: str) -> None:
    assert verdict(ATTACKS[name]) == first_verdict(name)


@pytest.mark.parametrize("source", [HONEST, OTHER_HONEST], ids=["plain", "unusual"])
@pytest.mark.parametrize("place", ["shop.py", "src/shop.py", "shop/__init__.py"])
def test_honest_attempt_is_correct(source: str, place: str) -> None:
    said = verdict({place: source})
    assert said.correct, said


def test_honest_attempt_with_settings_and_tests_of_its_own_is_correct() -> None:
    said = verdict(
        {
            "shop.py": HONEST,
            "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-x --strict-markers'\n",
            "conftest.py": "raise RuntimeError('only mine')\n",
            "tests/test_mine.py": "def test_mine(): assert False\n",
            "test_shop.py": "def test_root(): assert False\n",
            "__pycache__/shop.cpython-311.pyc": "old",
        }
    )
    assert said.correct, said


def test_every_part_of_a_wrong_attempt_says_why() -> None:
    said = verdict({"shop.py": HONEST.replace("sum(prices)", "max(prices, default=0)")})
    assert said.outcome is Outcome.PARTIAL
    parts = {part.name: part for part in said.parts}
    failed = parts["tests/test_shop.py::test_total[prices0-3]"]
    assert failed.score == 0
    assert failed.reason == "failed"
    assert failed.evidence == "assert 2 == 3\n +  where 2 = total([1, 2])"
    assert parts["tests/test_shop.py::test_refuses"].score == 1

from __future__ import annotations

from pathlib import Path

import pytest

from lydite.verifiers import registry
from verifiers import contract
from verifiers.contract import HOSTILE, Subject

SUBJECTS = [
    Subject("math", {"answer": "42"}, "6 * 7 is what we need, so \\boxed{42}.", "I get \\boxed{41}."),
    Subject(
        "code",
        {"tests": [{"call": "f", "args": [6], "expected": 42}], "timeout": 2},
        "def f(x):\n    return 7 * x",
        "def f(x):\n    return 41",
    ),
    Subject("exact", {"answer": "forty-two"}, "forty-two\n", "forty-one"),
    Subject("choice", {"answer": "B", "choices": ["41", "42", "43"]}, "The answer is (B).", "The answer is C."),
]
each = pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.type)


def test_every_built_in_verifier_is_under_contract() -> None:
    assert {subject.type for subject in SUBJECTS} == set(registry.BUILTIN)


@each
def test_judges(subject: Subject) -> None:
    contract.check_judges(subject)


@each
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_completion(subject: Subject, name: str) -> None:
    contract.check_hostile(subject, HOSTILE[name])


def test_code_in_a_completion_did_not_run() -> None:
    assert not Path("/tmp/lydite_was_here").exists()


@each
def test_messages(subject: Subject) -> None:
    contract.check_messages(subject)


@each
def test_deterministic(subject: Subject) -> None:
    contract.check_deterministic(subject)


@each
def test_identity(subject: Subject) -> None:
    contract.check_identity(subject)

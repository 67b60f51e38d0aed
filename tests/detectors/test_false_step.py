from __future__ import annotations

from typing import Any

import pytest

from lydite.detectors import FalseStep, detect
from lydite.errors import InputError
from lydite.flag import Flag
from lydite.rollout import Message, Rollout
from lydite.task import Checker, Task
from lydite.verdict import Verdict

GOOD = "She sold 48 / 2 = 24 clips in May, and altogether 48 + 24 = 72 clips.\n#### 72"
LUCKY = "She sold 48 / 2 = 23 clips in May, and altogether 48 + 23 = 72 clips.\n#### 72"


def look(text: str, verifier: str = "math@1", score: float = 1.0, **config: Any) -> Flag | None:
    rollout = Rollout(id="r", task="t", task_digest="", completion=(Message(role="assistant", content=text),))
    return FalseStep().look(rollout, Verdict.of(score, "correct" if score else "incorrect", verifier), config)


def test_a_right_answer_with_a_false_step_is_flagged_and_barred() -> None:
    flag = look(LUCKY)
    assert flag is not None
    assert flag.bars
    assert flag.evidence == {
        "false": 2,
        "max_false": 0,
        "steps": ["48 / 2 = 23", "48 + 23 = 72 clips"],
    }


def test_right_steps_are_not_flagged() -> None:
    assert look(GOOD) is None


def test_a_wrong_answer_is_not_looked_at() -> None:
    assert look(LUCKY, score=0.0) is None


@pytest.mark.parametrize(
    ("verifier", "flagged"),
    [
        ("choice@1", True),
        ("gate@1(format@1,math@2)", True),
        ("all_of@1(gate@1(math@1,steps@1),format@1)", True),
        ("code@1", False),
        ("exact@1", False),
        ("gate@1(code@1,format@1)", False),
    ],
)
def test_which_verdicts_are_looked_at(verifier: str, flagged: bool) -> None:
    assert (look(LUCKY, verifier) is not None) is flagged


def test_thinking_may_err() -> None:
    assert look(f"<think>48 / 2 = 23, no.</think>{GOOD}") is None


def test_a_threshold_lets_steps_pass() -> None:
    assert look(LUCKY, max_false=2) is None


@pytest.mark.parametrize(("config", "field"), [({"max_false": -1}, "max_false"), ({"min": 1}, "min")])
def test_unusable_threshold(config: dict[str, Any], field: str) -> None:
    task = Task(id="t", prompt=(), checker=Checker(type="math"), metadata={"flags": {"false_step": config}})
    with pytest.raises(InputError) as caught:
        detect(Rollout(id="r", task="t", task_digest=""), Verdict.of(1.0, "correct", "math@1"), task)
    assert caught.value.field == f"metadata.flags.false_step.{field}"


def test_padding_is_not_looked_at() -> None:
    assert look("1 + 1 = 3\n" * 10_000) is None

"""Verdict, flags and reward of one attempt, and seeds."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sampling_making import make_tasks

from lydite.errors import InputError
from lydite.reward import Flagged, RewardScheme
from lydite.rollout import Message, Rollout
from lydite.sampling import Judge, attempt_seed
from lydite.task import Checker, Task

TASK = make_tasks(8)[7]


def said(text: str, *, error: str | None = None) -> Rollout:
    completion = (Message(role="assistant", content=text),)
    return Rollout(
        id="sample/t7/0", task=TASK.id, task_digest=TASK.digest, prompt=TASK.prompt, completion=completion, error=error
    )


def test_a_right_answer_earns_one_and_names_its_verifier() -> None:
    graded = Judge().judge(said("7"), TASK)
    assert (graded.verdict.outcome, graded.reward) == ("correct", 1.0)
    assert graded.verdict.verifier.startswith("exact@")
    assert len(graded.verifier_source) == 64


def test_a_wrong_answer_costs_a_tenth() -> None:
    assert Judge().judge(said("8"), TASK).reward == pytest.approx(-0.1)


def test_an_attempt_that_could_not_be_asked_for_is_invalid_and_has_no_reward() -> None:
    graded = Judge().judge(said("7", error="http_429"), TASK)
    assert (graded.verdict.outcome, graded.verdict.reason, graded.reward) == ("invalid", "policy_error:http_429", None)


def test_the_scheme_is_named_in_words() -> None:
    assert Judge().name == "asymmetric+format=0+flagged=keep"
    assert Judge(RewardScheme(format_weight=0.2, flagged=Flagged.MASK)).name == "asymmetric+format=0.2+flagged=mask"


def test_the_format_term_pays_for_an_answer_that_can_be_read() -> None:
    judge = Judge(RewardScheme(format_weight=0.2))
    assert judge.judge(said("8"), TASK).reward == pytest.approx(0.1)
    unreadable = judge.judge(said(""), TASK)
    assert unreadable.reward == pytest.approx(-0.1)


def test_a_flagged_attempt_can_be_masked() -> None:
    task = msgspec.structs.replace(TASK, checker=Checker(type="math", config={"answer": "7"}))
    rollout = msgspec.structs.replace(said("\\boxed{7}"), task_digest=task.digest)
    graded = Judge(RewardScheme(flagged=Flagged.MASK)).judge(rollout, task)
    assert [flag.detector for flag in graded.flags] == ["no_visible_work"]
    assert graded.reward is None


def test_a_checker_that_cannot_be_built_is_found_before_anything_is_sampled() -> None:
    task = Task(id="odd", prompt=(), checker=Checker(type="no_such_verifier"))
    with pytest.raises(InputError, match="task odd"):
        list(Judge().prepared([task]))


def test_unusable_thresholds_are_found_before_anything_is_sampled() -> None:
    checker = Checker(type="math", config={"answer": "7"})
    task = Task(id="odd", prompt=(), checker=checker, metadata={"flags": {"no_visible_work": {"min_words": "many"}}})
    with pytest.raises(InputError, match=r"task odd.*min_words"):
        Judge().prepare(task)


def test_seeds_do_not_change_between_versions() -> None:
    assert attempt_seed(0, "sample", "t0", 0) == 8802766698152832040


@given(st.integers(), st.text(), st.text(), st.integers(0, 1 << 40))
def test_seeds_are_of_63_bits(seed: int, phase: str, task: str, index: int) -> None:
    assert 0 <= attempt_seed(seed, phase, task, index) < 1 << 63


def test_seeds_are_apart() -> None:
    seeds = {
        attempt_seed(s, p, t, i) for s in range(3) for p in ("a", "b") for t in ("x", "y", "x/1") for i in range(5)
    }
    assert len(seeds) == 3 * 2 * 3 * 5

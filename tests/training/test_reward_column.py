"""The one reward column, and dynamic sampling over what it says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from lydite.ledger import Graded, RunFolder, verify_run
from lydite.reward import RewardScheme
from lydite.rollout import FinishReason, Rollout
from lydite.sampling import Judge
from lydite.task import Task
from lydite.tasksets import parse_task
from lydite.training.controls import Control
from lydite.training.recipe import GrpoStage, Overlong
from lydite.verdict import Outcome, Part, Verdict

pytest.importorskip("trl")
pytestmark = pytest.mark.train

END = 2
WORDS = {10: "\\boxed{0}", 11: "\\boxed{1}", 12: "hm"}


class Faulty(Judge):
    """Cannot judge what says ``hm``."""

    def judge(self, rollout: Any, task: Task, state: Any = None) -> Any:
        graded = super().judge(rollout, task, state)
        if rollout.text != "hm":
            return graded
        return msgspec.structs.replace(graded, verdict=Verdict.invalid("verifier_error", "math@1"), reward=None)


@pytest.fixture
def tasks() -> list[Task]:
    from tiny_llama import task_document

    return [parse_task(task_document(number)) for number in (10, 11)]


@pytest.fixture
def run(tmp_path: Path, tasks: list[Task]) -> Iterator[RunFolder]:
    with RunFolder.create(tmp_path / "run", kind="train", settings={}, tasks=tasks) as run:
        yield run


def column(
    run: RunFolder, tasks: list[Task], *, control: str = "none", taken: tuple[str, ...] = (), **stage: Any
) -> Any:
    from lydite.training.trl.reward import RewardColumn

    plan = GrpoStage(kind="grpo", steps=1, num_generations=2, max_completion_length=4, **stage)
    made = RewardColumn(
        run,
        tasks,
        Faulty(RewardScheme()),
        plan,
        index=0,
        seed=0,
        policy="tiny@0",
        control=Control.parse(control),
        taken=taken,
    )
    made.eos = frozenset({END})
    made.decode = lambda ids: WORDS[ids[0]]
    return made


def score(
    made: Any, ids: list[list[int]], task: list[int], step: int = 0
) -> tuple[list[float | None], dict[str, float]]:
    metrics: dict[str, float] = {}
    state = SimpleNamespace(global_step=step)
    rewards = made.score(
        prompts=[], completions=[], completion_ids=ids, task=task, trainer_state=state, log_metric=metrics.__setitem__
    )
    return rewards, metrics


def test_rewards_rollouts_and_records_agree(run: RunFolder, tasks: list[Task]) -> None:
    rewards, metrics = score(column(run, tasks), [[10, END], [11, 5, 5, 5], [11, END], [11, END]], [0, 0, 1, 1])
    assert rewards == [1.0, -0.1, 1.0, 1.0]
    rows = list(run.rows())
    assert [row.record.reward for row in rows] == rewards
    assert [row.rollout.id for row in rows] == [f"train-0-1/odd-{n}/{i}" for n in (10, 11) for i in (0, 1)]
    assert [row.rollout.finish for row in rows] == [FinishReason.STOP, FinishReason.LENGTH, *[FinishReason.STOP] * 2]
    assert (metrics["pass_rate"], metrics["groups/mixed"], metrics["groups/all_correct"]) == (0.75, 0.5, 0.5)


def test_an_invalid_sample_has_no_reward_and_is_counted(run: RunFolder, tasks: list[Task]) -> None:
    rewards, metrics = score(column(run, tasks), [[12, END], [10, END]], [0, 0])
    assert rewards == [None, 1.0]
    assert (metrics["invalid_rate"], metrics["pass_rate"]) == (0.5, 1.0)
    assert next(run.rows()).record.reward is None


def test_attempts_of_a_group_are_looked_at_side_by_side(run: RunFolder, tasks: list[Task]) -> None:
    asked = [msgspec.structs.replace(tasks[0], metadata={})]
    score(column(run, asked), [[10, END]] * 4, [0] * 4)
    assert all("same_answer_no_work" in {flag.detector for flag in row.record.flags} for row in run.rows())


def test_a_control_changes_what_training_sees_and_not_the_verdict(run: RunFolder, tasks: list[Task]) -> None:
    rewards, metrics = score(column(run, tasks, control="flip:1"), [[10, END], [11, END]], [0, 0])
    assert rewards == [-0.1, 1.0]
    records = [row.record for row in run.rows()]
    assert [record.verdict.correct for record in records] == [True, False]
    assert [record.reward for record in records] == rewards
    assert all(record.scheme.endswith("+control=flip:1") for record in records)
    assert metrics["pass_rate"] == 0.5


def test_length_is_paid_for_but_gives_no_contrast(run: RunFolder, tasks: list[Task]) -> None:
    made = column(run, tasks, overlong=Overlong(buffer=2))
    rewards, _ = score(made, [[10, END], [10, 5, 5, END], [10, END], [11, END]], [0, 0, 0, 0])
    assert rewards == [1.0, 0.0, 1.0, -0.1]
    assert made.contrast == [False, True]


def test_a_step_that_is_repeated_gets_ids_of_its_own(run: RunFolder, tasks: list[Task]) -> None:
    made = column(run, tasks, taken=("train-0-2", "train-0-2.2"))
    for step in (0, 1):
        score(made, [[10, END], [11, END]], [0, 0], step)
    phases = [row.rollout.phase for row in run.rows()]
    assert phases == ["train-0-1"] * 2 + ["train-0-2.3"] * 2


def test_a_second_round_of_a_step_goes_on_counting(run: RunFolder, tasks: list[Task]) -> None:
    made = column(run, tasks)
    for _ in range(2):
        score(made, [[10, END], [11, END]], [0, 0])
    assert [row.rollout.index for row in run.rows()] == [0, 1, 2, 3]
    run.finish()
    assert verify_run(run.path).problem is None


STD = 10**0.5 / 3**0.5  # of the rewards 1, -1, 2, -2


@pytest.mark.parametrize(
    ("scale", "advantages"),
    [("group", [1.0, -1.0, 4.0, -4.0]), ("batch", [1 / STD, -1 / STD, 2 / STD, -2 / STD])],
)
def test_dynamic_sampling_fills_the_batch_with_groups_that_can_teach(
    monkeypatch: pytest.MonkeyPatch, scale: str, advantages: list[float]
) -> None:
    import torch
    from trl import GRPOTrainer

    from lydite.training.trl.grpo import Trainer

    rounds = iter([([True, False], 3), ([False, True], 5)])  # contrast of each group, width of the completions
    asked: list[list[int]] = []
    trainer = Trainer.__new__(Trainer)
    trainer.column = SimpleNamespace(contrast=[], rewards=[1.0, -1.0, 2.0, -2.0])  # type: ignore[assignment]
    trainer.scale_rewards = scale
    trainer.num_generations, trainer.max_rounds, trainer.spare_seed = 2, 4, "0/0"
    trainer.model = SimpleNamespace(training=True)
    trainer.state = SimpleNamespace(global_step=0)
    trainer.train_dataset = [{"task": task} for task in range(100)]
    trainer._metrics = {
        "train": {name: [] for name in ("dynamic/rounds", "dynamic/extra_rollouts", "dynamic/unfilled_groups")}
    }
    trainer._tokenizer = SimpleNamespace(pad_token_id=9)
    trainer.accelerator = SimpleNamespace(gather=lambda value: value)

    def generate(self: Any, inputs: list[dict[str, int]]) -> dict[str, Any]:
        contrast, width = next(rounds)
        asked.append([row["task"] for row in inputs])
        trainer.column.contrast = contrast
        number = len(asked)
        return {
            "prompt_ids": torch.full((4, number), number),
            "prompt_mask": torch.ones(4, number),
            "completion_ids": torch.full((4, width), number),
            "completion_mask": torch.ones(4, width),
            "advantages": torch.tensor([1.0, -1.0, 2.0, -2.0]) * number,
            "num_items_in_batch": torch.tensor(0),
        }

    monkeypatch.setattr(GRPOTrainer, "_generate_and_score_completions", generate)
    batch = trainer._generate_and_score_completions([{"task": 0}, {"task": 0}, {"task": 1}, {"task": 1}])
    assert batch["advantages"].tolist() == pytest.approx(advantages, abs=1e-3)
    assert batch["prompt_ids"].tolist() == [[9, 1], [9, 1], [2, 2], [2, 2]]  # padded on the left
    assert batch["completion_ids"][0].tolist() == [1, 1, 1, 9, 9]  # and on the right
    assert batch["num_items_in_batch"] == 2 * 3 + 2 * 5
    assert asked[1][0] == asked[1][1] != asked[1][2]  # whole groups of other prompts
    assert trainer._metrics["train"] == {
        "dynamic/rounds": [2],
        "dynamic/extra_rollouts": [4],
        "dynamic/unfilled_groups": [0],
    }


def test_dynamic_sampling_gives_up_after_its_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    from trl import GRPOTrainer

    from lydite.training.trl.grpo import Trainer

    trainer = Trainer.__new__(Trainer)
    trainer.column = SimpleNamespace(contrast=[False], rewards=[0.0, 0.0])  # type: ignore[assignment]
    trainer.scale_rewards = "group"
    trainer.num_generations, trainer.max_rounds, trainer.spare_seed = 2, 3, "0/0"
    trainer.model = SimpleNamespace(training=True)
    trainer.state = SimpleNamespace(global_step=0)
    trainer.train_dataset = [{"task": 0}]
    trainer._metrics = {
        "train": {name: [] for name in ("dynamic/rounds", "dynamic/extra_rollouts", "dynamic/unfilled_groups")}
    }
    trainer._tokenizer = SimpleNamespace(pad_token_id=9)
    trainer.accelerator = SimpleNamespace(gather=lambda value: value)
    batch = {"completion_mask": torch.ones(2, 3), "advantages": torch.zeros(2)}
    monkeypatch.setattr(GRPOTrainer, "_generate_and_score_completions", lambda self, inputs: batch)
    assert trainer._generate_and_score_completions([{"task": 0}] * 2)["advantages"].tolist() == [0.0, 0.0]
    assert trainer._metrics["train"]["dynamic/rounds"] == [3]
    assert trainer._metrics["train"]["dynamic/unfilled_groups"] == [1]


def test_the_schedule_is_one_permutation_after_another() -> None:
    from lydite.training.trl.grpo import schedule

    order = schedule(5, 12, "0/0")
    assert sorted(order[:5]) == sorted(order[5:10]) == [0, 1, 2, 3, 4]
    assert order == schedule(5, 12, "0/0") != schedule(5, 12, "1/0")
    assert order[:7] == schedule(5, 7, "0/0")  # a longer stage begins as a shorter one does


def composed(score: float | None, reward: float | None, scheme: str, **parts: float | None) -> Graded:
    outcome = Outcome.INVALID if score is None else Outcome.CORRECT if score == 1 else Outcome.PARTIAL
    verdict = Verdict(
        outcome=outcome,
        score=score,
        reason=outcome,
        extracted="1",
        parts=tuple(Part(name=name, score=value, reason="x") for name, value in parts.items()),
        verifier="weighted@1(math@1,format@1)",
    )
    rollout = Rollout(
        id="a", task="a", task_digest="0" * 64, phase="train-0-1", index=0, policy="p", prompt=(), completion=()
    )
    return Graded(rollout=rollout, verdict=verdict, reward=reward, scheme=scheme)


def test_what_makes_up_a_reward_is_measured_part_by_part() -> None:
    from lydite.training.trl.reward_metrics import part_metrics

    scheme = "fractional+format=0+flagged=keep"
    graded = [
        composed(0.5, 0.5, scheme, answer=0.0, format=1.0),
        composed(1.0, 1.0, scheme, answer=1.0, format=1.0),
        composed(None, None, scheme, answer=None, format=None),
    ]
    metrics = part_metrics(graded)
    assert (metrics["parts/answer"], metrics["parts/format"]) == (0.5, 1.0)
    total = sum(metrics[f"reward_parts/{name}"] for name in ("correctness", "form", "length"))
    assert total == pytest.approx(0.75)
    assert metrics["reward_parts/form"] > metrics["reward_parts/correctness"] > 0
    assert part_metrics([composed(1.0, 1.0, "asymmetric+control=random", answer=1.0)]) == {}

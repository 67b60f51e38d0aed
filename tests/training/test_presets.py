"""The GRPO family through TRL's own loss: values from the papers' formulas on tensors that one can check by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lydite.training.presets import PRESETS, has_contrast, overlong_penalty
from lydite.training.recipe import Overlong
from lydite.training.recipe_io import parse_recipe

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.train

Loss = Callable[..., tuple[float, list[list[float]]]]


@pytest.fixture
def loss(tiny: Path, tmp_path: Path) -> Callable[[str], Loss]:
    """For a loss name: a function from ratios, advantages and lengths to (loss, gradient of the log-probabilities)."""
    from lydite.training.trl.config import grpo_config
    from lydite.training.trl.grpo import Trainer

    def prepare(name: str) -> Loss:
        from datasets import Dataset
        from transformers import AutoModelForCausalLM, AutoTokenizer

        stage = {"kind": "grpo", "steps": 1, "loss": name, "max_completion_length": 10, "num_generations": 2}
        recipe = parse_recipe({"policy": "x", "tasks": {"train": "x"}, "stages": [{**stage, "prompts_per_step": 1}]})
        trainer = Trainer(
            model=AutoModelForCausalLM.from_pretrained(tiny),
            reward_funcs=[lambda **_: [0.0]],
            args=grpo_config(recipe, 0, tmp_path),
            train_dataset=Dataset.from_list([{"prompt": [{"role": "user", "content": "a"}]}]),
            processing_class=AutoTokenizer.from_pretrained(tiny),
        )
        trainer.current_gradient_accumulation_steps = 1
        trainer.model.train()

        def compute(
            ratios: list[list[float]], advantages: list[float], lengths: list[int] | None = None
        ) -> tuple[float, list[list[float]]]:
            logp = torch.log(torch.tensor(ratios)).requires_grad_()
            width = logp.shape[1]
            sizes = torch.tensor(lengths or [width] * len(ratios))
            mask = (torch.arange(width) < sizes.unsqueeze(1)).int()
            trainer._get_per_token_logps_and_entropies = lambda *_, **__: (logp, torch.zeros_like(logp), None)
            inputs = {
                "prompt_ids": torch.zeros(len(ratios), 1, dtype=torch.long),
                "prompt_mask": torch.ones(len(ratios), 1, dtype=torch.long),
                "completion_ids": torch.zeros_like(mask),
                "completion_mask": mask,
                "advantages": torch.tensor(advantages),
                "old_per_token_logps": torch.zeros_like(logp),
                "num_items_in_batch": mask.sum(),
            }
            value = trainer._compute_loss(trainer.model, inputs)
            value.backward()
            assert logp.grad is not None
            return value.item(), logp.grad.tolist()

        return compute

    return prepare


@pytest.mark.parametrize(("name", "expected"), [("grpo", 0.0), ("dapo", 0.6), ("dr_grpo", 0.3)])
def test_how_a_long_wrong_answer_weighs_against_a_short_right_one(
    loss: Callable[[str], Loss], name: str, expected: float
) -> None:
    # Lengths 2 and 8, L = 10: token weights 1/4 and 1/16 (GRPO), 1/10 (DAPO), 1/20 (Dr. GRPO).
    value, gradient = loss(name)([[1.0] * 8] * 2, [1.0, -1.0], [2, 8])
    assert value == pytest.approx(expected, abs=1e-6)
    weights = {"grpo": (1 / 4, 1 / 16), "dapo": (1 / 10, 1 / 10), "dr_grpo": (1 / 20, 1 / 20)}[name]
    assert (-gradient[0][0], gradient[1][0]) == pytest.approx(weights)
    assert gradient[0][2:] == [0.0] * 6  # masked tokens have no gradient


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_padding_changes_nothing(loss: Callable[[str], Loss], name: str) -> None:
    compute = loss(name)
    narrow, _ = compute([[1.1] * 4] * 2, [1.0, -1.0], [2, 4])
    wide, _ = compute([[1.1] * 9] * 2, [1.0, -1.0], [2, 4])
    assert wide == pytest.approx(narrow, abs=1e-6)


@pytest.mark.parametrize(
    ("ratio", "advantage", "objective"), [(1.25, 1.0, 1.25), (1.35, 1.0, 1.28), (0.7, -1.0, -0.8), (1.35, -1.0, -1.35)]
)
def test_dapo_clips_higher(loss: Callable[[str], Loss], ratio: float, advantage: float, objective: float) -> None:
    assert loss("dapo")([[ratio]], [advantage])[0] == pytest.approx(-objective, abs=1e-5)


def test_grpo_clips_at_both_sides_alike(loss: Callable[[str], Loss]) -> None:
    assert loss("grpo")([[1.25]], [1.0])[0] == pytest.approx(-1.2, abs=1e-5)


def test_gspo_has_one_ratio_a_sequence_and_clips_it_tightly(loss: Callable[[str], Loss]) -> None:
    compute = loss("gspo")
    ratios = [[1.221403, 0.904837, 1.051271, 1.051271]]  # log-ratios 0.2, -0.1, 0.05, 0.05: their mean is 0.05
    assert compute(ratios, [-1.0])[0] == pytest.approx(1.051271, abs=1e-5)  # not clipped on this side
    assert compute(ratios, [1.0])[0] == pytest.approx(-1.0004, abs=1e-5)
    assert compute([ratios[0] * 2], [-1.0])[0] == pytest.approx(1.051271, abs=1e-5)  # twice the length, the same mean


def test_gspo_on_policy_has_the_gradient_of_grpo(loss: Callable[[str], Loss]) -> None:
    arguments = ([[1.0] * 8] * 2, [1.0, -1.0], [2, 8])
    _, ours = loss("gspo")(*arguments)
    _, theirs = loss("grpo")(*arguments)
    assert torch.allclose(torch.tensor(ours), torch.tensor(theirs))


@pytest.mark.parametrize(
    ("ratio", "advantage", "weight"),
    [
        (1.0, 1.0, 1.0),
        (1.0, -1.0, 1.0),
        (1.5, 1.0, 0.940015),
        (1.5, -1.0, 0.934140),
        (2.0, 1.0, 0.786448),
        (2.0, -1.0, 0.768110),
    ],
)
def test_sapo_fades_the_gradient_instead_of_cutting_it(
    loss: Callable[[str], Loss], ratio: float, advantage: float, weight: float
) -> None:
    _, gradient = loss("sapo")([[ratio]], [advantage])
    assert gradient[0][0] == pytest.approx(-weight * ratio * advantage, abs=1e-4)


@pytest.mark.parametrize(("ratio", "weight"), [(0.5, 0.5), (3.0, 3.0), (7.0, 5.0)])
def test_cispo_caps_the_weight_and_keeps_the_gradient(loss: Callable[[str], Loss], ratio: float, weight: float) -> None:
    _, gradient = loss("cispo")([[ratio]], [1.0])
    assert gradient[0][0] == pytest.approx(-weight, abs=1e-5)


@pytest.mark.parametrize(("length", "penalty"), [(16384, 0.0), (18432, -0.5), (20480, -1.0), (20481, -1.0)])
def test_overlong_answers_pay_more_the_longer_they_are(length: int, penalty: float) -> None:
    assert overlong_penalty(length, Overlong(max_length=20480, buffer=4096), 0) == pytest.approx(penalty)


def test_without_shaping_length_costs_nothing() -> None:
    assert overlong_penalty(10**6, None, 100) == 0.0


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        ([1.0, -0.1], True),
        ([1.0, 1.0], False),
        ([None, None], False),
        ([None, 1.0], False),
        ([None, 1.0, 0.0], True),
        ([], False),
    ],
)
def test_which_groups_can_teach(rewards: list[float | None], expected: bool) -> None:
    assert has_contrast(rewards) is expected

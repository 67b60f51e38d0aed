"""The recipe of the run in docs/results/smollm2.md: it can be carried out as it stands, here by a smaller policy."""

from __future__ import annotations

from pathlib import Path

import pytest

from lydite.training import load_recipe, train

pytest.importorskip("trl")
pytestmark = pytest.mark.train

RECIPE = Path(__file__).resolve().parents[2] / "examples" / "smollm2.yaml"
SMALL = [
    "tasks.train.n=20",
    "evaluation={n: 2, k: [1], limit: 2, max_tokens: 8}",
    "stages.0.steps=1",
    "stages.1.optimizer_steps=1",
    "stages.1.max_completion_length=8",
]


def test_all_of_it_in_two_steps(tiny: Path, tmp_path: Path) -> None:
    assert load_recipe(RECIPE).policy == "smollm2"
    result = train(load_recipe(RECIPE, [f"policy=hf:{tiny}", *SMALL]), tmp_path / "run")
    assert [stage.kind for stage in result.between] == ["sft"]
    assert result.paired is not None
    assert result.paired.tasks == 2
    assert result.groups.all_wrong + result.groups.mixed + result.groups.all_correct == 4

"""Which checkpoints of a stage stay, and from which training goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from lydite.errors import InputError
from lydite.training.recipe_io import dump_recipe, parse_recipe

pytest.importorskip("trl")

from lydite.training.trl.callbacks import keep_checkpoints, last_checkpoint, strip
from lydite.training.trl.config import kept_while_training

WEIGHTS = {"adapter_model.safetensors", "adapter_config.json", "tokenizer.json", "trainer_state.json"}
STATE = {"README.md", "optimizer.pt", "scheduler.pt", "rng_state.pth", "training_args.bin"}


def checkpoint(folder: Path, step: int, *, whole: bool = True) -> Path:
    path = folder / f"checkpoint-{step}"
    path.mkdir()
    for name in (*WEIGHTS, *STATE, *(["complete"] if whole else [])):
        (path / name).touch()
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(("keep", "left"), [(None, []), (2, [9, 10]), (9, [8, 9, 10]), ("all", [8, 9, 10])])
def test_the_newest_stay_when_a_stage_is_over(tmp_path: Path, keep: Any, left: list[int]) -> None:
    for step in (8, 9, 10):
        checkpoint(tmp_path, step)
    checkpoint(tmp_path, 11, whole=False)
    keep_checkpoints(tmp_path, keep)
    assert names(tmp_path) == sorted(f"checkpoint-{step}" for step in left)
    for step in left:
        assert {*names(tmp_path / f"checkpoint-{step}")} == WEIGHTS | {"complete", "weights-only"}


def test_training_goes_on_from_a_checkpoint_that_has_all_it_needs(tmp_path: Path) -> None:
    older, newer = checkpoint(tmp_path, 2), checkpoint(tmp_path, 10)
    strip(older)
    assert last_checkpoint(tmp_path) == newer
    strip(newer)
    assert last_checkpoint(tmp_path) is None


def test_a_recipe_that_keeps_none_is_written_as_before(document: dict[str, Any]) -> None:
    assert "keep_checkpoints" not in dump_recipe(parse_recipe(document))
    for keep, held in (("all", None), (5, 5), (1, 2)):
        document["stages"][0]["keep_checkpoints"] = keep
        recipe = parse_recipe(document)
        assert parse_recipe(yaml.safe_load(dump_recipe(recipe))) == recipe
        assert kept_while_training(recipe.stages[0]) == held  # type: ignore[arg-type]
    document["stages"][0]["keep_checkpoints"] = 0
    with pytest.raises(InputError, match="must be 'all' or at least 1, not 0"):
        parse_recipe(document)

"""Engines that generate: which one runs here, and what is said of the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tiny_llama import grpo

from lydite.errors import InputError
from lydite.training import parse_recipe, train
from lydite.training.engines import choose_engine, engine_fields

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.train, pytest.mark.skipif(torch.cuda.is_available(), reason="of machines without a GPU")]


def test_auto_says_why() -> None:
    engine = choose_engine("auto")
    assert engine.name == "plain"
    assert "CUDA" in engine.why


@pytest.mark.parametrize("name", ["vllm", "continuous_batching"])
def test_an_engine_that_cannot_run_is_an_error_before_anything_is_written(
    document: dict[str, Any], tmp_path: Path, name: str
) -> None:
    document["policy"] = "hf:nowhere"  # never looked at
    document["stages"] = [grpo(generation_engine=name)]
    with pytest.raises(InputError, match=f"stages.0.generation_engine: {name} cannot run here"):
        train(parse_recipe(document), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_fields_of_trl() -> None:
    from trl import GRPOConfig

    for name in ("plain", "vllm", "continuous_batching"):
        assert set(engine_fields(name)) <= set(GRPOConfig.__dataclass_fields__)

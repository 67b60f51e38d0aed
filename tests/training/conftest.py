"""Fixtures of the training tests: a very small policy, tasks, and a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tiny_llama import grpo, make_model, make_tokenizer, task_document


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the model and its tokenizer."""
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("policy") / "tiny"
    tokenizer = make_tokenizer()
    make_model(tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def task_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Training tasks and held-out tasks."""
    import json

    folder = tmp_path_factory.mktemp("tasks")
    files = folder / "train.jsonl", folder / "eval.jsonl"
    for file, numbers in zip(files, (range(10, 50), range(50, 58)), strict=True):
        file.write_text("".join(json.dumps(task_document(number)) + "\n" for number in numbers))
    return files


@pytest.fixture
def document(tiny: Path, task_files: tuple[Path, Path]) -> dict[str, Any]:
    """A recipe as plain values: two steps of GRPO."""
    return {
        "name": "test",
        "seed": 1,
        "policy": f"hf:{tiny}",
        "tasks": {"train": str(task_files[0]), "eval": str(task_files[1])},
        "lora": {"r": 4, "alpha": 8},
        "evaluation": {"n": 2, "k": [1, 2], "max_tokens": 12},
        "stages": [grpo()],
    }

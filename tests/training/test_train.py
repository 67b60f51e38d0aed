"""Recipes carried out on a real, very small model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lydite.errors import InputError, MissingExtraError
from lydite.ledger import RunFolder, State, verify_run
from lydite.training import Progress, parse_recipe, train

pytest.importorskip("trl")
pytestmark = pytest.mark.train


def metrics(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def test_grpo_end_to_end(document: dict[str, Any], tiny: Path, tmp_path: Path) -> None:
    seen: list[Progress] = []
    result = train(parse_recipe(document), tmp_path / "run", progress=seen.append)
    run = tmp_path / "run"

    with RunFolder.open(run) as folder:
        rows = list(folder.rows())
        assert folder.info.state is State.COMPLETE
    assert verify_run(run).problem is None
    phases = [row.rollout.phase for row in rows]
    assert {phase: phases.count(phase) for phase in phases} == {
        "before": 16,
        "train-0-1": 16,
        "train-0-2": 16,
        "after": 16,
    }
    assert [line["step"] for line in metrics(run)] == [1, 2]
    names = {"reward", "pass_rate", "invalid_rate", "suspected_hack_rate", "groups/mixed", "frac_reward_zero_std"}
    assert names | {"entropy", "completions/mean_length", "completions/clipped_ratio"} <= set(metrics(run)[0])
    assert not [name for name in metrics(run)[0] if name.startswith(("parts/", "reward_parts/", "tools/", "rewards/"))]
    assert [part.part for part in seen if part.done == part.total] == ["before", "0 grpo", "after"]

    assert result.before is not None
    assert result.after is not None
    assert result.after.policies != result.before.policies
    assert result.groups.total == 8
    assert (run / "report.md").is_file()
    assert "not complete" not in (run / "report.md").read_text()
    card = (run / "adapter" / "README.md").read_text()
    assert "pass@2" in card
    assert "math@" in card
    written = card + (run / "adapter" / "adapter_config.json").read_text()
    assert str(tiny.parent) not in written  # no path of this machine travels with the adapter

    from lydite.policies.hf import open_hf

    assert open_hf(f"hf:{tiny}+{run / 'adapter'}").id  # the result is a policy again


def test_the_same_recipe_gives_the_same_weights(document: dict[str, Any], tmp_path: Path) -> None:
    document["evaluation"] = None
    for name in ("a", "b"):
        train(parse_recipe(document), tmp_path / name)
    first, second = ((tmp_path / name / "adapter" / "adapter_model.safetensors").read_bytes() for name in ("a", "b"))
    assert first == second


def test_all_stages_in_one_run(document: dict[str, Any], tmp_path: Path) -> None:
    from tiny_llama import grpo

    document["evaluation"] = None
    document["stages"] = [
        {"kind": "sft", "from": "solutions", "steps": 2, "learning_rate": 1e-3},
        {"kind": "sample", "n": 4, "limit": 12, "max_tokens": 12},
        {"kind": "sft", "from": "run", "epochs": 1, "batch_size": 16, "learning_rate": 1e-3},
        {"kind": "dpo", "steps": 2, "learning_rate": 1e-3},
        grpo(loss="dapo", beta=0.01, micro_batch=8, overlong={"buffer": 4}),
    ]
    result = train(parse_recipe(document), tmp_path / "run")
    assert verify_run(tmp_path / "run").problem is None
    lines = metrics(tmp_path / "run")
    assert [line["kind"] for line in lines[:2]] == ["sft", "sft"]
    assert {line["kind"] for line in lines} == {"sft", "dpo", "grpo"}
    pairs = (tmp_path / "run" / "preferences.jsonl").read_text().splitlines()
    assert result.preference_pairs == len(pairs)
    assert result.preference_pairs > 0
    assert all({"kl", "dynamic/rounds"} <= set(line) for line in lines if line["kind"] == "grpo")


def test_full_fine_tuning_writes_a_model(document: dict[str, Any], tiny: Path, tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM

    document |= {"evaluation": None, "lora": None}
    document["stages"] = [
        {"kind": "sft", "from": "solutions", "steps": 1, "learning_rate": 1e-3},
        {**document["stages"][0], "steps": 1, "beta": 0.01},
    ]
    train(parse_recipe(document), tmp_path / "run")
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "run" / "model")
    before = AutoModelForCausalLM.from_pretrained(tiny)
    assert (model.lm_head.weight != before.lm_head.weight).any()
    assert str(tmp_path) not in (tmp_path / "run" / "model" / "config.json").read_text()


def test_an_adapter_is_trained_further(document: dict[str, Any], tiny: Path, tmp_path: Path) -> None:
    document["evaluation"] = None
    train(parse_recipe(document), tmp_path / "first")
    again = {**document, "policy": f"hf:{tiny}+{tmp_path / 'first' / 'adapter'}"}
    with pytest.raises(InputError, match="has r 4, the recipe asks for 8"):
        train(parse_recipe({**again, "lora": {"r": 8}}), tmp_path / "refused")
    del again["lora"]
    train(parse_recipe(again), tmp_path / "second")
    config = json.loads((tmp_path / "second" / "adapter" / "adapter_config.json").read_text())
    assert config["r"] == 4


def test_a_model_without_chat_template_needs_plain_prompts(
    document: dict[str, Any], tiny: Path, tmp_path: Path
) -> None:
    import shutil

    bare = tmp_path / "bare"
    shutil.copytree(tiny, bare)
    (bare / "chat_template.jinja").unlink()
    document |= {"policy": f"hf:{bare}", "evaluation": None}
    with pytest.raises(InputError, match=r"plain=1"):
        train(parse_recipe(document), tmp_path / "refused")
    document["policy"] += "?plain=1"
    train(parse_recipe(document), tmp_path / "run")
    with RunFolder.open(tmp_path / "run") as folder:
        assert next(folder.rows()).rollout.policy.startswith(f"{document['policy']}@")


@pytest.mark.parametrize(
    ("trl", "words"),
    [
        ({"num_iteration": 2}, "did you mean num_iterations?"),
        ({"learning_rate": 1.0}, "set by the recipe itself"),
        ({"vllm_importance_sampling_clip_min": 9.0}, "TRL refuses"),
    ],
)
def test_fields_for_trl_are_checked_before_anything_runs(
    document: dict[str, Any], tmp_path: Path, trl: dict[str, Any], words: str
) -> None:
    document["stages"][0]["trl"] = trl
    with pytest.raises(InputError) as caught:
        train(parse_recipe(document), tmp_path / "run")
    assert words in str(caught.value)
    assert "stages.0" in str(caught.value.field)
    assert not (tmp_path / "run").exists()


def test_batch_scaling_is_trl_s_own_where_nothing_is_sampled_again() -> None:
    import torch
    from trl.trainer.utils import nanstd

    from lydite.training.trl.grpo import scaled_by_batch

    rewards = torch.tensor([1.0, -0.1, -0.1, torch.nan, 1.0, 1.0, 0.3, -0.1])
    means = torch.nanmean(rewards.view(-1, 4), dim=1).repeat_interleave(4)
    expected = torch.nan_to_num((rewards - means) / (nanstd(rewards) + 1e-4), nan=0.0)
    assert torch.allclose(scaled_by_batch(rewards, 4), expected, atol=1e-6)


def test_an_unknown_reporter_is_an_error(document: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="report_to"):
        train(parse_recipe({**document, "report_to": ["nowhere"]}), tmp_path / "run")


def test_a_folder_with_a_run_is_left_alone(document: dict[str, Any], tmp_path: Path) -> None:
    document["evaluation"] = None
    first = train(parse_recipe(document), tmp_path / "run")
    with pytest.raises(InputError, match="--resume"):
        train(parse_recipe(document), tmp_path / "run")
    with pytest.raises(InputError):
        train(parse_recipe({**document, "seed": 2}), tmp_path / "run", resume=True)
    with pytest.raises(InputError, match="no run to resume"):
        train(parse_recipe(document), tmp_path / "elsewhere", resume=True)
    assert train(parse_recipe(document), tmp_path / "run", resume=True).head == first.head


def test_missing_libraries_are_named_before_anything_else(
    document: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "trl" else find(name, *rest))
    with pytest.raises(MissingExtraError, match=r"pip install 'lydite\[train\]'"):
        train(parse_recipe(document), tmp_path / "run")
    assert not (tmp_path / "run").exists()

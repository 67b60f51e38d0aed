"""What verl's own reward managers make of a shim: run by an interpreter that has verl, prints JSON.

python verl_driver.py PART SHIM.py
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from omegaconf import OmegaConf
from tensordict import TensorDict
from verl import DataProto

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "training"))
from tiny_llama import make_tokenizer

WIDTH = 160
CODE = {"type": "code", "config": {"entry_point": "f", "tests": [{"call": "f", "args": [1], "expected": 2}]}}
SAMPLES: list[tuple[str, str, dict[str, Any]]] = [
    ("2 and 3 is \\boxed{5}", "5", {"index": 0}),
    ("2 and 3 is \\boxed{6}", "5", {"index": 1, "checker": None}),
    ("2 and 3 is \\boxed{5}", "", {"index": 2}),  # no gold: a fault
    ("", "5", {"index": 3}),
    ("```python\ndef f(x):\n    return x + 1\n```", "none", {"index": 4, "checker": json.dumps(CODE)}),
]
TOKENIZER = make_tokenizer()


def _row(text: str, left: bool) -> tuple[list[int], list[int]]:
    ids = TOKENIZER(text)["input_ids"] or [TOKENIZER.eos_token_id]
    padding = WIDTH - len(ids)
    ones, zeros = [1] * len(ids), [0] * padding
    filled = [TOKENIZER.pad_token_id] * padding
    return (filled + ids, zeros + ones) if left else (ids + filled, ones + zeros)


def batch() -> DataProto:
    prompts = [_row("2 + 3?", True) for _ in SAMPLES]
    responses = [_row(text, False) for text, _, _ in SAMPLES]
    pairs = zip(prompts, responses, strict=True)
    tensors = {
        "prompts": torch.tensor([ids for ids, _ in prompts]),
        "responses": torch.tensor([ids for ids, _ in responses]),
        "attention_mask": torch.tensor([asked + said for (_, asked), (_, said) in pairs]),
    }
    others = {
        "data_source": ["sums"] * len(SAMPLES),
        "reward_model": [{"style": "rule", "ground_truth": gold} for _, gold, _ in SAMPLES],
        "extra_info": [dict(info) for _, _, info in SAMPLES],
    }
    arrays = {}
    for name, values in others.items():
        arrays[name] = np.empty(len(values), dtype=object)
        arrays[name][:] = values
    return DataProto(batch=TensorDict(tensors, batch_size=len(SAMPLES)), non_tensor_batch=arrays)


def config(shim: str, manager: str, function: str) -> Any:
    reward = {
        "custom_reward_function": {"path": shim, "name": function},
        "reward_manager": {"source": "register", "name": manager},
        "num_workers": 1,
    }
    return OmegaConf.create({"reward": reward, "trainer": {"experiment_name": "test"}})


def workers(shim: str) -> dict[str, Any]:
    """The managers of ``verl.workers``."""
    from verl.utils.import_utils import load_extern_object
    from verl.workers.reward_manager import get_reward_manager_cls

    found = {}
    for manager, function in (
        ("naive", "compute_score"),
        ("dapo", "compute_score"),
        ("batch", "compute_score_batch"),
        ("prime", "compute_score_only"),
    ):
        made = get_reward_manager_cls(manager)(
            tokenizer=TOKENIZER, num_examine=0, compute_score=load_extern_object(shim, function)
        )
        said = made(batch(), return_dict=True)
        found[manager] = {
            "scores": said["reward_tensor"].sum(-1).tolist(),
            "extra": {key: list(values) for key, values in said.get("reward_extra_info", {}).items()},
        }
    return found


def _run_loop(shim: str, manager: str, function: str) -> dict[str, Any]:
    from verl.trainer.ppo.reward import load_reward_manager

    async def run() -> tuple[Any, list[dict[str, Any]]]:
        made = load_reward_manager(config(shim, manager, function), TOKENIZER)
        data = batch()
        return made, await asyncio.gather(*[made.run_single(data[i : i + 1]) for i in range(len(data))])

    made, outputs = asyncio.run(run())
    infos = [output["reward_extra_info"] for output in outputs]
    tensor = made.assemble_rm_scores(batch(), [output["reward_score"] for output in outputs])
    arrays = {key: np.array([info[key] for info in infos]) for key in infos[0]}  # as RewardLoopManager does
    return {
        "scores": tensor.sum(-1).tolist(),
        "extra": {key: array.tolist() for key, array in arrays.items()},
        "keys": [sorted(info) for info in infos],
        "kinds": {key: array.dtype.kind for key, array in arrays.items()},
    }


def loop(shim: str) -> dict[str, Any]:
    """The managers of the reward loop, through verl's own loading of the shim."""
    calls = [(manager, function) for manager in ("naive", "dapo", "gdpo") for function in _SINGLE]
    # The rate limiter holds a semaphore of one event loop for the life of the process.
    return {f"{manager}:{function}": _run_loop(shim, manager, function) for manager, function in calls} | {
        "rate_limited:compute_score": _run_loop(shim, "rate_limited", "compute_score")
    }


_SINGLE = ("compute_score", "compute_score_async")


def remote(shim: str) -> dict[str, Any]:
    """The manager that sends the function to another process, by Ray."""
    import ray

    with tempfile.TemporaryDirectory(prefix="ray") as folder:  # a short path: Ray's sockets lie in it
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False, _temp_dir=folder)
        try:
            return {"remote:compute_score": _run_loop(shim, "remote", "compute_score")}
        finally:
            ray.shutdown()


def advantages(shim: str) -> dict[str, Any]:
    """verl's advantages of groups, with its estimator and with ours (VERL_USE_EXTERNAL_MODULES registers it)."""
    from verl.trainer.config import AlgoConfig
    from verl.trainer.ppo.ray_trainer import compute_advantage

    nan = float("nan")
    cases = {
        "known": [1.0, -0.1, -0.1, 1.0, 0.5, -0.1],
        "faults": [1.0, -0.1, nan, 1.0, nan, nan],
        "all": [nan] * 6,
    }
    mask = torch.tensor([[1, 1, 0, 0], [1, 1, 1, 1]] * 3)
    found: dict[str, Any] = {}
    for name, scores in cases.items():
        for estimator in ("grpo", "lydite_grpo"):
            for scaled in (True, False):
                rewards = torch.zeros(6, 4)
                rewards[torch.arange(6), mask.sum(1) - 1] = torch.tensor(scores)
                data = DataProto(
                    batch=TensorDict({"token_level_rewards": rewards, "response_mask": mask}, batch_size=6),
                    non_tensor_batch={"uid": np.array(["a", "a", "a", "b", "b", "b"], dtype=object)},
                )
                algorithm = AlgoConfig(adv_estimator=estimator, norm_adv_by_std_in_grpo=scaled)
                done = compute_advantage(
                    data, adv_estimator=estimator, norm_adv_by_std_in_grpo=scaled, config=algorithm
                )
                found[f"{name}:{estimator}:{scaled}"] = done.batch["advantages"].tolist()
    return found


def validation(shim: str) -> dict[str, Any]:
    """verl's validation metrics of a batch."""
    from verl.trainer.ppo.metric_utils import process_validation_metrics

    extra = _run_loop(shim, "naive", "compute_score")["extra"]
    metrics = process_validation_metrics(["sums"] * len(SAMPLES), ["one"] * len(SAMPLES), extra)["sums"]
    return {name: dict(values) for name, values in metrics.items()}


if __name__ == "__main__":
    parts = {"workers": workers, "loop": loop, "remote": remote, "advantages": advantages, "validation": validation}
    print("RESULT " + json.dumps(parts[sys.argv[1]](sys.argv[2])))

"""The GRPO family: every flag that a paper needs, in TRL's words, and what TRL itself cannot do.

| loss | paper | what it changes |
|---|---|---|
| ``grpo`` | 2402.03300 | per-token clipped ratio, mean over tokens then over sequences; group mean and std |
| ``dr_grpo`` | 2503.20783 | no division by std; token losses are summed and divided by a constant |
| ``dapo`` | 2503.14476 | clip-higher 0.2 / 0.28, mean over all tokens, no KL, dynamic sampling, overlong punishment |
| ``gspo`` | 2507.18071 | one ratio per sequence (the geometric mean of its tokens'), clipped to 3e-4 / 4e-4 |
| ``sapo`` | 2511.20347 | a sigmoid gate instead of the clip, colder for negative advantages (1.05 against 1.0) |
| ``cispo`` | 2506.13585 | the clipped ratio is a detached weight on the log-probability: no token loses its gradient |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from lydite.training.recipe import GrpoStage, LossName, Overlong


@dataclass(frozen=True)
class LossPreset:
    """What one loss sets.

    Attributes:
        flags: fields of ``trl.GRPOConfig``.
        dynamic_sampling: whether groups without contrast are sampled again. TRL has no
            such thing: ``training/trl/grpo`` adds it.
        limits: what this implementation leaves out or does otherwise than the paper; shown in the model card.
    """

    flags: dict[str, Any] = field(default_factory=dict)
    dynamic_sampling: bool = False
    limits: tuple[str, ...] = ()


_ON_POLICY = (
    "with one optimizer step per batch of completions every ratio is 1 and no clip acts; set trl.num_iterations above 1"
    " to go off-policy"
)

PRESETS: dict[LossName, LossPreset] = {
    "grpo": LossPreset(
        {
            "loss_type": "grpo",
            "scale_rewards": "group",
            "importance_sampling_level": "token",
            "epsilon": 0.2,
            "beta": 0.0,
        },
        limits=(_ON_POLICY, "the paper's KL term (beta 0.04) is off: set beta to have it"),
    ),
    "dr_grpo": LossPreset(
        {
            "loss_type": "dr_grpo",
            "scale_rewards": "none",
            "importance_sampling_level": "token",
            "epsilon": 0.2,
            "beta": 0.0,
        },
        limits=(_ON_POLICY,),
    ),
    "dapo": LossPreset(
        {
            "loss_type": "dapo",
            "scale_rewards": "batch",
            "importance_sampling_level": "token",
            "epsilon": 0.2,
            "epsilon_high": 0.28,
            "beta": 0.0,
        },
        dynamic_sampling=True,
        limits=(
            _ON_POLICY,
            "advantages are divided by the standard deviation of the batch (arXiv 2508.08221); the paper's own is"
            " that of the group: set scale_rewards: group",
            "TRL has neither dynamic sampling nor overlong punishment; both are added here. Dynamic sampling stops"
            " after max_rounds and then keeps groups without contrast. The punishment needs `overlong`",
        ),
    ),
    "gspo": LossPreset(
        {
            "loss_type": "grpo",
            "scale_rewards": "group",
            "importance_sampling_level": "sequence",
            "epsilon": 3e-4,
            "epsilon_high": 4e-4,
            "beta": 0.0,
        },
        limits=(_ON_POLICY, "the token form GSPO-token, with advantages that differ within a sequence, is not in TRL"),
    ),
    "sapo": LossPreset(
        {
            "loss_type": "sapo",
            "scale_rewards": "group",
            "importance_sampling_level": "token",
            "sapo_temperature_pos": 1.0,
            "sapo_temperature_neg": 1.05,
            "beta": 0.0,
        },
        limits=(
            _ON_POLICY,
            "loss values are not comparable with GRPO's: the gate is not 1 at ratio 1, only its gradient is",
        ),
    ),
    "cispo": LossPreset(
        {
            "loss_type": "cispo",
            "scale_rewards": "group",
            "importance_sampling_level": "token",
            "epsilon_high": 5.0,
            "beta": 0.0,
        },
        limits=(
            _ON_POLICY,
            "TRL caps the weight at the absolute value epsilon_high (5.0, as ScaleRL) and has no lower bound; verl and"
            " Tinker clip to [1 - epsilon, 1 + epsilon_high]",
        ),
    ),
}


def loss_flags(stage: GrpoStage) -> dict[str, Any]:
    """The preset's TRL fields, with what the recipe says otherwise."""
    flags = dict(PRESETS[stage.loss_type].flags)
    if stage.scale_rewards is not None:
        flags["scale_rewards"] = stage.scale_rewards
    if stage.beta is not None:
        flags["beta"] = stage.beta
    return flags


def uses_dynamic_sampling(stage: GrpoStage) -> bool:
    """Whether this stage samples groups without contrast again."""
    return PRESETS[stage.loss_type].dynamic_sampling if stage.dynamic_sampling is None else stage.dynamic_sampling


def overlong_penalty(length: int, overlong: Overlong | None, max_completion_length: int) -> float:
    """What a completion of ``length`` tokens pays: soft overlong punishment (DAPO, arXiv 2503.14476, eq. 13), at most
    0.

    With L = ``max_length`` and C = ``buffer``: 0 up to L - C, ((L - C) - length) / C up to L, -1 beyond; times
    ``weight``.
    """
    if overlong is None:
        return 0.0
    limit = overlong.max_length or max_completion_length
    free = limit - overlong.buffer
    if length <= free:
        return 0.0
    return overlong.weight * (-1.0 if length > limit else (free - length) / overlong.buffer)


def has_contrast(rewards: Sequence[float | None], *, tolerance: float = 1e-6) -> bool:
    """Whether a group can teach: two samples that could be judged earned differently.

    Dynamic sampling asks this of the rewards before any length penalty: with the penalty inside, nearly every group
    would differ and nothing would be filtered.
    """
    known = [reward for reward in rewards if reward is not None]
    return bool(known) and max(known) - min(known) > tolerance

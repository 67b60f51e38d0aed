"""GRPO's advantages for verl, with samples that have no reward left out.

verl has no notion of a sample without a reward: whatever number stands in for it enters the mean and the standard
deviation of its group. The estimator ``lydite_grpo`` computes what verl's ``grpo`` does, over the samples of a group
whose score is a number; a sample whose score is NaN gets advantage 0, as does one that is alone in having a score.

Importing this module registers it with verl. verl imports it in every process when it is told to:

    VERL_USE_EXTERNAL_MODULES=lydite.exports.verl_grpo python -m verl.trainer.main_ppo algorithm.adv_estimator=lydite_grpo ...
"""  # noqa: E501  (the command is one line)

from __future__ import annotations

from collections import defaultdict
from typing import Any

from verl.trainer.ppo.core_algos import register_adv_est  # type: ignore[import-not-found]

NAME = "lydite_grpo"


@register_adv_est(NAME)  # type: ignore[untyped-decorator]
def masked_grpo(
    token_level_rewards: Any,
    response_mask: Any,
    index: Any,
    epsilon: float = 1e-6,
    norm_adv_by_std_in_grpo: bool | None = None,
    config: Any = None,
    **_others: Any,
) -> tuple[Any, Any]:
    """Advantages A = (r - mean) / (std + epsilon) over a group's samples that have a score (arXiv 2402.03300).

    Args:
        token_level_rewards: (B, T) tensor; the sum of a row is the sample's score, NaN where there is none.
        response_mask: (B, T) tensor, 1 for the tokens that the policy wrote.
        index: (B,) the group of each sample.
        epsilon: added to the standard deviation.
        norm_adv_by_std_in_grpo: divide by the standard deviation; default: what ``config`` says, else yes.
        config: verl's ``algorithm`` configuration.

    Returns:
        Advantages and returns, (B, T) each, and the same.
    """
    if norm_adv_by_std_in_grpo is None:
        norm_adv_by_std_in_grpo = getattr(config, "norm_adv_by_std_in_grpo", True)
    scores = token_level_rewards.detach().sum(dim=-1)
    known = ~scores.isnan()
    groups: dict[Any, list[int]] = defaultdict(list)
    for position, group in enumerate(index):
        groups[group].append(position)
    advantages = scores.new_zeros(scores.shape)
    for members in groups.values():
        kept = [position for position in members if known[position]]
        if len(members) == 1:  # as verl's grpo: nothing to compare with
            advantages[kept] = scores[kept] / (1 + epsilon if norm_adv_by_std_in_grpo else 1)
        elif len(kept) > 1:
            values = scores[kept]
            centred = values - values.mean()
            advantages[kept] = centred / (values.std() + epsilon) if norm_adv_by_std_in_grpo else centred
    spread = advantages.unsqueeze(-1) * response_mask
    return spread, spread

"""Small files that connect another trainer with Lydite: they hold the settings, the work is done here."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any

import msgspec

from lydite.errors import InputError
from lydite.exports.openrlhf import OpenRLHFReward
from lydite.exports.verl import VerlReward

VERL = '''"""Lydite's verdicts as verl's reward. Written by `lydite export shim verl`; settings may be changed by hand.

Arguments of verl.trainer.main_ppo:

    reward.custom_reward_function.path={path}
    reward.custom_reward_function.name=compute_score

A sample's checker is extra_info["checker"], as JSON text: {{"type": "math", "config": {{"answer": "56"}}}}.
{default}
Every sample's result has the same keys: score, acc, fault, outcome, reason, pred. `fault` is 1.0 where there is no
verdict by our own doing (a lost sandbox, an unusable gold).
{fault}
"""

from lydite.exports.verl import VerlReward

CHECKER = {checker}  # for samples that bring none

reward = VerlReward(CHECKER, scheme="{scheme}", on_fault="{on_fault}")

compute_score = reward.compute_score  # managers naive, dapo, gdpo, remote, rate_limited
compute_score_async = reward.compute_score_async  # the same, to be awaited
compute_score_batch = reward.compute_score_batch  # manager batch
compute_score_only = reward.compute_score_only  # manager prime: the number alone, NaN for a fault
'''

OPENRLHF = '''"""Lydite's verdicts as OpenRLHF's reward. Written by `lydite export shim openrlhf`; it may be changed.

    --reward.remote_url {path} --data.label_key LABEL

{default}
`extra_logs` has `fault`: 1.0 where there is no verdict by our own doing (an unusable gold).
{fault}
"""

from lydite.exports.openrlhf import OpenRLHFReward

CHECKER = {checker}  # None: every label is a checker

reward_func = OpenRLHFReward(CHECKER, scheme="{scheme}", on_fault="{on_fault}").reward_func
'''


class Trainer(StrEnum):
    """Whose trainer."""

    VERL = "verl"
    OPENRLHF = "openrlhf"


_KINDS: dict[Trainer, tuple[str, Any]] = {
    Trainer.VERL: (VERL, VerlReward),
    Trainer.OPENRLHF: (OPENRLHF, OpenRLHFReward),
}
_DEFAULTS = {
    Trainer.VERL: ("Where there is none, {0} judges, with ground_truth as its answer.", "There is no default checker."),
    Trainer.OPENRLHF: (
        "Labels are golds: {0} judges, with the label as its answer.",
        "Labels are checkers, as JSON text.",
    ),
}
_FAULTS = {
    "zero": "Such a sample scores 0.0 and enters its group's mean: docs/other-trainers.md says how to leave it out.",
    "nan": "Such a sample scores NaN: train with an advantage estimator that leaves NaN out (docs/other-trainers.md).",
    "raise": "Such a sample stops the run.",
}


def shim(
    trainer: str,
    *,
    checker: str | dict[str, Any] | None = None,
    scheme: str = "asymmetric",
    on_fault: str = "zero",
    path: str = "lydite_reward.py",
) -> str:
    """The text of the file for a trainer.

    Args:
        trainer: ``verl`` or ``openrlhf``.
        checker: the default: a verifier's name, or a checker whose answer is open.
        scheme: ``asymmetric``, ``binary`` or ``fractional``.
        on_fault: ``zero``, ``nan`` or ``raise``.
        path: where the file will be, for the words at its top.

    Raises:
        InputError: one of them means nothing.
    """
    try:
        kind = Trainer(trainer)
    except ValueError:
        remedy = f"one of {', '.join(Trainer)}"
        raise InputError(f"there is no shim for {trainer!r}", field="trainer", remedy=remedy) from None
    text, reward = _KINDS[kind]
    reward(checker, scheme=scheme, on_fault=on_fault)  # what it would refuse is refused here
    named, none = _DEFAULTS[kind]
    name = checker if isinstance(checker, str) else f"a checker of type {checker['type']}" if checker else ""
    return text.format(
        checker=json.dumps(checker) if isinstance(checker, str) else repr(checker),
        scheme=scheme,
        on_fault=on_fault,
        path=path.replace("\\", "/").replace('"', "'"),
        default=named.format(name) if checker else none,
        fault=_FAULTS[on_fault],
    )


def parse_checker(text: str | None) -> str | dict[str, Any] | None:
    """A checker from the command line: a verifier's name, or an object as JSON.

    Raises:
        InputError: JSON that is no object.
    """
    if text is None or not text.lstrip().startswith("{"):
        return text
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise InputError(f"not JSON: {error}", field="--checker") from None

"""Lydite: reinforcement learning with verifiable rewards, and rewards worth trusting.

The verdict comes first; everything else (sampling, training, evaluation, the page) is a consumer of verdicts.
Names are imported on first use, so that ``import lydite`` stays fast and works without torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from lydite._version import __version__

if TYPE_CHECKING:
    from lydite.errors import InputError as InputError
    from lydite.errors import LyditeError as LyditeError
    from lydite.flag import Flag as Flag
    from lydite.reward import RewardScheme as RewardScheme
    from lydite.rollout import Group as Group
    from lydite.rollout import Message as Message
    from lydite.rollout import Rollout as Rollout
    from lydite.task import Checker as Checker
    from lydite.task import Task as Task
    from lydite.tasksets import load_tasks as load_tasks
    from lydite.verdict import Outcome as Outcome
    from lydite.verdict import Verdict as Verdict
    from lydite.verifiers import verify as verify
    from lydite.verifiers import verify_many as verify_many

_HOMES = {
    "Checker": "lydite.task",
    "Flag": "lydite.flag",
    "Group": "lydite.rollout",
    "InputError": "lydite.errors",
    "LyditeError": "lydite.errors",
    "Message": "lydite.rollout",
    "Outcome": "lydite.verdict",
    "RewardScheme": "lydite.reward",
    "Rollout": "lydite.rollout",
    "Task": "lydite.task",
    "Verdict": "lydite.verdict",
    "load_tasks": "lydite.tasksets",
    "verify": "lydite.verifiers",
    "verify_many": "lydite.verifiers",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'lydite' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

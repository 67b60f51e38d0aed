"""The settings of a platform's training job: the keys of a ``grpo`` stage in camelCase, each within the job's range.

A value outside of its range is moved to the nearest end of it, and the job is told. What cannot be moved, an unknown
key, a word instead of a number, a package that is no name, is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import msgspec

from lydite.errors import InputError
from lydite.training.packages import check_packages
from lydite.training.recipe_stages import EngineName, LossName

HF_RATE = 2e-6
"""Largest learning rate of a job on an ``hf`` model."""
DEFAULT_RATE = 1e-6

# camelCase name: field of a stage, default, least, most
_NUMBERS: dict[str, tuple[str, float, float, float]] = {
    "numGenerations": ("num_generations", 8, 4, 16),
    "maxCompletionLength": ("max_completion_length", 1024, 256, 4096),
    "maxToolCallingIterations": ("max_tool_calling_iterations", 16, 4, 32),
    "maxSteps": ("optimizer_steps", 0, 0, 1_000_000),
    "entropyCoef": ("entropy_coef", 0.05, 0.0, 0.5),
    "beta": ("beta", 0.0, 0.0, 0.0),
    "learningRate": ("learning_rate", DEFAULT_RATE, 1e-12, 1.0),
}
_WHOLE = ("numGenerations", "maxCompletionLength", "maxToolCallingIterations", "maxSteps")
_WORDS: dict[str, tuple[str, str, tuple[str, ...] | None]] = {
    "env": ("env", "workspace", None),
    "lossType": ("loss_type", "dapo", get_args(LossName)),
    "scaleRewards": ("scale_rewards", "batch", ("batch", "group", "none")),
    "generationEngine": ("generation_engine", "auto", get_args(EngineName)),
}
_PACKAGES = "pipPackages"


class Clamp(msgspec.Struct, frozen=True, kw_only=True):
    """A value that was moved: the key as the job writes it, what it asked, what is used, and why."""

    field: str
    asked: float
    used: float
    why: str


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """Settings as a ``grpo`` stage has them, and what had to be moved."""

    settings: dict[str, Any]
    clamps: tuple[Clamp, ...] = ()


def read_job(document: Mapping[str, Any], *, policy: str = "hf:", batch_size: int | None = None) -> Job:
    """Read the ``rl`` settings of a job.

    Args:
        document: the settings; keys that are left out, or null, take their defaults.
        policy: what is trained. Rates of ``hf:`` models are capped.
        batch_size: completions of one optimizer step where the platform fixes it; the group size is made to divide it.

    Raises:
        InputError: an unknown key, a value of the wrong kind, an unknown word, a package that is refused; or a batch
            that no group size of the range divides.
    """
    known = [*_NUMBERS, *_WORDS, _PACKAGES]
    for name in document:
        if name not in known:
            raise InputError("unknown setting", field=str(name), remedy=f"known: {', '.join(known)}")
    settings: dict[str, Any] = {}
    clamps: list[Clamp] = []
    for name, (field, default, least, most) in _NUMBERS.items():
        asked = _number(name, document.get(name), default)
        if name == "learningRate" and policy.startswith("hf:"):
            most = HF_RATE
        used = min(max(asked, least), most)
        if used != asked:
            why = "must be 0 in a job" if least == most else f"the range is {least:g} to {most:g}"
            clamps.append(Clamp(field=name, asked=asked, used=used, why=why))
        settings[field] = int(used) if name in _WHOLE else float(used)
    for name, (field, word, choices) in _WORDS.items():
        settings[field] = _word(name, document.get(name), word, choices)
    settings["pip_packages"] = _packages(document.get(_PACKAGES))
    if batch_size is not None:
        _fit_group(settings, batch_size, clamps)
    return Job(settings=settings, clamps=tuple(clamps))


def status_metrics(metrics: Mapping[str, float]) -> dict[str, float]:
    """Metrics of a step as a platform's status shows them: under the names of ``metrics.jsonl``, and the rewards of
    workspaces a second time under the name that platforms know them by."""
    values = dict(metrics)
    for kind in ("mean", "std"):
        if (name := f"rewards/workspace/{kind}") in values:
            values[f"rewards/TfcodeEnv/{kind}"] = values[name]
    return values


def _number(name: str, value: Any, default: float) -> float:
    if value is None:
        return default
    wrong = isinstance(value, bool) or not isinstance(value, int | float) or value != value
    if wrong or (name in _WHOLE and value not in (float("inf"), float("-inf")) and value != int(value)):
        kind = "a whole number" if name in _WHOLE else "a number"
        raise InputError(f"must be {kind}, not {value!r}", field=name)
    return value  # type: ignore[no-any-return]


def _word(name: str, value: Any, default: str, choices: tuple[str, ...] | None) -> str:
    if value is None:
        return default
    if not isinstance(value, str) or not value or (choices is not None and value not in choices):
        raise InputError(f"{value!r} is not known", field=name, remedy=f"one of {', '.join(choices or ('a name',))}")
    return value


def _packages(value: Any) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise InputError("must be a list of package names", field=_PACKAGES)
    try:
        return check_packages(value)
    except ValueError as error:
        raise InputError(str(error), field=_PACKAGES) from None


def _fit_group(settings: dict[str, Any], batch_size: int, clamps: list[Clamp]) -> None:
    asked = settings["num_generations"]
    if batch_size % asked == 0:
        return
    _, _, least, most = _NUMBERS["numGenerations"]
    fitting = [size for size in range(int(least), int(most) + 1) if batch_size % size == 0]
    if not fitting:
        raise InputError(f"no group size from {least:g} to {most:g} divides it, {batch_size}", field="batchSize")
    used = min(fitting, key=lambda size: (abs(size - asked), size))
    settings["num_generations"] = used
    why = f"must divide the {batch_size} completions of a step: {', '.join(map(str, fitting))} would do"
    clamps.append(Clamp(field="numGenerations", asked=asked, used=used, why=why))

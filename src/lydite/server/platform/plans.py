"""From what a platform's request asks to a plan of a job: settings read, clamped, and told.

grpoTraining   one ``grpo`` stage; ``config.rl`` is read by ``training.job``
sftTraining    one ``sft`` stage on the tasks' reference solutions
dpoTraining    a ``sample`` stage, and ``dpo`` on the preference pairs that come of it
"""

from __future__ import annotations

import importlib.util
import math
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from lydite.codec import canonical
from lydite.errors import InputError
from lydite.server.bodies import below, field, only, refusal, refused_at, shown
from lydite.server.jobs.status import Plan
from lydite.server.models.models import Model
from lydite.server.platform.manifests import Manifest
from lydite.task import Task
from lydite.tasksets.documents import task_document
from lydite.training.job import Clamp, read_job
from lydite.training.packages import check_packages

TRAININGS = ("grpoTraining", "sftTraining", "dpoTraining")
PROMPTS = 8
"""Prompts of a step, where the request fixes no batch."""
BUILT_IN_RATE = 1e-3
"""Learning rate of the small built-in models, where the request names none: at a job's own they learn nothing."""
LARGEST = 2**53
"""Whole numbers up to which JSON is exact everywhere."""
ATTEMPTS = 4
"""At each held-out task, before and after."""

CAMEL = {
    "numGenerations": "num_generations",
    "maxCompletionLength": "max_completion_length",
    "maxToolCallingIterations": "max_tool_calling_iterations",
    "maxSteps": "optimizer_steps",
    "entropyCoef": "entropy_coef",
    "beta": "beta",
    "learningRate": "learning_rate",
    "env": "env",
    "lossType": "loss_type",
    "scaleRewards": "scale_rewards",
    "generationEngine": "generation_engine",
    "pipPackages": "pip_packages",
}
"""Name in ``config.rl``: field of a ``grpo`` stage."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request, read: the stages of the recipe, the settings as they are used, and what had to be moved."""

    training: str
    stages: list[dict[str, Any]]
    config: dict[str, Any]
    clamps: tuple[Clamp, ...] = ()
    notes: tuple[str, ...] = ()
    seed: int = 0
    length: int = 256


def read_start(body: Any, tasks: Sequence[Task], model: Model) -> Asked:
    """Read the body of ``POST /finetuning/start/{id}``.

    Args:
        body: the request.
        tasks: of the job, held-out ones included.
        model: that is trained.

    Raises:
        RefusedError: names the field: an unknown key, a value of the wrong kind, a package that is no name; a way of
            training that these tasks or this model have not what it takes for.
    """
    given = only(body, ("training_type", "rlvr", "config"))
    training = field(given, "training_type", str)
    if training not in TRAININGS:
        raise refusal("training_type", f"{shown(training)} is not known here: one of {', '.join(TRAININGS)}")
    rlvr = field(given, "rlvr", bool, False)
    if rlvr != (training == "grpoTraining"):
        raise refusal(
            "rlvr",
            "must be true: rewards here are only what checkers can prove" if not rlvr else "belongs to grpoTraining",
        )
    own = {"grpoTraining": "rl", "sftTraining": "sft", "dpoTraining": "dpo"}[training]
    config = only(field(given, "config", dict, {}), (own, "batchSize", "gradientAccumulationSteps", "seed"), "config")
    seed = _whole(config, "seed", secrets.randbelow(2**31), 0, 2**31 - 1)
    settings = field(config, own, dict, {}, where="config")
    if (why := missing_tools(tasks, model)) is not None:
        raise refusal("model", why)
    read = {"rl": _rl, "sft": _sft, "dpo": _dpo}[own]
    asked = read(settings, config, tasks, model)
    return msgspec.structs.replace(asked, training=training, seed=seed)


def missing_tools(tasks: Sequence[Task], model: Model) -> str | None:
    """Why a model cannot be trained on tasks with a workspace; ``None`` where it can, or there are none."""
    episodes = [task.id for task in tasks if task.env != "none"]
    if not episodes or model.supports_rl:
        return None
    return f"{model.id[:200]} cannot work in episodes with tools, as {named(episodes)} need: {model.why}"


def plan_of(manifest: Manifest, asked: Asked, tasks: Sequence[Task], model: Model, request: dict[str, Any]) -> Plan:
    """The plan of a job. Tasks whose document says ``"split": "eval"`` are held out, and attempted before and after."""
    sides = {"tasks.jsonl": [], "eval.jsonl": []}  # type: dict[str, list[Task]]
    for task in tasks:
        sides["eval.jsonl" if task.split == "eval" else "tasks.jsonl"].append(task)
    if not sides["tasks.jsonl"]:
        raise refusal("workspaceid", 'every task says "split": "eval": there is none to learn from')
    files = {
        name: b"".join(canonical(task_document(task)) + b"\n" for task in side) for name, side in sides.items() if side
    }
    held: dict[str, Any] = {"train": {"files": ["tasks.jsonl"]}, "eval_fraction": 0.0}
    if "eval.jsonl" in files:
        held["eval"] = {"files": ["eval.jsonl"]}
    recipe = {
        "name": "job",
        "seed": asked.seed,
        "tasks": held,
        "reward": {"preset": "fractional"},  # the mean is then the rate of success, as platforms have it
        "evaluation": {"n": ATTEMPTS, "max_tokens": asked.length} if "eval.jsonl" in files else None,
        "stages": asked.stages,
    }
    return Plan(
        kind="platform",
        model=model.spec,
        model_asked=manifest.model,
        recipe=recipe,
        files=files,
        name=manifest.name,
        metadata={"finetuning": manifest.id},
        request=request,
        notes=(*(told(clamp) for clamp in asked.clamps), *asked.notes),
    )


def told(clamp: Clamp) -> str:
    """A value that was moved, in words."""
    asked = max(-1e300, min(clamp.asked, 1e300))  # a whole number may be of any length
    return f"config.rl.{clamp.field}: {asked:g} became {clamp.used:g}: {clamp.why}"


def named(ids: Sequence[str], most: int = 5) -> str:
    """Some ids of tasks, for a message."""
    more = f" and {len(ids) - most} more" if len(ids) > most else ""
    return ", ".join(one[:80] for one in ids[:most]) + more


def _rl(given: dict[str, Any], config: dict[str, Any], tasks: Sequence[Task], model: Model) -> Asked:
    where = "config.rl"
    if not field(given, "enabled", bool, False, where=where):
        raise refusal(f"{where}.enabled", "must be true: without it there is no reinforcement learning to start")
    rl = {name: value for name, value in given.items() if name != "enabled"}
    for name, value in rl.items():
        if isinstance(value, int) and abs(value) > LARGEST:
            raise refusal(below(where, name), "is larger than any number that is meant")
    _check_packages(rl.get("pipPackages"), f"{where}.pipPackages")
    notes: list[str] = []
    if _small(model) and rl.get("learningRate") is None:
        rl["learningRate"] = BUILT_IN_RATE
        notes.append(f"{where}.learningRate: {BUILT_IN_RATE:g}, as built-in models need")
    batch = _batch(config)
    try:
        job = read_job(
            rl,
            policy="builtin:" if _small(model) else model.spec,
            batch_size=None if batch is None else math.prod(batch),
        )
    except InputError as error:
        raise refused_at(error, "config" if error.field == "batchSize" else where) from None
    stage: dict[str, Any] = {"kind": "grpo", **job.settings}
    stage["env"] = _env(rl.get("env"), stage["env"], tasks)
    if stage["generation_engine"] == "vllm" and importlib.util.find_spec("vllm") is None:
        raise refusal(f"{where}.generationEngine", "vllm is not installed here: use auto or plain")
    if batch is None:
        stage["prompts_per_step"] = max(1, min(PROMPTS, sum(task.split != "eval" for task in tasks)))
    else:
        stage |= {"batch_size": math.prod(batch), "micro_batch": batch[0]}
    used = {name: stage[own] for name, own in CAMEL.items()}
    if len(envs := {task.env for task in tasks}) == 1:
        (used["env"],) = envs
    return Asked(
        training="",
        stages=[stage],
        config={"rl": {"enabled": True, **used}},
        clamps=job.clamps,
        notes=tuple(notes),
        length=stage["max_completion_length"],
    )


def _sft(given: dict[str, Any], config: dict[str, Any], tasks: Sequence[Task], model: Model) -> Asked:
    where = "config.sft"
    only(given, ("epochs", "learningRate", "maxLength"), where)
    if without := [task.id for task in tasks if task.solution is None and task.split != "eval"]:
        raise refusal(
            "training_type", f"sftTraining learns from reference solutions, and there is none in {named(without)}"
        )
    rate = 1e-3 if _small(model) else 1e-4
    stage = {
        "kind": "sft",
        "from": "solutions",
        "epochs": _number(given, "epochs", 3.0, 0.01, 1000.0, where),
        "learning_rate": _number(given, "learningRate", rate, 1e-12, 1.0, where),
        "max_length": _whole(given, "maxLength", 1024, 2, 1_000_000, where),
        **_rowed(config),
    }
    used = {"epochs": stage["epochs"], "learningRate": stage["learning_rate"], "maxLength": stage["max_length"]}
    return Asked(training="", stages=[stage], config={"sft": used})


def _dpo(given: dict[str, Any], config: dict[str, Any], tasks: Sequence[Task], model: Model) -> Asked:
    where = "config.dpo"
    only(given, ("epochs", "learningRate", "beta", "numGenerations", "maxCompletionLength"), where)
    if episodes := [task.id for task in tasks if task.env != "none"]:
        raise refusal(
            "training_type",
            f"dpoTraining makes pairs of answers, and {named(episodes)} have episodes: use grpoTraining or sftTraining",
        )
    rate = 1e-4 if _small(model) else 1e-5
    length = _whole(given, "maxCompletionLength", 256, 1, 4096, where)
    sampling = {
        "kind": "sample",
        "n": _whole(given, "numGenerations", 8, 2, 64, where),
        "max_tokens": length,
    }
    stage = {
        "kind": "dpo",
        "epochs": _number(given, "epochs", 1.0, 0.01, 1000.0, where),
        "learning_rate": _number(given, "learningRate", rate, 1e-12, 1.0, where),
        "beta": _number(given, "beta", 0.1, 1e-6, 100.0, where),
        **_rowed(config),
    }
    used = {
        "epochs": stage["epochs"],
        "learningRate": stage["learning_rate"],
        "beta": stage["beta"],
        "numGenerations": sampling["n"],
        "maxCompletionLength": length,
    }
    return Asked(training="", stages=[sampling, stage], config={"dpo": used}, length=length)


def _small(model: Model) -> bool:
    return model.spec.startswith("builtin:") or model.base.startswith("builtin:")


def _rowed(config: dict[str, Any]) -> dict[str, Any]:
    batch = _batch(config)
    return {} if batch is None else {"batch_size": math.prod(batch), "micro_batch": batch[0]}


def _batch(config: Mapping[str, Any]) -> tuple[int, int] | None:
    """Completions (or rows) that go through the model at once, and how many times for one step."""
    if config.get("batchSize") is None:
        if config.get("gradientAccumulationSteps") is not None:
            raise refusal("config.gradientAccumulationSteps", "needs config.batchSize beside it")
        return None
    return _whole(config, "batchSize", 8, 1, 4096), _whole(config, "gradientAccumulationSteps", 1, 1, 4096)


def _env(asked: Any, given: str, tasks: Sequence[Task]) -> str | None:
    """The environment that all tasks have; ``None``: each its own."""
    if asked is None:
        return None
    env = "workspace" if given == "tfcode" else given
    if other := [task.id for task in tasks if task.env != env]:
        raise refusal("config.rl.env", f"asks for {asked[:80]}, and {named(other)} have another (leave it out)")
    return env


def _check_packages(entries: Any, where: str) -> None:
    if entries is None:
        return
    if not isinstance(entries, list):
        raise refusal(where, f"must be a list of package names, not {shown(entries)}")
    for index, entry in enumerate(entries):
        if not isinstance(entry, str):
            raise refusal(f"{where}[{index}]", f"must be a package name, not {shown(entry)}")
        try:
            check_packages([entry])
        except ValueError as error:
            raise refusal(f"{where}[{index}]", str(error)) from None


def _whole(given: Mapping[str, Any], name: str, default: int, least: int, most: int, where: str = "config") -> int:
    value = given.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise refusal(below(where, name), f"must be a whole number from {least} to {most}, not {shown(value)}")
    return value


def _number(given: Mapping[str, Any], name: str, default: float, least: float, most: float, where: str) -> float:
    value = given.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise refusal(below(where, name), f"must be a number from {least:g} to {most:g}, not {shown(value)}")
    return float(value)

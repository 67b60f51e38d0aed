"""From a request to a plan: how OpenAI's settings become a recipe. ``docs/service.md`` has the table.

n_epochs                   passes over the rows: ``optimizer_steps`` of GRPO, ``epochs`` of the others
batch_size                 prompts of a step (GRPO), rows of a step (the others)
learning_rate_multiplier   times the rate of ``RATES``
compute_multiplier         attempts of a group: 8 times it, at least 2
eval_interval              steps from checkpoint to checkpoint, which all stay: held-out tasks are attempted before and
                           after
eval_samples               attempts at each held-out task
"""

from __future__ import annotations

import importlib.util
import re
import secrets
from typing import Any

from lydite.errors import InputError
from lydite.server.errors import NotFoundError, RefusedError
from lydite.server.files import Files
from lydite.server.jobs.status import Plan
from lydite.server.models.models import Model
from lydite.server.openai.jobs_asked import Dpo, Hyperparameters, JobAsked, Reinforcement, Supervised
from lydite.server.openai.jobs_rows import Grading, Named, Rows, Side, answered, named_in, tasks_of
from lydite.training.recipe import Recipe
from lydite.training.recipe_io import STAGES
from lydite.training.wording import keys_of, meant
from lydite.verifiers.grader.document import MODELS, TYPES
from lydite.verifiers.registry import find

RATES = {"reinforcement": (1e-5, 1e-3), "supervised": (1e-4, 1e-3), "dpo": (1e-5, 1e-4)}
"""Learning rates that a multiplier of 1 stands for: of models, and of the small built-in ones."""
GENERATIONS, PROMPTS, ATTEMPTS, EPOCHS = 8, 8, 4, {"reinforcement": 1, "supervised": 3, "dpo": 1}
KEPT = 3
"""Checkpoints that stay where no ``eval_interval`` is given; else all do."""
LENGTH, SHORT = 1024, 128
"""Tokens of an attempt: of models, and of the built-in one, which has no more to say."""
LARGEST = 256 << 20
"""Bytes of the tasks of a job: a grader stands in each."""


def plan_of(asked: JobAsked, model: Model, files: Files) -> Plan:
    """The plan of a job.

    Raises:
        RefusedError: names the field, or the file and its line.
        NotFoundError: there is no such file.
    """
    method = _method(asked)
    extra = dict(asked.x_rlvr or {})
    notes: list[str] = []
    seed = secrets.randbelow(2**31) if asked.seed is None else asked.seed
    recipe: dict[str, Any] = {"name": _name(asked), "seed": seed}
    if isinstance(method, Reinforcement):
        stage, evaluation, held = _reinforcement(asked, method, model, files, extra, notes)
    else:
        stage, evaluation, held = _rowed(asked, method, model, files)
    recipe |= {"tasks": {"train": {"files": ["tasks.jsonl"]}, "eval_fraction": 0.0}, "evaluation": None}
    if "eval.jsonl" in held:
        recipe["tasks"]["eval"] = {"files": ["eval.jsonl"]}
        recipe["evaluation"] = evaluation
    elif _holds_out(extra):
        recipe["evaluation"] = evaluation
    recipe["stages"] = [stage]
    recipe["report_to"] = _reporters(asked)
    return Plan(
        kind=asked.kind,
        model=model.spec,
        model_asked=asked.model,
        recipe=_merged(recipe, extra),
        files=held,
        name=asked.suffix or "",
        metadata=dict(asked.metadata or {}),
        request={**asked.plain(), "seed": seed},
        notes=tuple(notes),
    )


def _name(asked: JobAsked) -> str:
    """The suffix, as far as a recipe can be called so."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", asked.suffix or "").strip("-.") or "job"


def _method(asked: JobAsked) -> Supervised | Dpo | Reinforcement:
    """The method's own settings; those of others are refused."""
    if asked.method is None:
        return Supervised(hyperparameters=asked.hyperparameters)
    if asked.hyperparameters is not None:
        raise RefusedError("belongs to jobs without a method (put it into method)", param="hyperparameters")
    method = asked.method
    for name in ("supervised", "dpo", "reinforcement"):
        if name != method.type and getattr(method, name) is not None:
            raise RefusedError(f"the method is {method.type} (leave the others out)", param=f"method.{name}")
    if method.type == "supervised":
        return method.supervised or Supervised()
    return (method.dpo or Dpo()) if method.type == "dpo" else (method.reinforcement or Reinforcement())


def _number(values: Hyperparameters | None, name: str, default: Any) -> Any:
    value = getattr(values, name, None)
    return default if value in (None, "auto") else value


def _rate(asked: JobAsked, values: Hyperparameters | None, model: Model) -> float:
    rate: float = RATES[asked.kind][model.spec.startswith("builtin:") or model.base.startswith("builtin:")]
    return rate * float(_number(values, "learning_rate_multiplier", 1.0))


def _reinforcement(
    asked: JobAsked, method: Reinforcement, model: Model, files: Files, extra: dict[str, Any], notes: list[str]
) -> tuple[dict[str, Any], dict[str, Any], dict[str, bytes]]:
    values = method.hyperparameters
    _foundry(method)
    judge = "x_rlvr.verifier" if extra.get("verifier") is not None else "method.reinforcement.grader"
    grading = _grading(method.grader, extra, notes)
    held, counts = dict[str, bytes](), dict[str, int]()
    sides: tuple[tuple[str, Side, str | None], ...] = (
        ("tasks.jsonl", "training_file", asked.training_file),
        ("eval.jsonl", "validation_file", asked.validation_file),
    )
    for name, side, file in sides:
        if file is not None:
            found = tasks_of(files.path(_of(files, file, side)), side, grading)
            held[name], counts[name] = found.data, found.tasks
            if grading is not None and found.graded < found.tasks:
                notes.append(_judged_by_others(found, side, judge))
    if sum(map(len, held.values())) > LARGEST:
        raise RefusedError("the grader, once for each row, takes too much room (shorten it, or give fewer rows)")
    generations = max(2, round(GENERATIONS * float(_number(values, "compute_multiplier", 1.0))))
    prompts = int(_number(values, "batch_size", PROMPTS))
    passes = int(_number(values, "n_epochs", EPOCHS["reinforcement"]))
    length = SHORT if model.id == "builtin:tiny" or model.base == "builtin:tiny" else LENGTH
    stage: dict[str, Any] = {
        "kind": "grpo",
        "optimizer_steps": max(1, -(-counts["tasks.jsonl"] * passes // prompts)),
        "num_generations": generations,
        "prompts_per_step": prompts,
        "max_completion_length": length,
        "learning_rate": _rate(asked, values, model),
        "keep_checkpoints": KEPT,
    }
    if (every := _number(values, "eval_interval", None)) is not None:
        stage |= {"save_every": every, "keep_checkpoints": "all"}
        notes.append("eval_interval: a checkpoint every so many steps; held-out tasks are attempted before and after")
    if method.max_episode_steps is not None:
        stage["max_tool_calling_iterations"] = method.max_episode_steps
    return stage, {"n": _number(values, "eval_samples", ATTEMPTS), "max_tokens": length}, held


def _rowed(
    asked: JobAsked, method: Supervised | Dpo, model: Model, files: Files
) -> tuple[dict[str, Any], dict[str, Any], dict[str, bytes]]:
    values = method.hyperparameters
    path = files.path(_of(files, asked.training_file, "training_file"))
    rows, tasks = answered(path, "training_file", asked.kind)
    held = {"rows.jsonl": rows, "tasks.jsonl": tasks}
    if asked.validation_file is not None:
        path = files.path(_of(files, asked.validation_file, "validation_file"))
        held["eval.jsonl"] = answered(path, "validation_file", asked.kind)[1]
    stage = {
        "kind": "sft" if asked.kind == "supervised" else "dpo",
        "rows" if asked.kind == "supervised" else "pairs": "rows.jsonl",
        "epochs": float(_number(values, "n_epochs", EPOCHS[asked.kind])),
        "batch_size": int(_number(values, "batch_size", PROMPTS)),
        "learning_rate": _rate(asked, values, model),
        "keep_checkpoints": KEPT,
    }
    if asked.kind == "dpo":
        stage["beta"] = float(_number(values, "beta", 0.1))
    return stage, {"n": 1, "temperature": 0.0}, held


def _of(files: Files, file: str, side: Side) -> str:
    try:
        purpose = files.get(file).purpose
    except NotFoundError as error:
        raise error.at(side, "GET /v1/files lists them") from None
    if purpose != "fine-tune":
        raise RefusedError(f"the file has the purpose {purpose} (upload it with the purpose fine-tune)", param=side)
    return file


def _foundry(method: Reinforcement) -> None:
    """Fields of Foundry's that nothing here stands behind."""
    where = "method.reinforcement"
    if method.tools:
        raise RefusedError(
            "tools on servers are not called: an episode has no network (give task documents with env workspace)",
            param=f"{where}.tools",
        )
    if method.response_format is not None and method.response_format.get("type") != "text":
        raise RefusedError(
            "answers are not constrained while they are sampled (judge their form: checker json_schema)",
            param=f"{where}.response_format",
        )
    effort = method.hyperparameters.reasoning_effort if method.hyperparameters else None
    if effort not in (None, "default"):
        raise RefusedError(
            "models here have no levels of effort (leave it out)", param=f"{where}.hyperparameters.reasoning_effort"
        )


def _judged_by_others(found: Rows, side: Side, judge: str) -> str:
    """A note on rows that bring a checker of their own.

    Raises:
        RefusedError: all do, so that what the job names would judge nothing.
    """
    if not found.graded:
        raise RefusedError(
            f"{judge}: would judge no row of {side}: none has messages, each is a task with a checker of its own "
            f'(leave {judge} out, or give rows as {{"messages": [...], ...}})',
            param=judge,
        )
    return (
        f"{found.tasks - found.graded} of {found.tasks} rows of {side} are tasks with a checker of their own, which "
        f"judges them; {judge} judges the {found.graded} rows with messages"
    )


def _grading(grader: dict[str, Any] | None, extra: dict[str, Any], notes: list[str]) -> Grading:
    """What judges: the verifier that ``x_rlvr`` or the grader names, the grader itself, or what each row says."""
    name, config, where = extra.pop("verifier", None), extra.pop("verifier_config", None), "x_rlvr.verifier"
    grader = dict(grader) if grader is not None else None
    if name is None and config is not None:
        raise RefusedError("belongs to x_rlvr.verifier, which is not given", param="x_rlvr.verifier_config")
    if name is not None and grader is not None:
        notes.append("The verifier that x_rlvr names judges; the grader of the method does not")
    elif grader is not None and grader.get("type") in ("rlvr", "lydite"):
        where = "method.reinforcement.grader"
        for key in grader:
            if key not in ("type", "name", "verifier", "config"):
                raise RefusedError(
                    f"unknown field ({meant(key, ('name', 'verifier', 'config'))})", param=f"{where}.{key[:80]}"
                )
        name, config, where = grader.get("verifier"), grader.get("config"), f"{where}.verifier"
        if name is None and config is not None:
            raise RefusedError("belongs to a verifier, and none is named", param=f"{where.rpartition('.')[0]}.config")
        if name is None:
            return None
    elif grader is not None and isinstance(kind := grader.get("type"), str) and kind not in (*TYPES, *MODELS):
        remedy = meant(kind, (*TYPES, "lydite"))
        raise RefusedError(f"unknown grader {kind[:40]!r} ({remedy})", param="method.reinforcement.grader.type")
    elif grader is not None and grader.get("type") == "python" and (found := named_in(str(grader.get("source")))):
        name, where = found, "method.reinforcement.grader.source"
    if name is None:
        return grader
    return _named(name, config, where)


def _named(name: Any, config: Any, where: str) -> Named:
    if not isinstance(name, str) or not (config is None or isinstance(config, dict)):
        raise RefusedError("must be the name of a verifier, such as math or math@3", param=where)
    kind, _, version = name.partition("@")
    if ":" in kind or "/" in kind:
        raise RefusedError("a verifier of this machine's files cannot be named here", param=where)
    try:
        verifier = find(kind)
    except InputError as error:
        raise RefusedError(f"{error.message} ({error.remedy})", param=where) from None
    if version and version != str(verifier.version):
        raise RefusedError(f"{kind} is at version {verifier.version} here (name that, or none)", param=where)
    return Named(name=kind, config=dict(config or {}))


def _reporters(asked: JobAsked) -> list[str]:
    for index, one in enumerate(asked.integrations or ()):
        where = f"integrations.{index}"
        if one.type != "wandb" or one.wandb is None:
            raise RefusedError(f"{one.type[:40]!r}: only wandb, with its settings, is known", param=f"{where}.type")
        if index:
            raise RefusedError("given twice (leave one out)", param=where)
        if importlib.util.find_spec("wandb") is None:
            raise RefusedError("wandb is not installed where the service runs (leave it out)", param=f"{where}.type")
    return ["wandb"] if asked.integrations else []


def _holds_out(extra: dict[str, Any]) -> bool:
    tasks = extra.get("tasks")
    return isinstance(tasks, dict) and bool(tasks.get("eval") or tasks.get("eval_fraction"))


_OWN = {"policy": "model", "name": "suffix", "seed": "seed"}
_ASIDE = ("verifier", "verifier_config")
_BECOMES = {
    "optimizer_steps": "n_epochs",
    "epochs": "n_epochs",
    "prompts_per_step": "batch_size",
    "batch_size": "batch_size",
    "learning_rate": "learning_rate_multiplier",
    "num_generations": "compute_multiplier",
    "save_every": "eval_interval",
    "beta": "beta",
}
"""Which hyperparameter a field of a stage comes from."""


def as_written(asked: JobAsked, error: RefusedError) -> RefusedError:
    """An error about a recipe's field, as one about what the request has in its place."""
    field, extra = error.param or "", asked.x_rlvr or {}
    parts = field.split(".")
    stage = parts[:2] == ["stages", "0"] and "stages" not in extra and len(parts) > 2
    name = parts[2] if stage else parts[0]
    if name in extra:
        where = ".".join(["x_rlvr", *(parts[2:] if stage else parts)])
    elif stage and name in _BECOMES:
        inside = f"method.{asked.kind}." if asked.method is not None else ""
        where = f"{inside}hyperparameters.{_BECOMES[name]}"
    elif stage and name == "max_tool_calling_iterations":
        where = "method.reinforcement.max_episode_steps"
    else:
        return error
    message = error.message.removeprefix(f"{field}: ")
    return RefusedError(f"{where}: {message}", param=where, code=error.code)


def _merged(recipe: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    """The recipe with what ``x_rlvr`` says: fields of a recipe, and fields of the stage by themselves."""
    if isinstance(tasks := extra.get("tasks"), dict) and "train" in tasks:
        raise RefusedError("has a field of its own: training_file", param="x_rlvr.tasks.train")
    known = Recipe.model_fields
    fields = keys_of(STAGES[recipe["stages"][0]["kind"]])
    stage = {}
    for name, value in extra.items():
        if name in _OWN:
            raise RefusedError(f"has a field of its own: {_OWN[name]}", param=f"x_rlvr.{name}")
        if name not in known and name not in fields:
            remedy = meant(name, [one for one in (*known, *fields, *_ASIDE) if one not in _OWN])
            raise RefusedError(f"unknown field ({remedy})", param=f"x_rlvr.{name}"[:200])
        if name not in known:
            stage[name] = value
        elif name == "stages" or not isinstance(value, dict) or not isinstance(recipe.get(name), dict):
            recipe[name] = value
        else:
            recipe[name] = {**recipe[name], **value}
    if stage and "stages" in extra:
        raise RefusedError("belongs into one of x_rlvr.stages", param=f"x_rlvr.{next(iter(stage))}")
    if stage:
        first = {**recipe["stages"][0]}
        for name, other in (("steps", "optimizer_steps"), ("steps", "epochs"), ("loss", "loss_type"), *_EITHER):
            if name in stage:
                first.pop(other, None)
        recipe["stages"] = [{**first, **stage}]
    return recipe


_EITHER = (
    ("effective_learning_rate", "learning_rate"),
    ("batch_size", "prompts_per_step"),
)
"""Fields that stand for one another."""

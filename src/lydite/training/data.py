"""Tasks and rows that a recipe names: generated, read from files, or taken from the run itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from lydite.errors import InputError
from lydite.exports.examples import sft_rows
from lydite.exports.formats import Document, Format, messages, sft_row
from lydite.ledger import RunFolder
from lydite.policies.messages import conversation
from lydite.rollout import Message
from lydite.task import Task
from lydite.tasksets import generate, load_tasks, split_tasks
from lydite.training.controls import exchanged
from lydite.training.recipe import Recipe, SftStage, Source


def load_sides(recipe: Recipe) -> tuple[list[Task], list[Task], int]:
    """Training tasks, held-out tasks, and how many training tasks were dropped because a held-out one asks the same.

    Raises:
        InputError: unusable task documents; no training task left; evaluation asked for without a held-out task; tasks
            that the control ``shuffled`` cannot exchange.
    """
    train = _load(recipe, recipe.tasks.train)
    dropped = 0
    if recipe.tasks.eval is None:
        train, held_out = split_tasks(train, recipe.tasks.eval_fraction, seed=recipe.seed)
    else:
        held_out = [msgspec.structs.replace(task, split="eval") for task in _load(recipe, recipe.tasks.eval)]
        asked = {_same(task) for task in held_out}
        ids = {task.id for task in held_out}
        kept = [task for task in train if _same(task) not in asked and task.id not in ids]
        dropped = len(train) - len(kept)
        train = [msgspec.structs.replace(task, split="train") for task in kept]
    if not train:
        raise InputError("no task left to train on", field="tasks.train", remedy="give more tasks, or hold out fewer")
    if recipe.evaluation and not held_out:
        raise InputError(
            "evaluation needs held-out tasks and there are none",
            field="tasks.eval",
            remedy="give tasks.eval, raise tasks.eval_fraction, or set evaluation: null",
        )
    if recipe.control == "shuffled":
        exchanged(train, recipe.seed)
    return train, held_out, dropped


def _load(recipe: Recipe, source: Source) -> list[Task]:
    if source.family is not None:
        assert source.levels is not None
        assert source.n is not None
        return generate(source.family, levels=source.levels, n=source.n, seed=source.seed)
    return load_tasks([recipe.resolve(file) for file in source.files or ()], limit=source.limit)


def _same(task: Task) -> str:
    return " ".join(task.prompt_text.split())


def sft_documents(
    recipe: Recipe,
    index: int,
    run: RunFolder,
    train: Sequence[Task],
    demonstrated: Callable[[Sequence[Task]], list[Document]] | None = None,
) -> list[Document]:
    """Rows ``{prompt, completion}`` of message lists for one ``sft`` stage; those of episodes have ``tools`` too.

    Args:
        recipe: the recipe.
        index: number of the stage.
        run: the run.
        train: training tasks.
        demonstrated: makes rows of the solutions of tasks with an environment.

    Raises:
        InputError: no rows, or a row that cannot be read (file, line, field).
    """
    stage = recipe.stages[index]
    assert isinstance(stage, SftStage)
    if stage.source == "run":
        rows = list(sft_rows(run)[0])
        remedy = "put a `sample` stage before this one"
    elif stage.source == "solutions":
        rows = [
            sft_row(task.prompt, (Message(role="assistant", content=task.solution),), Format.TRL)
            for task in train[: stage.limit]
            if isinstance(task.solution, str) and task.env == "none"
        ]
        if demonstrated is not None:
            rows += demonstrated(train[: stage.limit])
        remedy = "give tasks a `solution`"
    else:
        assert stage.rows is not None
        rows = [_sft(row, path, line) for row, path, line in _lines(recipe.resolve(stage.rows))]
        remedy = "give a file with rows"
    if not rows:
        raise InputError("no rows to learn from", field=f"stages.{index}", remedy=remedy)
    return rows


def preference_documents(path: str | Path, index: int, counts: dict[str, Any] | None = None) -> list[Document]:
    """Rows ``{prompt, chosen, rejected}`` of message lists for one ``dpo`` stage; OpenAI's spelling is read too.

    Args:
        path: the file.
        index: number of the stage.
        counts: what a sample stage of the run said of its groups, to explain an empty file.

    Raises:
        InputError: no rows, or a row that cannot be read (file, line, field).
    """
    rows = [_preference(row, file, line) for row, file, line in _lines(path)]
    if not rows:
        why = ", ".join(f"{name} {value}" for name, value in (counts or {}).items() if value)
        raise InputError(
            f"no preference pairs{f' ({why})' if why else ''}",
            path=path,
            field=f"stages.{index}",
            remedy="a group gives pairs when a correct attempt without a barring flag stands beside a wrong one",
        )
    return rows


def _lines(path: str | Path) -> Iterator[tuple[dict[str, Any], str, int]]:
    try:
        with open(path, encoding="utf-8") as file:
            for number, text in enumerate(file, 1):
                if not text.strip():
                    continue
                try:
                    row = msgspec.json.decode(text)
                except msgspec.DecodeError as error:
                    raise InputError(f"not JSON: {error}", path=path, line=number) from None
                if not isinstance(row, dict):
                    raise InputError("a row is a JSON object", path=path, line=number)
                yield row, str(path), number
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", path=path, remedy="give a JSONL file of rows") from None


def _sft(row: dict[str, Any], path: str, line: int) -> Document:
    if "messages" in row:
        talk = _conversation(row["messages"], "messages", path, line)
        if talk[-1].role != "assistant" or len(talk) < 2:
            raise InputError("must end with the assistant's message", path=path, line=line, field="messages")
        prompt, said = talk[:-1], talk[-1:]
    else:
        prompt = _conversation(row.get("prompt"), "prompt", path, line)
        said = _conversation(row.get("completion"), "completion", path, line, role="assistant")
    return sft_row(prompt, said, Format.TRL)


def _preference(row: dict[str, Any], path: str, line: int) -> Document:
    if isinstance(row.get("input"), dict):
        names = ("preferred_output", "non_preferred_output")
        asked: Any = row["input"].get("messages")
    else:
        names, asked = ("chosen", "rejected"), row.get("prompt")
    sides = {
        name: messages(_conversation(row.get(key), key, path, line, role="assistant"), Format.TRL)
        for name, key in zip(("chosen", "rejected"), names, strict=True)
    }
    return {"prompt": messages(_conversation(asked, "prompt", path, line), Format.TRL), **sides}


def _conversation(value: Any, field: str, path: str, line: int, *, role: str = "user") -> tuple[Message, ...]:
    try:
        return conversation(value, role, field=field)
    except InputError as error:
        raise error.at(path, line) from None

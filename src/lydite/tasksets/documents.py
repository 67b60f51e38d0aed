"""One task document in either direction: JSON object to ``Task``, and ``Task`` to the shortest equal document."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from lydite.errors import InputError
from lydite.task import Task
from lydite.tasksets._names import as_list, as_object, as_text, child, nearest, only, show
from lydite.tasksets._plain import ensure_plain
from lydite.tasksets.checkers import default_env, installed, parse_checker
from lydite.tasksets.difficulty import from_level
from lydite.tasksets.messages import parse_prompt, prompt_document
from lydite.tasksets.paths import clash, normal_file
from lydite.tasksets.records import recognise

#: Fields of a task document.
FIELDS: Final = (
    "id",
    "prompt",
    "env",
    "max_steps",
    "setup_files",
    "setup_commands",
    "checker",
    "solution",
    "metadata",
    "split",
    "difficulty",
    "schema",
)
#: Entry-point group through which an installed package offers environments.
ENVIRONMENTS: Final = "lydite.environments"
_ENVIRONMENTS = {"none": "none", "workspace": "workspace", "tfcode": "workspace"}
_SPLITS = ("", "train", "eval")
_MAX_STEPS = 64
_DEFAULT_STEPS = 16


def parse_task(document: Any, *, path: str | Path | None = None, line: int | None = None) -> Task:
    """A task document, a ``task_spec`` in its wrapper, or a row of a known data set.

    A task without an id gets ``t-`` and 12 hex digits of the digest of its content: the same content has the same id on
    every machine, wherever it stands.

    Args:
        document: a JSON value.
        path, line: where it was read, for the error.

    Raises:
        InputError: names the place, the field and the remedy.
    """
    try:
        ensure_plain(document)
        return _parse(as_object(document, None, "a task is one JSON object"))
    except InputError as error:
        raise error.at(path, line) from None


def task_document(task: Task) -> dict[str, Any]:
    """The document of a task: defaults left out, and ``parse_task`` of it is the task again."""
    document: dict[str, Any] = {"id": task.id, "prompt": prompt_document(task.prompt)}
    if task.env != default_env(task.checker):
        document["env"] = task.env
    if task.max_steps != _DEFAULT_STEPS:
        document["max_steps"] = task.max_steps
    if task.setup_files:
        document["setup_files"] = task.setup_files
    if task.setup_commands:
        document["setup_commands"] = list(task.setup_commands)
    document["checker"] = {"type": task.checker.type, "config": task.checker.config}
    if task.solution is not None:
        document["solution"] = task.solution
    for name in ("split", "difficulty", "metadata"):
        if value := getattr(task, name):
            document[name] = value
    return document


def content_id(task: Task) -> str:
    """The id that a task without one gets: labels apart, everything that defines the task decides it."""
    return "t-" + msgspec.structs.replace(task, id="").digest[:12]


def _parse(document: dict[str, Any]) -> Task:
    inner, prefix, outer = _unwrap(document)
    try:
        fields = recognise(inner) or inner
        return _build({**outer, **fields, **_with_envelope(outer, fields)})
    except InputError as error:
        raise error.at(prefix=prefix) from None


def _unwrap(document: dict[str, Any]) -> tuple[dict[str, Any], str | None, dict[str, Any]]:
    """The task itself, the name of the field it was found in, and what its envelope says about it."""
    prefix: list[str] = []
    inner = document
    if "rawTrainingData" in inner:
        kind = inner.get("type", "rlTask")
        if kind != "rlTask":
            raise InputError(f"is {show(kind)}", field="type", remedy="only documents of type 'rlTask' are tasks")
        prefix.append("rawTrainingData")
        inner = as_object(inner["rawTrainingData"], "rawTrainingData", 'give {"task_spec": {…}}')
        if "task_spec" not in inner:
            raise InputError("is missing", field="rawTrainingData.task_spec", remedy="put the task there")
    if "task_spec" in inner:
        prefix.append("task_spec")
        inner = as_object(inner["task_spec"], ".".join(prefix), "put the task there")
    if not prefix:
        return inner, None, {}
    # These tell of the task; the rest of an envelope (status, scope, user ...) is its keeper's book-keeping.
    outer = {"metadata": {name: document[name] for name in ("title", "topics") if document.get(name)}}
    return inner, ".".join(prefix), {**outer, **({"id": document["id"]} if document.get("id") is not None else {})}


def _with_envelope(outer: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    metadata = fields.get("metadata")
    if not outer.get("metadata") or not isinstance(metadata, dict):
        return {}
    return {"metadata": {**outer["metadata"], **metadata}}


def _build(document: dict[str, Any]) -> Task:
    only(document, FIELDS)
    for name in ("prompt", "checker"):
        if document.get(name) is None:
            raise InputError("is missing", field=name, remedy="a task needs a prompt and a checker")
    if document.get("schema", 1) != 1:
        message = f"layout {show(document['schema'])} is not known"
        raise InputError(message, field="schema", remedy="this version reads layout 1")
    checker = parse_checker(document["checker"])
    env = _env(document.get("env")) or default_env(checker)
    setup_files = _files(_or(document.get("setup_files"), {}), "setup_files")
    setup_commands = tuple(_commands(_or(document.get("setup_commands"), []), "setup_commands"))
    for name, given in (("setup_files", setup_files), ("setup_commands", setup_commands)):
        if given and env == "none":
            remedy = 'say "env": "workspace", or leave the set-up out'
            raise InputError('a task with env "none" has no workspace to set up', field=name, remedy=remedy)
    solution = _solution(document.get("solution"))
    if isinstance(solution, dict) and env == "none":
        remedy = 'say "env": "workspace", or give the solution as a text'
        raise InputError('a task with env "none" has no workspace to solve it in', field="solution", remedy=remedy)
    task = Task(
        id=_id(document.get("id")),
        prompt=parse_prompt(document["prompt"]),
        checker=checker,
        env=env,
        max_steps=_steps(_or(document.get("max_steps"), _DEFAULT_STEPS)),
        setup_files=setup_files,
        setup_commands=setup_commands,
        solution=solution,
        split=_split(_or(document.get("split"), "")),
        difficulty=_difficulty(_or(document.get("difficulty"), "")),
        metadata=_metadata(_or(document.get("metadata"), {})),
    )
    return task if task.id else msgspec.structs.replace(task, id=content_id(task))


def _or(value: Any, default: Any) -> Any:
    """A field that is there but null counts as left out."""
    return default if value is None else value


def _id(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    text = as_text(value, "id", "give a text, or leave it out")
    if not text.strip() or any(ord(char) < 32 or ord(char) == 127 for char in text):
        message = f"{show(text)} is not usable as a name"
        raise InputError(message, field="id", remedy="give visible characters on one line, or leave it out")
    return text


def _env(value: Any) -> str | None:
    """The name that a document gives; nothing is imported to find out what it stands for."""
    if value is None:
        return None
    own = installed(ENVIRONMENTS)
    if isinstance(value, str) and (".py:" in value or value in own):
        return value
    if not isinstance(value, str) or value not in _ENVIRONMENTS:
        known = {*_ENVIRONMENTS, *own}
        remedy = nearest(value, known) if isinstance(value, str) else f"known: {', '.join(sorted(known))}"
        raise InputError(f"unknown environment {show(value)}", field="env", remedy=remedy)
    return _ENVIRONMENTS[value]


def _steps(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MAX_STEPS:
        message = f"must be a whole number from 1 to {_MAX_STEPS}, not {show(value)}"
        raise InputError(message, field="max_steps", remedy=f"leave it out for {_DEFAULT_STEPS}")
    return value


def _files(value: Any, field: str) -> dict[str, str]:
    files = as_object(value, field, 'give {"path": "text"}')
    spelled: dict[str, str] = {}
    for name, text in files.items():
        where = child(field, name)
        try:
            path = normal_file(name)
        except ValueError as error:
            remedy = "give a relative path to a file inside the workspace"
            raise InputError(str(error), field=where, remedy=remedy) from None
        if path in spelled:
            message = f"is the same file as {show(spelled[path])}"
            raise InputError(message, field=where, remedy="give each file once")
        spelled[path] = name
        as_text(text, where, "a file's content is a text")
    if (pair := clash(spelled)) is not None:
        message = f"is a file, and {show(spelled[pair[1]])} lies below it"
        raise InputError(message, field=child(field, spelled[pair[0]]), remedy="rename one of the two")
    return files


def _commands(value: Any, field: str) -> list[str]:
    commands = as_list(value, field, "give a list of shell commands")
    for index, command in enumerate(commands):
        text = as_text(command, f"{field}.{index}", "a command is a text")
        if not text.strip() or "\0" in text:
            message = "is empty" if not text.strip() else "holds a NUL, which no command can"
            raise InputError(message, field=f"{field}.{index}", remedy="write out a line for the shell, or remove it")
    return commands


def _solution(value: Any) -> str | dict[str, Any] | None:
    if value is None or isinstance(value, str):
        return value
    document = as_object(value, "solution", 'give a text, or {"files": {…}, "commands": […]}')
    only(document, ("files", "commands"), "solution")
    files = _files(_or(document.get("files"), {}), "solution.files")
    commands = _commands(_or(document.get("commands"), []), "solution.commands")
    if not files and not commands:
        raise InputError("is empty", field="solution", remedy="give files or commands, or leave it out")
    return document


def _split(value: Any) -> str:
    if not isinstance(value, str) or value not in _SPLITS:
        raise InputError(
            f"unknown split {show(value)}", field="split", remedy="give 'train' or 'eval', or leave it out"
        )
    return value


def _difficulty(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return from_level(value)
    return as_text(value, "difficulty", "give a label such as 'level-2'")


def _metadata(value: Any) -> dict[str, Any]:
    metadata = as_object(value, "metadata", "give an object")
    if "flags" in metadata:
        flags = as_object(metadata["flags"], "metadata.flags", 'give {"detector": {…settings…}}')
        for name, settings in flags.items():
            if settings is not False:  # switches the detector off
                as_object(settings, child("metadata.flags", name), "give the detector's settings, or false")
    return metadata

"""Write tasks as Harbor task folders, which other tools read.

A workspace task becomes ``instruction.md``, ``task.toml``, ``environment/`` (its set-up as COPY and RUN), ``tests/``
(its checker as ``test.sh``) and ``solution/``. A task that was read from a folder keeps its own tests and solution.

Not covered: tasks whose answer is judged, composite checkers, prompts of several messages: Harbor has no place for
them. A ``pytest`` checker counts expected tests by its own copy even where a candidate breaks the collection; the
``test.sh`` written here counts what pytest reports, and runs it with the candidate's code beside it, as Harbor does.
"""

from __future__ import annotations

import base64
import json
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from lydite.errors import InputError, StorageError
from lydite.rollout import Message
from lydite.task import Task
from lydite.tasksets.harbor import CLEAN, RELOCATE, SOLUTION, tests_of
from lydite.tasksets.paths import normal

WORKDIR: Final = "/workspace"
IMAGE: Final = "python:3.12-slim"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_REWARD: Final = "/logs/verifier/reward.txt"


def write_harbor(folder: str | Path, tasks: Iterable[Task]) -> list[Path]:
    """Write each task as a folder below ``folder``, which is made if need be and must be empty.

    Returns:
        The folders, in the order of the tasks.

    Raises:
        InputError: the folder holds something, or a task cannot be told as a Harbor task; names the task's field.
        StorageError: a file cannot be written.
    """
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError("holds something already", path=folder, remedy="name a new folder")
    written: list[Path] = []
    try:
        for task in tasks:
            try:
                held = harbor_files(task)
            except InputError as error:
                raise InputError(error.message, field=f"{task.id}.{error.field}", remedy=error.remedy) from None
            name = re.sub(r"[^\w.-]+", "-", task.id.rpartition("/")[2]).strip("-.") or "task"
            place = folder / name
            if place in written:
                place = folder / f"{name}-{len(written)}"
            for path, data in held.items():
                file = place / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)
                if data.startswith(b"#!"):
                    file.chmod(0o755)
            written.append(place)
    except OSError as error:
        raise StorageError(f"{error.filename or folder}: cannot be written: {error.strerror or error}") from None
    return written


def harbor_files(task: Task) -> dict[str, bytes]:
    """Path in the folder to content.

    Raises:
        InputError: Harbor has no place for something; names the field.
    """
    if task.env != "workspace":
        raise InputError("is no workspace", field="env", remedy="a task whose answer is judged stays a task document")
    if len(task.prompt) != 1 or task.prompt[0] != Message(role="user", content=task.prompt[0].content):
        raise InputError("is more than one text", field="prompt", remedy="an instruction is one text")
    kept = task.metadata.get("harbor")
    kept = kept if isinstance(kept, dict) else {}
    carried = tests_of(task.checker.config["script"]) if task.checker.type == "script" else None
    workdir = carried["workdir"] if carried else WORKDIR
    tests = _carried(carried) if carried else _tests(task)
    solution, variables = _solution(task)
    held = {
        "instruction.md": task.prompt_text + "\n",
        "task.toml": _toml({**_config(task, kept, carried), "solution": {"env": variables} if variables else {}}),
        "environment/Dockerfile": _dockerfile(task, kept.get("image", IMAGE), workdir),
        **{f"environment/files/{normal(path)}": text for path, text in task.setup_files.items()},
        **solution,
    }
    return {**{path: text.encode() for path, text in held.items()}, **tests}


def _config(task: Task, kept: dict[str, Any], carried: dict[str, Any] | None) -> dict[str, Any]:
    about: dict[str, Any] = {
        name: kept[name] for name in ("version", "description", "authors", "keywords") if name in kept
    }
    own: dict[str, Any] = {}
    if _NAME.fullmatch(task.id):
        about = {"name": task.id, **about}
    else:
        own["id"] = task.id
    if task.max_steps != 16:
        own["max_steps"] = task.max_steps
    if task.split:
        own["split"] = task.split
    if task.difficulty and task.difficulty != task.metadata.get("difficulty"):
        own["difficulty"] = task.difficulty
    metadata = {name: value for name, value in task.metadata.items() if name != "harbor"}
    verifier = {"timeout_sec": task.checker.config.get("timeout", 600.0 if carried else 30.0)}
    return {
        "schema_version": "1.4",
        **({"task": about} if "name" in about else {}),
        "metadata": {**metadata, **({"lydite": own} if own else {})},
        "verifier": {**verifier, **({"env": carried["env"]} if carried and carried["env"] else {})},
        "agent": {"timeout_sec": kept["agent_timeout_sec"]} if "agent_timeout_sec" in kept else {},
        "environment": {"network_mode": "no-network"},
    }


def _dockerfile(task: Task, image: str, workdir: str) -> str:
    lines = [f"FROM {image}"]
    if task.checker.type == "pytest":
        lines.append("RUN pip install pytest")
    lines.append(f"WORKDIR {workdir}")
    if task.setup_files:
        lines.append("COPY files/ ./")
    for command in task.setup_commands:
        plain = "\n" not in command and not command.startswith(("[", "-")) and not command.endswith("\\")
        lines.append(f"RUN {command if plain else json.dumps(['/bin/sh', '-c', command])}")
    return "\n".join(lines) + "\n"


def _carried(carried: dict[str, Any]) -> dict[str, bytes]:
    texts = {f"tests/{path}": text.encode() for path, text in carried["files"].items()}
    return {**texts, **{f"tests/{path}": base64.b64decode(data) for path, data in carried["binary"].items()}}


def _tests(task: Task) -> dict[str, bytes]:
    maker = _MAKERS.get(task.checker.type)
    if maker is None:
        remedy = f"checkers that Harbor can run: {', '.join(_MAKERS)}"
        raise InputError(f"Harbor cannot judge by {task.checker.type}", field="checker.type", remedy=remedy)
    return {f"tests/{path}": text.encode() for path, text in maker(task, task.checker.config).items()}


def _exit_code(task: Task, config: dict[str, Any]) -> dict[str, str]:
    wanted = config.get("expected_code", 0)
    test = f'sh /tests/command.sh\nif [ "$?" -eq {wanted} ]; then echo 1; else echo 0; fi > {_REWARD}\n'
    return {"test.sh": f"#!/bin/bash\n{test}", "command.sh": config["command"] + "\n"}


def _file_exists(task: Task, config: dict[str, Any]) -> dict[str, str]:
    paths = " ".join(shlex.quote(path) for path in config["paths"])
    test = f'found=0\nfor path in {paths}; do\n  if [ -f "$path" ]; then found=$((found + 1)); fi\ndone\n'
    total = len(config["paths"])
    return {"test.sh": f'#!/bin/bash\n{test}awk "BEGIN {{ print $found / {total} }}" > {_REWARD}\n'}


def _script(task: Task, config: dict[str, Any]) -> dict[str, str]:
    test = f'printed=$(python3 /tests/check.py)\npython3 /tests/score.py "$?" "$printed" > {_REWARD}\n'
    return {"test.sh": f"#!/bin/bash\n{test}", "check.py": config["script"], "score.py": _SCORE}


_SCORE: Final = '''"""The score of a script: the number on its last line, else 1; 0 if it does not end with code 0."""

import sys

code, lines = int(sys.argv[1]), sys.argv[2].strip().splitlines()
try:
    score = float(lines[-1])
    print(score if code == 0 and 0 <= score <= 1 else 0)
except (IndexError, ValueError):
    print(1 if code == 0 else 0)
'''


def _pytest(task: Task, config: dict[str, Any]) -> dict[str, str]:
    below = [normal(path) for path in config["test_paths"]]
    inside = {
        path: text
        for path, text in task.setup_files.items()
        if any(normal(path) == test or normal(path).startswith(test + "/") for test in below)
    }
    held = config.get("files") or inside
    if not held:
        raise InputError("is missing", field="checker.config.files", remedy="give the tests")
    paths = " ".join(map(shlex.quote, below))
    test = (
        f"rm -rf {paths}\ncp -r /tests/files/. .\npython3 -m pytest -q {paths} --junitxml /logs/verifier/junit.xml\n"
        f"python3 /tests/score.py > {_REWARD}\n"
    )
    files = {f"files/{normal(path)}": text for path, text in held.items()}
    return {"test.sh": f"#!/bin/bash\n{test}", "score.py": _PASSED, **files}


_PASSED: Final = '''"""The share of tests that passed, by pytest's own report."""

import xml.etree.ElementTree as ET

try:
    cases = list(ET.parse("/logs/verifier/junit.xml").iter("testcase"))
except (OSError, ET.ParseError):
    cases = []
bad = [case for case in cases if any(child.tag in ("failure", "error", "skipped") for child in case)]
print((len(cases) - len(bad)) / len(cases) if cases else 0)
'''

_MAKERS: Final = {"exit_code": _exit_code, "file_exists": _file_exists, "pytest": _pytest, "script": _script}


def _solution(task: Task) -> tuple[dict[str, str], dict[str, str]]:
    """Files of solution/, and the variables that they are given."""
    if not isinstance(task.solution, dict):
        return {}, {}
    files: dict[str, str] = {normal(path): text for path, text in task.solution.get("files", {}).items()}
    commands: list[str] = list(task.solution.get("commands", []))
    if all(path.startswith(SOLUTION + "/") for path in files) and (env := _solving(commands)) is not None:
        below = {path.removeprefix(SOLUTION + "/"): text for path, text in files.items()}
        return {f"solution/{path}": text for path, text in below.items() if path != ".relocate.py"}, env
    lines = ["#!/bin/bash", "set -e"]
    if files:
        lines.append("cp -r /solution/files/. .")
    lines += [f"sh -c {shlex.quote(command)}" for command in commands]
    held = {f"solution/files/{path}": text for path, text in files.items()}
    return {"solution/solve.sh": "\n".join(lines) + "\n", **held}, {}


def _solving(commands: list[str]) -> dict[str, str] | None:
    """The variables, where these commands are those of a solution that was read from a folder."""
    rest = [command for command in commands if command != RELOCATE]
    if len(rest) != 2 or rest[1] != CLEAN or not rest[0].endswith(f"bash {SOLUTION}/solve.sh"):
        return None
    words = shlex.split(rest[0])[:-2]
    return dict(word.split("=", 1) for word in words) if all("=" in word for word in words) else None


def _toml(config: dict[str, Any]) -> str:
    """TOML with one level of tables and, below it, inline ones."""
    lines = [f"{name} = {_value(value)}" for name, value in config.items() if not isinstance(value, dict)]
    for name, table in config.items():
        if isinstance(table, dict) and table:
            lines += ["", f"[{name}]"]
            lines += [f"{_key(key)} = {_value(value, f'{name}.{key}')}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


def _value(value: Any, field: str = "") -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(_value(item, field) for item in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(key)} = {_value(item, field)}' for key, item in value.items())}}}"
    raise InputError("null cannot be told in TOML", field=field, remedy="leave it out")


def _key(name: str) -> str:
    return (
        name
        if re.fullmatch(r"[A-Za-z0-9_-]+", name)
        else json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")
    )

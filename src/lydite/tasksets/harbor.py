"""Harbor task folders, read as task documents.

    instruction.md          the prompt
    task.toml               settings; what a workspace cannot honour is an error
    environment/Dockerfile  FROM, WORKDIR, COPY and RUN: the files and commands of the set-up
    tests/test.sh           run after the episode, with all of tests/; writes a reward to /logs/verifier
    solution/solve.sh       the reference solution, optional

The working directory of the container becomes the workspace, and paths below it become relative: in the instruction
when the task is read, in scripts when they run. The tests become a ``script`` checker that lays them out on a fresh
copy of the workspace, out of the reach of the episode, runs ``test.sh`` there and reads the reward.

Not covered: what the base image holds (a workspace has the programs of this machine), networks, GPUs, services, several
steps. Time limits of agents are kept in the metadata; the sampler's are the ones that count. As in Harbor, a test that
imports the candidate's code lets that code run beside the reward file: prefer tests that run it in a process and look
at what it prints.
"""

from __future__ import annotations

import base64
import json
import re
import shlex
import zlib
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from lydite.errors import InputError
from lydite.tasksets._dockerfile import Layout, read_dockerfile
from lydite.tasksets._harbor_config import read_config
from lydite.tasksets._network import network_lines
from lydite.tasksets._relocate import relocated
from lydite.tasksets.read import HARBOR

SOLUTION: Final = ".solution"
"""Folder of the workspace in which a reference solution's own files stand while it runs."""
RELOCATE: Final = f"python3 {SOLUTION}/.relocate.py"
CLEAN: Final = f"rm -r {SOLUTION}"
_HEADER: Final = """\
# Tests of a Harbor task: laid out on a copy of the workspace, and run.
import base64, json, zlib

TASK = json.loads("""
_PACKED: Final = ("zlib.decompress(base64.b64decode(", "))")
_READABLE: Final = 20_000  # characters of tests that stand in the script as they are
_CHARACTERS: Final = 100_000  # that a script may have
_LIMIT: Final = 16 << 20  # bytes of all the files of a task
_CANARY = re.compile(r"<!--.*canary.*-->|#.*canary.*", re.IGNORECASE)
_UNHONOURED: Final = {
    "environment/docker-compose.yaml": "there are no services in a workspace: give environment/Dockerfile",
    "environment/docker-compose.yml": "there are no services in a workspace: give environment/Dockerfile",
    "environment/.dockerignore": "it is not followed: remove it, and COPY what the task needs",
    "tests/docker-compose.yaml": "tests run on a copy of the workspace: leave it out",
    "trajectory.json": "an episode begins with the instruction: put what came before into it",
    "steps": "a task of several steps cannot be honoured: make each step a task of its own",
}


def read_harbor(folder: Path) -> dict[str, Any]:
    """The task document of a Harbor task folder.

    Raises:
        InputError: something is missing, or cannot be honoured; names the file, the line, the field and the remedy.
    """
    config = read_config(folder / HARBOR)
    for name, remedy in _UNHONOURED.items():
        if (folder / name).exists():
            raise InputError("cannot be honoured", path=folder / name, remedy=remedy)
    layout = _layout(folder, config)
    metadata = config["metadata"]
    own = metadata.pop("lydite", {})
    document: dict[str, Any] = {
        "id": config["task"].get("name") or folder.resolve().name,
        "prompt": _instruction(folder / "instruction.md", layout.workdir),
        "env": "workspace",
        "setup_files": {path: _text(file) for path, file in layout.files.items()},
        "setup_commands": layout.commands,
        "checker": {
            "type": "script",
            "config": {
                "script": _checker(folder, config, layout.workdir),
                "timeout": config["verifier"].get("timeout_sec", 600.0),
            },
        },
        "solution": _solution(folder, config, layout.workdir),
        "metadata": {**metadata, "harbor": _kept(config, layout)},
        **own,
    }
    if isinstance(metadata.get("difficulty"), str | int):
        document.setdefault("difficulty", metadata["difficulty"])
    return document


def tests_of(script: str) -> dict[str, Any] | None:
    """What the checker's script of a task that was read from a folder carries; ``None`` for any other script."""
    if not script.startswith(_HEADER):
        return None
    literal = script.removeprefix(_HEADER).partition("\n")[0].removesuffix(")")
    packed = literal.startswith(_PACKED[0])
    text: str = json.loads(literal.removeprefix(_PACKED[0]).removesuffix(_PACKED[1]) if packed else literal)
    carried: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(text)) if packed else text)
    return carried


def _layout(folder: Path, config: dict[str, Any]) -> Layout:
    dockerfile = folder / "environment" / "Dockerfile"
    if not dockerfile.is_file():
        remedy = "give it, with FROM, WORKDIR and COPY"
        raise InputError("there is no Dockerfile", path=dockerfile, remedy=remedy)
    return read_dockerfile(dockerfile, config["environment"].get("workdir"))


def _instruction(path: Path, workdir: str) -> str:
    lines = _text(path).split("\n")
    while lines and _CANARY.fullmatch(lines[0].strip()):
        lines.pop(0)
    text = "\n".join(lines).strip("\n")
    return relocated(text, {workdir: lambda goes_on: "" if goes_on else "./"})


def _checker(folder: Path, config: dict[str, Any], workdir: str) -> str:
    tests = folder / "tests"
    if not (tests / "test.sh").is_file():
        raise InputError("there is no test.sh", path=tests / "test.sh", remedy="write the reward there")
    env = config["verifier"].get("env", {})
    carried: dict[str, Any] = {"files": {}, "binary": {}, "workdir": workdir, "env": env}
    for path, file in _tree(tests).items():
        data = file.read_bytes()
        try:
            carried["files"][path] = data.decode()
        except UnicodeDecodeError:
            carried["binary"][path] = base64.b64encode(data).decode()
        if path.endswith(".sh"):
            _refuse_network(file)
    text = json.dumps(carried, ensure_ascii=False)
    literal = json.dumps(text)  # ASCII, whatever the tests hold
    if len(literal) > _READABLE:
        literal = json.dumps(base64.b64encode(zlib.compress(text.encode(), 9)).decode()).join(_PACKED)
    script = f"{_HEADER}{literal})\n{_source('_relocate')}\n{_source('_harbor_run')}"
    if len(script) > _CHARACTERS:
        message = f"hold more than a checker can carry ({len(script)} characters, packed, of {_CHARACTERS})"
        raise InputError(message, path=tests, remedy="make the files of the tests smaller")
    return script


def _source(module: str) -> str:
    """A module's text, without what only serves when it is imported here."""
    text = (files("lydite.tasksets") / f"{module}.py").read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if not line.endswith("# left out of the script")) + "\n"


def _solution(folder: Path, config: dict[str, Any], workdir: str) -> dict[str, Any] | None:
    solution = folder / "solution"
    if not (solution / "solve.sh").is_file():
        return None
    held = {f"{SOLUTION}/{path}": _text(file) for path, file in _tree(solution).items()}
    for path, file in _tree(solution).items():
        if path.endswith(".sh"):
            _refuse_network(file)
    names = {workdir: ".", "/solution": SOLUTION}
    commands = [CLEAN]
    env = "".join(f"{name}={shlex.quote(text)} " for name, text in config["solution"].get("env", {}).items())
    commands.insert(0, f"{env}bash {SOLUTION}/solve.sh")
    if any(relocated(text, names) != text for text in held.values()):
        held[f"{SOLUTION}/.relocate.py"] = _source("_relocate") + _RELOCATING.replace("WORKDIR", repr(workdir))
        commands.insert(0, RELOCATE)
    return {"files": held, "commands": commands}


_RELOCATING: Final = f"""

import os
import pathlib

here = os.getcwd()
for path in pathlib.Path("{SOLUTION}").rglob("*"):
    if path.is_file() and path.name != ".relocate.py":
        path.write_text(relocated(path.read_text(), {{WORKDIR: here, "/solution": here + "/{SOLUTION}"}}))
"""


def _kept(config: dict[str, Any], layout: Layout) -> dict[str, Any]:
    """What task.toml says that nothing here acts on."""
    kept = {name: value for name, value in config["task"].items() if name != "name"}
    kept |= {"image": layout.image, "workdir": layout.workdir}
    if "timeout_sec" in config["agent"]:
        kept["agent_timeout_sec"] = config["agent"]["timeout_sec"]
    return kept


def _tree(folder: Path) -> dict[str, Path]:
    """Files below a folder by their paths in it, sorted; what editors and Python leave behind is left out."""
    found: dict[str, Path] = {}
    size = 0
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder).as_posix()
        if "__pycache__" in path or file.name == ".DS_Store" or not file.is_file():
            continue
        if file.is_symlink():
            raise InputError("is a link", path=file, remedy="put the file itself there")
        size += file.stat().st_size
        if size > _LIMIT:
            raise InputError(f"holds more than {_LIMIT >> 20} MiB", path=folder, remedy="make it smaller")
        found[path] = file
    return found


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode()
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text", path=file, remedy="a file of a workspace is text") from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=file, remedy="put it there") from None


def _refuse_network(file: Path) -> None:
    for line, tool in network_lines(_text(file)):
        remedy = "there is no network: use what this machine has (pytest can be called as it is)"
        raise InputError(f"{tool} needs a network", path=file, line=line, remedy=remedy)

"""A Dockerfile that only lays out files, read as what a workspace can do: which files, and which commands.

Covered: FROM (once), WORKDIR, COPY of files beside it, RUN of commands that need no network. Everything else is an
error that names its line: an option that this cannot honour is never left out in silence.
Not covered: what the base image holds. The workspace has the tools of the machine that it runs on.
"""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from lydite.errors import InputError
from lydite.tasksets._network import network_tool
from lydite.tasksets._relocate import relocated

_UNDERSTOOD: Final = "FROM, WORKDIR, COPY and RUN"
_WHY: Final = {
    "ADD": "use COPY for files that lie beside the Dockerfile",
    "ENV": "set the variable where it is used",
    "ARG": "write the value out",
    "USER": "a workspace belongs to the one user that works in it; leave it out",
    "ENTRYPOINT": "nothing is started in a workspace; leave it out",
    "CMD": "nothing is started in a workspace; leave it out",
    "EXPOSE": "there is no network; leave it out",
    "HEALTHCHECK": "nothing is started in a workspace; leave it out",
    "LABEL": "put it into [metadata] of task.toml",
}

_PYTEST: Final = re.compile(
    r"(?:python3?\s+-m\s+)?pip3?\s+install(?:\s+--no-cache-dir)?\s+[\"']?pytest(?:==[\d.]+)?[\"']?"
)


class Layout(NamedTuple):
    """What a Dockerfile lays out.

    Attributes:
        image: the base image, which is only kept as a name.
        workdir: absolute path of the working directory, which becomes the workspace.
        files: path in the workspace to the file that is copied there.
        commands: lines for the shell that are run in the workspace, paths made relative.
    """

    image: str
    workdir: str
    files: dict[str, Path]
    commands: list[str]


def read_dockerfile(path: Path, workdir: str | None = None) -> Layout:
    """Read a Dockerfile whose context is the folder that it lies in.

    Args:
        path: the Dockerfile.
        workdir: the working directory, where task.toml names another than the Dockerfile's last.

    Raises:
        InputError: an instruction that a workspace cannot follow; names the line and what to do.
    """
    reader = _Reader(path)
    lines = list(_instructions(path))
    named = [_joined("/", value) for _, word, value in lines if word == "WORKDIR"]
    final = workdir or (_chain(value for _, word, value in lines if word == "WORKDIR") if named else None)
    if final in (None, "/"):
        raise InputError(
            "names no working directory",
            path=path,
            field="WORKDIR",
            remedy="say WORKDIR /app: it becomes the workspace",
        )
    assert final is not None
    reader.final = final
    for line, word, value in lines:
        try:
            reader.follow(word, value)
        except InputError as error:
            raise error.at(path, line) from None
    if not reader.image:
        raise InputError("has no FROM", path=path, line=1, remedy="begin with FROM and the name of an image")
    return Layout(reader.image, final, reader.files, reader.commands)


class _Reader:
    def __init__(self, path: Path) -> None:
        self.context, self.image, self.here, self.final = path.parent, "", "/", "/"
        self.files: dict[str, Path] = {}
        self.commands: list[str] = []

    def follow(self, word: str, value: str) -> None:
        if word in ("FROM", "WORKDIR", "COPY", "RUN"):
            getattr(self, f"_{word.lower()}")(value)
            return
        remedy = _WHY.get(word, f"only {_UNDERSTOOD} are followed")
        raise InputError("a workspace cannot follow this", field=word[:40], remedy=remedy)

    def _from(self, value: str) -> None:
        if self.image:
            raise InputError("a second stage", field="FROM", remedy="nothing is built here: copy finished files")
        words = [item for item in value.split() if not item.startswith("--")]
        self.image = words[0] if words else value

    def _workdir(self, value: str) -> None:
        _refuse_variables(value, "WORKDIR")
        self.here = _joined(self.here, value)

    def _copy(self, value: str) -> None:
        _refuse_variables(value, "COPY")
        words = _words(value, "COPY")
        if flags := [item for item in words if item.startswith("--")]:
            raise InputError(f"{flags[0]} cannot be honoured", field="COPY", remedy="copy files that lie beside it")
        if len(words) < 2:
            raise InputError("names no source and destination", field="COPY", remedy="COPY source destination")
        if self.commands:
            remedy = "put COPY before RUN: files are laid out first"
            raise InputError("a COPY after a RUN cannot be honoured", field="COPY", remedy=remedy)
        *sources, to = words
        target = _joined(self.here, to)
        into = to.endswith("/") or len(sources) > 1 or target == self.final or self._is_folder(target)
        for source in sources:
            found = self._found(source)
            several = into or len(found) > 1
            for item in found:
                if item.is_dir():
                    for file in sorted(item.rglob("*")):
                        if file.is_file():
                            self._place(file, posixpath.join(target, file.relative_to(item).as_posix()))
                else:
                    self._place(item, posixpath.join(target, item.name) if several else target)

    def _found(self, source: str) -> list[Path]:
        inside = posixpath.normpath("/" + source).lstrip("/")  # Docker, too, keeps a source within the context
        if not inside:
            return [self.context]
        found = sorted(self.context.glob(inside)) if re.search(r"[*?\[]", inside) else [self.context / inside]
        for item in found:
            if not item.exists() or not item.resolve().is_relative_to(self.context.resolve()):
                raise InputError(f"there is no {source}", field="COPY", remedy="sources lie beside the Dockerfile")
        if not found:
            raise InputError(f"nothing fits {source}", field="COPY", remedy="sources lie beside the Dockerfile")
        return found

    def _place(self, file: Path, to: str) -> None:
        below = posixpath.relpath(to, self.final)
        if below == "." or below.startswith(".."):
            remedy = f"copy to a path below {self.final}"
            raise InputError(f"{to} lies outside of the working directory", field="COPY", remedy=remedy)
        self.files[below] = file

    def _is_folder(self, target: str) -> bool:
        below = posixpath.relpath(target, self.final)
        return any(path.startswith(below + "/") for path in self.files)

    def _run(self, value: str) -> None:
        if "<<" in value and "\n" in value:
            raise InputError("a here-document cannot be honoured", field="RUN", remedy="COPY a script and run that")
        if value.startswith("--"):
            raise InputError(f"{value.split()[0]} cannot be honoured", field="RUN", remedy="leave it out")
        command = shlex.join(_words(value, "RUN")) if value.startswith("[") else value
        if _PYTEST.fullmatch(command.strip()):
            return  # it is in every workspace, for the grader
        if tool := network_tool(command):
            remedy = "there is no network in a workspace: COPY what it would bring, or do without"
            raise InputError(f"{tool} needs a network", field="RUN", remedy=remedy)
        if self.here != self.final:
            remedy = "put RUN behind the last WORKDIR"
            raise InputError(f"runs in {self.here}, not in {self.final}", field="RUN", remedy=remedy)
        self.commands.append(relocated(command, {self.final: lambda goes_on: "" if goes_on else "."}))


def _instructions(path: Path) -> Iterator[tuple[int, str, str]]:
    """(line, INSTRUCTION, value), comments left out and continued lines joined."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", path=path, remedy="save it as UTF-8") from None
    number = 0
    parts: list[str] = []
    for position, raw in enumerate(lines, 1):
        if raw.lstrip().startswith("#") or (not raw.strip() and not parts):
            continue
        if not parts:
            number = position
        going_on = raw.rstrip().endswith("\\")
        parts.append(raw.rstrip().removesuffix("\\"))
        if not going_on:
            yield number, *_split("".join(parts))
            parts = []
    if parts:
        yield number, *_split("".join(parts))


def _split(text: str) -> tuple[str, str]:
    word, _, value = text.strip().partition(" ")
    return word.upper(), value.strip()


def _words(value: str, field: str) -> list[str]:
    """The words of an instruction, in JSON or as the shell has them."""
    try:
        if value.startswith("["):
            words = json.loads(value)
            if isinstance(words, list) and all(isinstance(word, str) for word in words):
                return words
            raise ValueError("no list of texts")
        return shlex.split(value)
    except ValueError as error:
        raise InputError(f"cannot be read: {error}", field=field, remedy="quote the words") from None


def _refuse_variables(value: str, field: str) -> None:
    if "$" in value:
        raise InputError("variables are not followed", field=field, remedy="write the path out")


def _joined(here: str, there: str) -> str:
    return posixpath.normpath(posixpath.join(here, there.strip("\"'")))


def _chain(values: Iterator[str]) -> str:
    here = "/"
    for value in values:
        here = _joined(here, value)
    return here

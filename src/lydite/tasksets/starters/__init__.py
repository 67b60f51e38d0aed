"""Starter tasks: one for each kind of checker, and one Harbor folder. Each passes lint and its own checker as it is."""

from __future__ import annotations

import json
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from lydite.errors import InputError, StorageError
from lydite.tasksets._names import nearest
from lydite.tasksets._yaml import iter_yaml
from lydite.tasksets.checkers import CHECKERS

HARBOR: Final = "harbor"
KINDS: Final = (*CHECKERS, HARBOR)


def starter(kind: str) -> str:
    """The YAML of a starter task, with comments that say what each field is for.

    Raises:
        InputError: there is no such kind.
    """
    if kind == HARBOR:
        raise InputError("a Harbor task is a folder", field="kind", remedy="write it with write_starter")
    if kind not in KINDS:
        raise InputError(f"unknown kind {kind!r:.60}", field="kind", remedy=nearest(kind, KINDS))
    return (files(__name__) / f"{kind}.yaml").read_text(encoding="utf-8")


def write_starter(kind: str, path: str | Path) -> Path:
    """Write a starter task: to a ``.yaml``, ``.json`` or ``.jsonl`` file, or to a folder for ``harbor``.

    Raises:
        InputError: no such kind, another kind of file, or something is there already.
        StorageError: it cannot be written.
    """
    path = Path(path)
    text = "" if kind == HARBOR else starter(kind)
    if path.exists() and not (kind == HARBOR and path.is_dir() and not any(path.iterdir())):
        raise InputError("is there already", path=path, remedy="name a new one")
    try:
        if kind == HARBOR:
            _copy(files(__name__) / HARBOR, path)
            return path
        if path.suffix in (".json", ".jsonl"):
            ((_, document),) = iter_yaml(text)
            text = json.dumps(document, ensure_ascii=False, indent=2 if path.suffix == ".json" else None) + "\n"
        elif path.suffix not in (".yaml", ".yml"):
            raise InputError("unknown kind of file", path=path, remedy="name a .yaml, .json or .jsonl file")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{path}: cannot be written: {error.strerror or error}") from None
    return path


def _copy(source: Traversable, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for item in source.iterdir():
        if item.is_dir():
            _copy(item, target / item.name)
        elif not item.name.endswith((".pyc", ".DS_Store")):
            data = item.read_bytes()
            (target / item.name).write_bytes(data)
            if data.startswith(b"#!"):
                (target / item.name).chmod(0o755)

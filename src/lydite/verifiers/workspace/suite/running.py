"""Have one file of tests collected or run in the sandbox, and read what is said of it."""

from __future__ import annotations

import secrets
from typing import Any, NamedTuple

import msgspec

from lydite.sandbox import ExecResult, Snapshot
from lydite.verifiers.workspace import box
from lydite.verifiers.workspace.programs import TESTS
from lydite.verifiers.workspace.suite.config import SuiteConfig

_ALLOWED = {
    "settrace": "sys.settrace",
    "setprofile": "sys.setprofile",
    "get_objects": "gc.get_objects",
    "get_referrers": "gc.get_referrers",
    "get_referents": "gc.get_referents",
}
"""What tests may do where the grader's own files name it."""


class Said(NamedTuple):
    """What one process said of one file.

    Attributes:
        records: see ``inside/tests.py``.
        whole: whether it came to its end.
        stopped: reason and words, where it ran into a limit.
        forged: whether somebody else wrote to the grader's channel.
        sentinels: the tests that had to fail and to pass; none where the file cannot have any.
        result: how the process ended.
    """

    records: tuple[list[Any], ...]
    whole: bool
    stopped: tuple[str, str] | None
    forged: bool
    sentinels: tuple[str, str] | None
    result: ExecResult


def run_file(
    file: str, tree: Snapshot, config: SuiteConfig, *, collect: bool = False, sentinels: tuple[str, ...] = ()
) -> Said:
    """Have pytest collect or run a file.

    Args:
        file: its path in the tree.
        tree: the state, with the grader's files laid over it.
        sentinels: names of the file's own tests, after which two more are named; none: no sentinels.

    Raises:
        LostError: the sandbox failed.
    """
    secret = secrets.token_hex(16).encode()
    drawn = _drawn(sentinels) if sentinels else None
    payload = {
        "secret": secret,
        "entries": box.entries(tree),
        "seed": tree.digest,
        "collect": collect,
        "file": file,
        "files": config.python,
        "path": _search_path(config),
        "modules": {name: path for name, path in _modules(config).items() if path not in config.tests},
        "conftest": any(path.rpartition("/")[2] == "conftest.py" for path in config.files),
        "names": tuple(f"@{secrets.token_hex(8)}" for _ in range(4)),
        "sentinels": (*drawn, secrets.randbelow(1 << 30)) if drawn else None,
        "library": config.library,
        "wanted": config.wanted,
        "named": tuple(sorted(config.named)),
        "allowed": [event for name, event in _ALLOWED.items() if name in config.named],
    }
    result = box.run(TESTS, payload, box.size_of(tree), config.timeout, config.memory_mb)
    records: list[list[Any]] = []
    lines = result.stdout.split(b"\n")
    cut = lines.pop()  # what follows the last line: nothing, unless the process was stopped while it wrote
    stopped = box.ended(result)
    forged = bool(cut) and stopped is None
    for line in lines:
        try:
            if not line.startswith(secret):
                raise ValueError("not ours")
            records.append(msgspec.json.decode(line[len(secret) :], type=list[Any]))
        except ValueError:
            forged = True
    whole = bool(records) and records[-1] == ["end"]
    return Said(tuple(records), whole, stopped, forged, drawn, result)


def _drawn(names: tuple[str, ...]) -> tuple[str, str]:
    """Two names of tests that look like these."""
    stems = sorted({name.removeprefix("test").strip("_") for name in names} - {""}) or ["case"]
    taken = set(names)
    drawn: list[str] = []
    while len(drawn) < 2:
        name = f"test_{secrets.choice(stems)}_{secrets.token_hex(2)}"
        if name not in taken:
            taken.add(name)
            drawn.append(name)
    return drawn[0], drawn[1]


def _search_path(config: SuiteConfig) -> tuple[str, ...]:
    """Where the tests' imports are looked for, behind the standard library: the folders that pytest would add (the
    first above a test that is no package), the workspace, and its ``src``."""
    folders: list[str] = []
    for path in (*config.tests, *(path for path in config.files if path.endswith("conftest.py"))):
        folder = path.rpartition("/")[0]
        while folder and f"{folder}/__init__.py" in config.files:
            folder = folder.rpartition("/")[0]
        folders.append(folder)
    return tuple(dict.fromkeys([*(folder for folder in folders if folder), "", "src"]))


def _modules(config: SuiteConfig) -> dict[str, str]:
    """Names by which the grader's Python files can be imported, and their paths."""
    found: dict[str, str] = {}
    for folder in _search_path(config):
        prefix = f"{folder}/" if folder else ""
        for path in config.python:
            name = path.removeprefix(prefix).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            if path.startswith(prefix) and path.rpartition("/")[2] != "conftest.py":
                found.setdefault(name, path)
    return found

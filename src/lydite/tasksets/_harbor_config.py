"""task.toml of a Harbor task: what is understood, and an error with its line for what cannot be honoured.

Fields and defaults are those of Harbor 0.26, schema 1.4 (``harbor/models/task/config.py``), older names included.
"""

from __future__ import annotations

import datetime
import os
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from lydite.errors import InputError
from lydite.tasksets._names import child, nearest, show

MEMORY_MB: Final = 512
"""MiB that a workspace has."""
STORAGE_MB: Final = 64
"""MiB of files that a workspace can hold."""

LONGEST: Final = 3600
"""Seconds that tests may take."""

_Check = Callable[[Any], str | None]
_Table = dict[str, "_Check | None"]  # None: kept, or without meaning here


def _never(why: str) -> _Check:
    """A field that may be there only where it asks for nothing."""
    return lambda value: None if value in (None, False, "", 0, [], {}) else why


def _network(value: Any) -> str | None:
    return None if value == "no-network" else 'there is no network: say network_mode = "no-network" if it does without'


def _memory(most: int, what: str) -> _Check:
    def check(value: Any) -> str | None:
        asked = _megabytes(value)
        if asked is None:
            return f"is no number of MiB: {show(value)}"
        return f"a workspace has {most} MiB of {what}: lower it if that is enough" if asked > most else None

    return check


def _cpus(value: Any) -> str | None:
    have = os.cpu_count() or 1
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"is no number: {show(value)}"
    return f"this machine has {have}: lower it if that is enough" if value > have else None


def _seconds(value: Any) -> str | None:
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= LONGEST
    return None if good else f"give seconds above 0, up to {LONGEST}"


def _literal(value: Any) -> str | None:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        return "must be a table of texts"
    if found := next((name for name, text in value.items() if "${" in text), None):
        return f"{found} comes from the host's environment, of which a sandbox sees nothing: write the value out"
    return None


_NO_USER = _never("everything runs as one user without rights: leave it out")
_ENVIRONMENT: Final[_Table] = {
    "build_timeout_sec": None,
    "docker_image": _never("a prebuilt image holds files that are not in the folder: give environment/Dockerfile"),
    "os": lambda value: None if str(value).lower() == "linux" else "only linux",
    "cpus": _cpus,
    "memory_mb": _memory(MEMORY_MB, "memory"),
    "memory": _memory(MEMORY_MB, "memory"),
    "storage_mb": _memory(STORAGE_MB, "files"),
    "storage": _memory(STORAGE_MB, "files"),
    "gpus": _never("there is no GPU in a workspace"),
    "gpu_types": _never("there is no GPU in a workspace"),
    "tpu": _never("there is no TPU in a workspace"),
    "network_mode": _network,
    "allowed_hosts": _never("there is no network in a workspace"),
    "allow_internet": _never("there is no network: say allow_internet = false if it does without"),
    "mcp_servers": _never("a workspace has no MCP servers"),
    "skills_dir": _never("a workspace has no skills"),
    "env": _never("a workspace has no variables of its own: set them where they are used"),
    "healthcheck": _never("nothing is started in a workspace"),
    "workdir": lambda value: None if isinstance(value, str) and value.startswith("/") else "must be an absolute path",
}
_PHASE: Final[_Table] = {
    "timeout_sec": None,
    "user": _NO_USER,
    "network_mode": _network,
    "allowed_hosts": _never("there is no network in a workspace"),
}
_TABLES: Final[dict[str, _Table | None]] = {
    "task": dict.fromkeys(("name", "version", "description", "authors", "keywords")),
    "metadata": None,
    "agent": _PHASE,
    "verifier": {
        **_PHASE,
        "timeout_sec": _seconds,
        "env": _literal,
        "environment_mode": lambda value: None if value == "shared" else "tests run on a copy of the workspace: shared",
        "environment": _never("tests have no environment of their own: they run on a copy of the workspace"),
        "collect": _never("no commands are run between the episode and the tests"),
    },
    "environment": _ENVIRONMENT,
    "solution": {"env": _literal},
}
_TOP: Final[_Table] = {
    "schema_version": lambda value: None if re.fullmatch(r"1(\.\d+)?", str(value)) else "only schema 1.x is known",
    "version": lambda value: None if re.fullmatch(r"1(\.\d+)?", str(value)) else "only schema 1.x is known",
    "source": None,
    "steps": _never("a task of several steps cannot be honoured: make each step a task of its own"),
    "artifacts": _never("nothing is collected beside the workspace"),
    "multi_step_reward_strategy": _never("a task of several steps cannot be honoured"),
}

OWN: Final[_Table] = dict.fromkeys(("id", "max_steps", "split", "difficulty"))
"""Fields of a task document that Harbor has no place for: they may stand in ``[metadata.lydite]``."""


def read_config(path: Path) -> dict[str, Any]:
    """The tables of a task.toml, as plain JSON values.

    Raises:
        InputError: it is no TOML, has a field that nobody knows, or asks for what cannot be honoured; with the line.
    """
    try:
        text = path.read_text(encoding="utf-8")
        config = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", path=path, remedy="save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise InputError(
            f"not TOML: {error}", path=path, line=int(line[1]) if line else None, remedy="mend it"
        ) from None
    try:
        _check(config, {**_TOP, **dict.fromkeys(_TABLES)}, "")
        for name, known in _TABLES.items():
            table = config.setdefault(name, {})
            if not isinstance(table, dict):
                raise InputError(f"must be a table, not {show(table)}", field=name, remedy=f"write [{name}]")
            if known is not None:
                _check(table, known, name)
        own = config["metadata"].get("lydite", {})
        if not isinstance(own, dict):
            raise InputError(f"must be a table, not {show(own)}", field="metadata.lydite", remedy="or leave it out")
        _check(own, OWN, "metadata.lydite")
    except InputError as error:
        raise error.at(path, line_of(text, error.field or "")) from None
    return {name: _plain(value) for name, value in config.items()}


def _check(table: dict[str, Any], known: _Table, prefix: str) -> None:
    for name, value in table.items():
        where = child(prefix, name)
        if name not in known:
            raise InputError("unknown field", field=where, remedy=nearest(name, known))
        check = known[name]
        if check is not None and (why := check(value)) is not None:
            raise InputError(f"{show(value)} cannot be honoured", field=where, remedy=why)


def line_of(text: str, field: str) -> int | None:
    """The line of TOML on which a dotted field stands, as far as plain reading tells."""
    *tables, name = field.split(".")
    header, line = "", None
    for number, raw in enumerate(text.splitlines(), 1):
        stripped = raw.strip()
        if found := re.match(r"\[+\s*([^\]]+?)\s*\]+", stripped):
            header = found[1].replace('"', "").replace(" ", "")
            if header == field or header.startswith(field + "."):
                line = line or number
        elif re.match(rf"[\"']?{re.escape(name)}[\"']?\s*[=.]", stripped) and header == ".".join(tables):
            return number
    return line


def _megabytes(value: Any) -> float | None:
    """MiB of a number, or of a text such as 2G."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    found = re.fullmatch(r"\s*([\d.]+)\s*([GMK])B?\s*", value.upper()) if isinstance(value, str) else None
    try:
        return float(found[1]) * {"G": 1024, "M": 1, "K": 1 / 1024}[found[2]] if found else None
    except ValueError:
        return None


def _plain(value: Any) -> Any:
    """The value as JSON has it: dates and times as texts."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else value

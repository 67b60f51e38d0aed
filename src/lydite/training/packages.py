"""Packages that a run asks for: names with versions, installed once into a folder that its sandboxes show read-only.

Covered: only names with versions are taken (no URL, path, flag, marker, extra); only wheels are installed, so nothing
of a package runs outside of a sandbox; a run that is resumed or replayed gets the versions that it had. Not covered:
whether a package does what its name says.
"""

from __future__ import annotations

import importlib.metadata as metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from lydite.errors import InputError

if TYPE_CHECKING:
    from lydite.training.recipe import Recipe

LIMIT = 50
SECONDS = 1800.0
"""Of one installation."""


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """What was installed: the entries as the recipe has them, name to version of all that came, and where it lies."""

    requirements: tuple[str, ...]
    versions: dict[str, str]
    folder: str


def check_packages(entries: Sequence[str]) -> list[str]:
    """The entries as they are, when each is a name with or without versions (``name``, ``name==1.2``, ``name>=1,<2``).

    Raises:
        ValueError: names the offending entry: a URL, a path, a flag, an extra, a marker, or no requirement at all.
    """
    if len(entries) > LIMIT:
        raise ValueError(f"{len(entries)} packages: at most {LIMIT}")
    if not entries:
        return []
    from packaging.requirements import InvalidRequirement, Requirement

    for entry in entries:
        try:
            found = Requirement(entry)
        except InvalidRequirement:
            raise ValueError(f"{entry!r} is no package name with a version (PEP 508)") from None
        if found.url is not None or found.marker is not None or found.extras:
            raise ValueError(f"{entry!r}: only a name and versions are allowed, no URL, marker or extra")
        if _canonical(found.name) == "lydite":
            raise ValueError(f"{entry!r}: it holds the graders, and is never shown to an attempt")
    return list(entries)


def packages_of(recipe: Recipe, noted: Mapping[str, Any] | None = None) -> Installed | None:
    """Install what the stages of a recipe ask for, all of it together; ``None`` where they ask for nothing.

    Args:
        recipe: the recipe.
        noted: what an earlier session of the run noted, to get the same versions again.

    Raises:
        InputError: something cannot be installed; names the stage and says why.
    """
    asked = {f"stages.{index}": stage.pip_packages for index, stage in enumerate(recipe.stages) if stage.kind == "grpo"}
    entries = list(dict.fromkeys(entry for some in asked.values() for entry in some))
    if not entries:
        return None
    field = f"{next(name for name, some in asked.items() if some)}.pip_packages"
    return install(entries, field=field, versions=(noted or {}).get("versions"))


@contextmanager
def shown(notes: Mapping[str, Any]) -> Iterator[None]:
    """While inside, sandboxes of episodes and checks show what a run noted that it had installed.

    Raises:
        InputError: these versions cannot be installed here.
    """
    from lydite.sandbox import overlay

    noted = notes.get("packages")
    if noted is None:
        yield
        return
    found = install(noted["requirements"], field="packages", versions=noted["versions"])
    with overlay.share(found.folder):
        yield


def install(
    entries: Sequence[str], *, field: str = "pip_packages", versions: Mapping[str, str] | None = None
) -> Installed:
    """Install packages into an overlay; one that is there already is taken.

    Args:
        entries: as ``check_packages`` takes them.
        field: what to name in an error.
        versions: of an earlier installation of the same entries: others are not taken.

    Raises:
        InputError: an entry is refused, or cannot be installed; says which, and what pip said.
        StorageError: there is no place to keep them.
    """
    from lydite.sandbox import overlay

    try:
        wanted = sorted(check_packages(entries))
    except ValueError as error:
        raise InputError(str(error), field=field) from None
    if versions is not None and _versions(overlay.place_of("pip", wanted)) != dict(versions):
        wanted = sorted(f"{name}=={version}" for name, version in versions.items())
    folder = overlay.made("pip", wanted, lambda place: _install(place, wanted, field))
    return Installed(requirements=tuple(entries), versions=_versions(folder), folder=str(folder))


def _install(place: Path, entries: Sequence[str], field: str) -> None:
    from lydite.sandbox import overlay

    command = [sys.executable, "-m", "pip", "install", "--target", str(place), "--only-binary=:all:", "--no-input"]
    command += ["--quiet", "--disable-pip-version-check", "--no-warn-script-location", "--", *entries]
    empty = tempfile.mkdtemp(prefix="lydite-pip-")  # pip takes a name for a path where there is such a file
    env = {**os.environ, "PIP_USER": "0"}  # a user's own setting, with which --target cannot be
    try:
        done = subprocess.run(  # noqa: S603
            command,
            env=env,
            cwd=empty,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _refused(f"pip did not end within {SECONDS:.0f} s", field) from None
    finally:
        shutil.rmtree(empty, ignore_errors=True)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith(("ERROR", "error")) or "No module" in line]
        raise _refused("; ".join(said or done.stderr.splitlines()[-3:])[-600:], field)
    if "lydite" in _versions(place):
        raise _refused("one of them requires lydite, which holds the graders", field)
    overlay.write_programs(place, metadata.distributions(path=[str(place)]))


def _refused(why: str, field: str) -> InputError:
    return InputError(
        f"the packages cannot be installed: {why}",
        field=field,
        remedy="try: pip download --only-binary=:all: NAME, with the same names",
    )


def _versions(folder: Path) -> dict[str, str]:
    found = metadata.distributions(path=[str(folder)])
    return dict(sorted((_canonical(str(one.metadata["Name"])), str(one.version)) for one in found))


def _canonical(name: str) -> str:
    """PEP 503."""
    return re.sub(r"[-_.]+", "-", name).lower()

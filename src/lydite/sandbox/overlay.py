"""Folders of packages that sandboxes show whole, read-only (``overlays`` of a Sandbox): how they are made and kept.

An overlay is made once, in a folder of its own that is moved to its place when it is whole, and never changed again;
its name says what went into it. Programs of its packages lie in ``bin``, and start with the interpreter of the jobs.

Covered: two processes that want the same overlay at once; one that was killed while it made one; a cache that others
could write to is not used. Not covered: what an administrator, or the user, does to the cache by hand.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.metadata as metadata
import json
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lydite.errors import StorageError
from lydite.sandbox.distributions import closure
from lydite.sandbox.interpreter import environment

SWITCH = "LYDITE_SANDBOX_OVERLAYS"
"""Environment variable: folders, apart by colons, that every sandbox of Lydite's own shows: see :func:`shared`."""
FORMAT = 1
"""Rises when an overlay would be made in another way."""


def shared() -> tuple[str, ...]:
    """What the sandboxes of episodes and checks show in this process and in those that it starts."""
    return tuple(filter(None, os.environ.get(SWITCH, "").split(os.pathsep)))


@contextmanager
def share(*folders: str) -> Iterator[None]:
    """While inside, sandboxes of episodes and checks show these overlays too. Not for several threads at once."""
    before = os.environ.get(SWITCH)
    os.environ[SWITCH] = os.pathsep.join([*folders, *shared()])
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(SWITCH, None)
        else:
            os.environ[SWITCH] = before


def installed(names: Sequence[str]) -> tuple[str, ...]:
    """An overlay of distributions that are installed for Lydite, and of what they require, so that it costs a sandbox
    one mount and brings the programs of ``names`` along. None at all where one of them is not installed.

    Raises:
        InputError: one is installed in a way that cannot be shown.
        StorageError: there is no place to keep it.
    """
    try:
        asked = [metadata.distribution(name) for name in names]
    except metadata.PackageNotFoundError:
        return ()
    shown = closure(names)

    def make(folder: Path) -> None:
        for path, name in shown:
            if os.path.isdir(path):
                shutil.copytree(path, folder / name)
            else:
                shutil.copy2(path, folder / name)
        write_programs(folder, asked)

    return (str(made("installed", [list(pair) for pair in shown], make)),)


def write_programs(folder: Path, distributions: Iterable[metadata.Distribution]) -> None:
    """Programs of these distributions in ``folder/bin``, in place of what an installer has put there."""
    shutil.rmtree(folder / "bin", ignore_errors=True)
    python = environment().python
    for point in (one for found in distributions for one in found.entry_points):
        if point.group != "console_scripts" or "/" in point.name or point.name.startswith((".", "python")):
            continue
        (folder / "bin").mkdir(exist_ok=True)
        program = folder / "bin" / point.name
        first = point.attr.partition(".")[0]
        program.write_text(
            f"#!{python}\nimport sys\nfrom {point.module} import {first}\nsys.exit({point.attr}())\n", encoding="utf-8"
        )
        program.chmod(0o755)


def made(kind: str, key: object, make: Callable[[Path], None]) -> Path:
    """The overlay of this name; made when it is not there yet.

    Args:
        kind: first part of its name.
        key: plain values: all that decides what it holds, the interpreter apart.
        make: fills an empty folder. What it raises is raised, and nothing is left.

    Raises:
        StorageError: there is no place to keep it.
    """
    place = place_of(kind, key)
    if place.is_dir():
        return place
    base, name = place.parent, place.name
    with open(base / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if place.is_dir():
            return place
        for left in base.glob(f"{name}.new-*"):  # of a process that was killed: nobody else holds the lock
            shutil.rmtree(left, ignore_errors=True)
        fresh = Path(tempfile.mkdtemp(prefix=f"{name}.new-", dir=base))
        try:
            make(fresh)
            _readable(fresh)
            os.rename(fresh, place)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
    return place


def place_of(kind: str, key: object) -> Path:
    """Where this overlay is, or would be."""
    text = json.dumps([FORMAT, environment().python, sys.implementation.cache_tag, sys.version, key], sort_keys=True)
    return _base() / f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:24]}"


def _base() -> Path:
    """Where overlays are kept. As root not in its home: the users that jobs become could not reach it there."""
    cache = os.environ.get("XDG_CACHE_HOME") or ("/var/cache" if os.getuid() == 0 else os.path.expanduser("~/.cache"))
    reasons = []
    for folder in (Path(cache) / "lydite" / "overlays", Path(tempfile.gettempdir()) / f"lydite-overlays-{os.getuid()}"):
        try:
            folder.mkdir(mode=0o755, parents=True, exist_ok=True)
            found = folder.lstat()
            if stat.S_ISLNK(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
                raise PermissionError(f"{folder} is not ours alone")
            if not os.access(folder, os.W_OK):
                raise PermissionError(f"{folder} cannot be written")
            return folder
        except OSError as error:
            reasons.append(str(error))
    raise StorageError(f"there is no place for packages: {'; '.join(reasons)}")


def _readable(folder: Path) -> None:
    """Whatever the umask was: jobs may run as another user."""
    for place, _, files in os.walk(folder):
        os.chmod(place, 0o755)  # noqa: S103  (packages from a public index)
        for name in files:
            path = os.path.join(place, name)
            if not os.path.islink(path):
                os.chmod(path, 0o755 if os.stat(path).st_mode & 0o100 else 0o644)

"""What a job sees of this machine: its interpreter, the system's programs, and the packages that were asked for.

Covered: a base interpreter of its own (never a virtual environment's), started with nothing but its standard library;
every folder of installed packages on this machine hidden, so that graders, tests, pip and Lydite itself can be neither
imported nor read; packages shown one by one. Not covered: data that someone keeps in a system folder (all of
/usr/share is readable, as it is to every user), packages inside an application's own folder below /usr/lib, and access
control lists, which :func:`reachable` does not read.

This module only says what is to be shown and hidden. The back ends do it, each with its own means.
"""

from __future__ import annotations

import glob
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from lydite.errors import InputError
from lydite.sandbox.distributions import closure, distributions_of

# Imported once by every zygote of "plain", so that the programs that use them do not pay for it. A module is here when
# programs use it often enough: one MiB more costs every job 0.03 ms in fork. Measured with Python 3.11, import time
# against cost per job: the first nine, which the runner needs in part anyway, 7 ms to 0.03 ms; typing 3 ms to 0.01 ms;
# random 1 ms to 0.01 ms; fractions and decimal 2 ms to 0.01 ms; dataclasses (with inspect and ast) 6 ms to 0.04 ms.
# Left out: datetime, 1 ms to 0.02 ms, and statistics, which few programs use.
PLAIN = (
    *("math", "collections", "itertools", "functools", "heapq", "bisect", "string", "re", "json"),
    *("operator", "copy", "random", "typing", "fractions", "decimal", "dataclasses"),
)

_SYSTEM = (
    *("/usr/bin", "/usr/sbin", "/usr/lib*", "/usr/include", "/usr/share"),
    *(f"/usr/local/{name}" for name in ("bin", "sbin", "lib", "lib64", "include", "share", "libexec")),
    *("/bin", "/sbin", "/lib*"),
    *("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/ssl/openssl.cnf"),
)
_OF_PREFIX = ("bin", "lib", "lib64", "include", "share")
_PACKAGES = "{root}/lib*/p*y*/*-packages"  # python3.11, python3, pypy3.9; site-packages, dist-packages

_FIND = "import json, sys; print(json.dumps([sys.version_info[:3], getattr(sys, '_base_executable', sys.executable)]))"
# Files that the interpreter maps lie where its libraries are: a few interpreters keep them outside of their prefix.
_ASK = """
import json, sys
for name in "_ssl", "_ctypes", "_sqlite3", "_lzma", "_bz2", "zlib":
    try: __import__(name)
    except ImportError: pass
with open("/proc/self/maps") as maps:
    mapped = {line[line.index("/"):].rstrip() for line in maps if "/" in line}
print(json.dumps([sys.implementation.cache_tag, sys.path, sys.base_prefix, sorted(mapped)]))
"""


SWITCH = "LYDITE_SANDBOX_PYTHON"
"""Environment variable: the interpreter of the jobs, where the one below this virtual environment will not do."""


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """What the jobs of one sandbox can see and import. Absolute paths of the host throughout.

    Attributes:
        python: the base interpreter, all links resolved.
        path: its ``sys.path`` with the standard library alone.
        read_only: existing files and folders to show, read-only and at the same path. Some are links (/bin).
        masked: folders below ``read_only`` that must look empty; under both names where one leads over a link.
        packages: (host path, name) of files and folders to be importable under that name. May lie below ``masked``.
        overlays: folders to show whole, read-only, and to import from behind ``packages``; the programs in their
            ``bin`` come before those of the system.
        imports: modules that a zygote imports before its first job.
        modules: (name, source) of modules of the caller's own that it runs after these.
    """

    python: str
    path: tuple[str, ...]
    read_only: tuple[str, ...]
    masked: tuple[str, ...]
    packages: tuple[tuple[str, str], ...]
    imports: tuple[str, ...]
    modules: tuple[tuple[str, str], ...] = ()
    overlays: tuple[str, ...] = ()


def with_modules(environment: Environment, modules: Mapping[str, str]) -> Environment:
    """The same, with modules of the caller's own.

    Raises:
        InputError: a name is none, or the standard library's, or a source does not compile.
    """
    for name, source in modules.items():
        if not name.isidentifier() or name in sys.stdlib_module_names:
            raise InputError(f"{name!r} cannot be the name of a module", field="modules", remedy="give another name")
        try:
            compile(source, f"{name}.py", "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            raise InputError(
                f"{name} does not compile: {error}", field="modules", remedy="give Python source"
            ) from None
    return msgspec.structs.replace(environment, modules=tuple(modules.items()))


def environment(
    preload: str | Sequence[str] = "plain",
    packages: Sequence[str] = (),
    python: str | None = None,
    overlays: Sequence[str] = (),
) -> Environment:
    """Find out what jobs are to see.

    Args:
        preload: ``"plain"`` (:data:`PLAIN`), a module (``"numpy"``) or several. They and what they require must be
            installed for Lydite.
        packages: further distributions to be importable; nothing imports them beforehand.
        python: another interpreter, a path or a name on PATH (default: the one that runs Lydite). Packages are
            compiled for one version, so with another version there can be none.
        overlays: folders of packages, made for the interpreter (see ``overlay``).

    Raises:
        InputError: a package is not installed or cannot be shown, an overlay is no folder, or the interpreter cannot be
            used.
    """
    if isinstance(packages, str):
        raise InputError("expected a list of names, not one text", field="packages", remedy=f"give [{packages!r}]")
    python = python or os.environ.get(SWITCH) or None
    for folder in overlays:
        if not (os.path.isabs(folder) and os.path.isdir(folder)) or os.pathsep in folder:
            raise InputError(f"{folder} is no folder", field="overlays", remedy="give the absolute path of one")
    found = _environment(preload if isinstance(preload, str) else tuple(preload), tuple(packages), python)
    if overlays and _ask(found.python)[0] != sys.implementation.cache_tag:
        message = f"packages installed for {sys.implementation.cache_tag} cannot be used by {found.python}"
        raise InputError(message, field="overlays", remedy="run Lydite with that interpreter, or ask for no packages")
    return msgspec.structs.replace(found, overlays=tuple(os.path.realpath(folder) for folder in overlays))


@lru_cache(maxsize=32)
def _environment(preload: str | tuple[str, ...], packages: tuple[str, ...], python: str | None) -> Environment:
    wanted = (preload,) if isinstance(preload, str) else preload
    imports = tuple(dict.fromkeys(name for item in wanted for name in (PLAIN if item == "plain" else (item,))))
    for name in imports:
        if not all(part.isidentifier() for part in name.split(".")):
            raise InputError(f"{name!r} is no module name", field="preload", remedy='for example "plain" or "numpy"')
    executable = _base(python)
    tag, path, prefix, mapped = _ask(executable)
    asked = [*distributions_of(imports), *packages]
    if asked and tag != sys.implementation.cache_tag:
        message = f"packages installed for {sys.implementation.cache_tag} cannot be used by {executable} ({tag})"
        raise InputError(message, field="packages", remedy="run Lydite with that interpreter, or ask for no packages")
    shown = closure(distributions_of(imports)), closure(packages)
    read_only = _read_only(executable, path, prefix, mapped)
    return Environment(
        python=executable,
        path=tuple(path),
        read_only=read_only,
        masked=_masked(read_only, prefix, (executable, *path)),
        packages=tuple(dict.fromkeys(shown[0] + shown[1])),
        imports=imports,
    )


def _base(python: str | None) -> str:
    """The real executable of the base interpreter."""
    if python is None:
        return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    found = shutil.which(python)
    if found is None:
        raise InputError(f"{python} is not an executable", field="python", remedy="give the path of an interpreter")
    version, base = _json_of([os.path.abspath(found), "-c", _FIND], dict(os.environ))
    if version < [3, 11]:
        message = f"{python} is Python {'.'.join(map(str, version))}"
        raise InputError(message, field="python", remedy="the jail needs 3.11 or newer; give other programs as argv")
    return os.path.realpath(str(base))


@lru_cache(maxsize=32)
def _ask(executable: str) -> tuple[str, list[str], str, list[str]]:
    """Cache tag, sys.path, prefix and mapped files of the bare interpreter, as it is in an empty world."""
    tag, path, prefix, mapped = _json_of([executable, "-S", "-s", "-P", "-c", _ASK], {})
    return tag, path, prefix, mapped


def _json_of(command: list[str], env: dict[str, str]) -> list[Any]:
    out, said = b"", ""
    try:
        done = subprocess.run(  # noqa: S603
            command, env=env, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, timeout=60
        )
        out, said = done.stdout, done.stderr.decode(errors="replace").strip()[-500:]
    except (OSError, subprocess.TimeoutExpired) as error:
        said = str(error)
    try:
        return list(json.loads(out))
    except ValueError:
        raise InputError(
            f"{command[0]} does not run with an empty environment: {said}",
            field="python",
            remedy="give an interpreter that needs no variables such as LD_LIBRARY_PATH or PYTHONHOME",
        ) from None


def _read_only(executable: str, path: Sequence[str], prefix: str, mapped: Sequence[str]) -> tuple[str, ...]:
    shown = [found for pattern in _SYSTEM for found in sorted(glob.glob(pattern)) if os.path.exists(found)]
    if prefix not in ("/usr", "/usr/local"):
        shown += [found for name in _OF_PREFIX if os.path.isdir(found := f"{prefix}/{name}")]
    needed = [executable, *path, *(os.path.dirname(file) for file in mapped)]
    return tuple(dict.fromkeys([*shown, *(p for p in needed if not _below(p, shown) and os.path.exists(p))]))


def _masked(read_only: Sequence[str], prefix: str, needed: Sequence[str]) -> tuple[str, ...]:
    """Folders of packages, the environment that Lydite runs from, and Lydite, where these are shown at all."""
    roots = dict.fromkeys(("/usr", "/usr/local", prefix))
    found = [hit for root in roots for hit in sorted(glob.glob(_PACKAGES.format(root=glob.escape(root))))]
    found.append(str(Path(__file__).resolve().parents[1]))
    if sys.prefix != sys.base_prefix:
        found.append(os.path.realpath(sys.prefix))
    masked: dict[str, str] = {}
    for folder in found:
        real = os.path.realpath(folder)
        if os.path.isdir(folder) and _below(folder, read_only) and not any(_below(file, [real]) for file in needed):
            masked.setdefault(real, folder)
    outermost = [pair for pair in masked.items() if not _below(os.path.dirname(pair[0]), list(masked))]
    return tuple(dict.fromkeys(path for real, folder in outermost for path in (folder, real)))


def _below(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def reachable(env: Environment, uid: int, gid: int) -> str | None:
    """Why this user could not run the interpreter or read its files, from permission bits; None: nothing is in the way.

    Asked before a job runs as another user at the files' own place in the tree (where no mount can move them).
    """
    if uid == 0:
        return None
    files = [(env.python, stat.S_IXOTH), *((path, stat.S_IROTH) for path in env.path if os.path.exists(path))]
    files += [(path, stat.S_IROTH) for path in (*(path for path, _ in env.packages), *env.overlays)]
    for path, wanted in files:
        real = os.path.realpath(path)
        for place in [str(parent) for parent in reversed(Path(real).parents)] + [real]:
            need = stat.S_IXOTH if place != real else wanted | (stat.S_IXOTH if os.path.isdir(real) else 0)
            try:
                found = os.stat(place)
            except OSError as error:
                return f"{place}: {error.strerror}"
            if not _grants(found, uid, gid, need):
                mode = stat.S_IMODE(found.st_mode)
                return f"{place} has mode {mode:04o}, so that user {uid} cannot reach {path}"
    return None


def _grants(found: os.stat_result, uid: int, gid: int, bits: int) -> bool:
    shift = 6 if found.st_uid == uid else 3 if found.st_gid == gid else 0
    return found.st_mode >> shift & bits == bits

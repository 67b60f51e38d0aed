"""Compile the jail's helper once, where there is a C compiler, and keep it in the user's cache.

Nothing depends on it but speed. It is compiled again when its source, the machine or Lydite changes.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).parent / "jail" / "helper.c"
FLAGS = ("-O2", "-shared", "-fPIC", "-Wl,-z,relro,-z,now")
SWITCH = "LYDITE_SANDBOX_HELPER"
"""Environment variable: ``off`` leaves everything to Python."""


def helper() -> str | None:
    """The path of the compiled helper; None where it is switched off or cannot be compiled (:func:`why_not`)."""
    return _helper()[0]


def why_not() -> str:
    """Why there is no helper; empty where there is one."""
    return _helper()[1]


def forget() -> None:
    """Look again when it is asked for next: the environment has changed."""
    _helper.cache_clear()


@functools.cache
def _helper() -> tuple[str | None, str]:
    if os.environ.get(SWITCH, "").lower() in ("off", "0", "no"):
        return None, f"{SWITCH} switches it off"
    reasons = []
    for folder in _folders():
        try:
            source = SOURCE.read_bytes()
            key = hashlib.sha256(b"\0".join((source, repr(FLAGS).encode(), platform.machine().encode()))).hexdigest()
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _ours(folder):
                raise PermissionError(f"{folder} is not ours alone")
            path = folder / f"jail-{key[:24]}.so"
            if not path.exists():
                _compile(path)
            if not _ours(path):
                raise PermissionError(f"{path} is not ours alone")
            return str(path), ""
        except (OSError, subprocess.SubprocessError) as error:
            reasons.append(str(error))
    return None, "; ".join(dict.fromkeys(reasons))


def _folders() -> list[Path]:
    """Where it may be kept: the user's cache, else a folder of the user's own among the temporary ones."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return [Path(base) / "lydite", Path(tempfile.gettempdir()) / f"lydite-cache-{os.getuid()}"]


def _ours(path: Path) -> bool:
    """Nobody else may have put it there or may change it: it will run in the process that builds the jail."""
    found = path.lstat()
    return found.st_uid == os.getuid() and not stat.S_ISLNK(found.st_mode) and not found.st_mode & 0o022


def _compile(path: Path) -> None:
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        raise FileNotFoundError("no C compiler")
    fd, name = tempfile.mkstemp(suffix=".so", dir=path.parent)
    os.close(fd)
    try:
        subprocess.run([compiler, *FLAGS, "-o", name, str(SOURCE)], check=True, capture_output=True, timeout=60)  # noqa: S603
        os.chmod(name, 0o600)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise

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


@functools.cache
def helper() -> str | None:
    """The path of the compiled helper; None where it is switched off or cannot be compiled."""
    if os.environ.get(SWITCH, "").lower() in ("off", "0", "no"):
        return None
    try:
        source = SOURCE.read_bytes()
        key = hashlib.sha256(b"\0".join((source, repr(FLAGS).encode(), platform.machine().encode()))).hexdigest()[:24]
        folder = _folder()
        path = folder / f"jail-{key}.so"
        if not path.exists():
            _compile(path)
        return str(path) if _ours(path) else None
    except (OSError, subprocess.SubprocessError):
        return None


def _folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(base) / "lydite"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _ours(folder):
        raise PermissionError(f"{folder} can be written by others")
    return folder


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

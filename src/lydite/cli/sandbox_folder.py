"""The two folders of `lydite sandbox exec`: the one that is copied into the sandbox, and the one that is written."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lydite.errors import InputError

if TYPE_CHECKING:
    from lydite.sandbox import Limits, Snapshot

MAX_FOLDER = 512 << 20
"""Bytes of a folder that `exec` copies. A copy in transit is held several times over."""
MAX_ENTRIES = 100_000
"""Files, folders and links in it."""

_PAGE = 4096  # a file in memory takes whole pages, and its entry in a folder some memory of the kernel's
_MIB = 1 << 20


def read(folder: Path) -> Snapshot:
    """The folder's content.

    Raises:
        InputError: it cannot be read, or is too large; then it names what takes the most room.
    """
    from lydite.sandbox import Snapshot

    _measure(folder)
    return Snapshot.from_directory(folder, 2 * MAX_FOLDER)  # measured already; this one counts names as well


def _measure(folder: Path) -> None:
    """Refuse a folder that is beyond the limits, before anything of it is read."""
    sizes: Counter[str] = Counter()
    entries = 0
    for here, folders, files in os.walk(folder):
        inside = os.path.relpath(here, folder).split(os.sep)[0]
        entries += len(folders) + len(files)
        if entries > MAX_ENTRIES:
            raise InputError(
                f"holds more than {MAX_ENTRIES:,} files, too many to be copied", path=folder, remedy=_SMALLER
            )
        for name in files:
            with contextlib.suppress(OSError):
                found = os.lstat(os.path.join(here, name))
                sizes[name if inside == "." else f"{inside}/"] += found.st_size
    total = sizes.total()
    if total > MAX_FOLDER:
        largest = ", ".join(f"{name} {-(-size // _MIB):,} MiB" for name, size in sizes.most_common(3))
        raise InputError(
            f"holds {-(-total // _MIB):,} MiB, and at most {MAX_FOLDER // _MIB} can be copied; most is in {largest}",
            path=folder,
            remedy=_SMALLER,
        )


_SMALLER = "leave out what the command does not need: name a smaller folder"


def room(tree: Snapshot, limits: Limits, export: bool) -> Limits:
    """Limits that leave a command what it was given beside what the folder holds already.

    Memory holds the files themselves, and for a moment two more copies of them, on the way in and on the way out.
    """
    import msgspec

    pages = sum(-(-len(entry.data) // _PAGE) for entry in tree.entries)
    held = -(-(pages * _PAGE + len(tree.entries) * _PAGE // 2) // _MIB)
    memory_mb = max(limits.memory_mb, 3 * limits.disk_mb) if export else limits.memory_mb
    return msgspec.structs.replace(
        limits,
        disk_mb=limits.disk_mb + held,
        memory_mb=memory_mb + 3 * held,
        file_mb=limits.file_mb + held,
        inodes=limits.inodes + len(tree.entries),
    )


@contextlib.contextmanager
def target(path: Path | None) -> Iterator[None]:
    """Have the folder of an export ready while a command runs: a new or an empty one that can be written.

    A folder that was made here goes again when the command, or the export, came to nothing.

    Raises:
        InputError: it holds something already, or cannot be made or written; or the export failed half-way.
    """
    if path is None:
        yield
        return
    made = _made(path)
    try:
        yield
    except BaseException:
        if made:
            with contextlib.suppress(OSError):
                os.rmdir(path)
        raise


def _made(path: Path) -> bool:
    """Make the folder if it is not there, and try whether it can be written."""
    try:
        made = not path.is_dir()
        if made:
            if path.exists() or path.is_symlink():
                raise InputError("exists already", path=path, field="--export", remedy="name a new folder")
            os.mkdir(path)
        elif any(path.iterdir()):
            raise InputError("exists already, and is not empty", path=path, field="--export", remedy="name a new one")
        with tempfile.TemporaryDirectory(dir=path, prefix=".lydite-"):
            return made
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from None


def unwritable(path: Path, error: OSError | ValueError) -> InputError:
    """The same error, as one of the folder that was named."""
    told = getattr(error, "strerror", None) or str(error)
    return InputError(
        f"cannot be written: {told}",
        path=path,
        field="--export",
        remedy="name a new folder below one that exists, may be written and has room",
    )

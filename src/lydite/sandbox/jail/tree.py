"""File operations below one folder in which untrusted programs do as they please.

Covered: nothing outside the folder is read, written, removed or listed, whatever lies inside and however it changes
meanwhile: no symbolic link is followed in any component, writing makes a new file and puts it in its place (so it goes
through neither a link nor a hard link), FIFOs, sockets and devices are never waited for, and removing needs neither
recursion nor a path, however deep the tree. What is read is bounded by the caller. Files and folders whose owner (this
process) took his own rights away are given them back where an operation needs them.

Not covered: a folder that is moved elsewhere in the very moment takes a write with it to where it goes, which is
somewhere that its mover could write to anyway. Without openat2 mount points inside the folder are not noticed; only who
may mount can make one. A hard link to a file outside can be read: that nobody makes one is the business of the
isolation around.

All paths are those of :func:`~.packing.check_path`; ``root`` is always a descriptor of the folder.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial

from .beneath import folder_handle, held, insist, open_beneath, own, reach
from .packing import DEEPEST, PATH_BYTES, Entry, Kind, check_path, encode, parent_of, parse, size_of

_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_CHUNK = 1 << 20
_MOST = 1 << 20  # names in one folder, and folders in one removal: an end for whoever keeps adding to them


def read(root: int, path: str, limit: int) -> bytes:
    """The content of a regular file.

    Raises:
        ValueError: the path is none.
        OSError: EFBIG for more than ``limit`` bytes, ELOOP for a symbolic link, EINVAL for what is no regular file, and
            whatever open(2) says.
    """
    path = check_path(path)
    with held(reach(root, path, _FILE)) as fd:
        return _content(fd, path, limit)[0]


def write(root: int, path: str, data: bytes, mode: int = 0o644) -> None:
    """Put a file in place, atomically, with the folders above it. What had the name before, a link or FIFO too, goes.

    The old content stays until the new one is complete, so there must be room for both.

    Raises:
        ValueError: the path is none.
        OSError: IsADirectoryError where a folder has the name; NotADirectoryError or ELOOP where a file or a link is in
            the place of a folder above; ENOSPC and the like.
    """

    def make(folder: int, name: str) -> None:
        with held(open_beneath(folder, name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)) as fd:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(fd, rest) :]

    _place(root, check_path(path), make)


def remove(root: int, path: str) -> None:
    """Remove a file, a link (not what it leads to) or a folder with all that is in it.

    Raises:
        ValueError: the path is none.
        OSError: FileNotFoundError where there is nothing; EBUSY where somebody keeps adding to it.
    """
    path = check_path(path)
    folder, name = parent_of(path), path.rpartition("/")[2]
    with held(folder_handle(root, folder, make=False)) as fd:
        insist(lambda: _delete(fd, name), root, folder)


def listing(root: int, path: str = "") -> list[str]:
    """The names in one folder, sorted; those of folders end in "/". "" and "." are the tree itself.

    Raises:
        ValueError: the path is none.
        OSError: NotADirectoryError for a file, EFBIG for more than a million names.
    """
    inside = "." if {*path.split("/")} <= {"", "."} and not path.startswith("/") else check_path(path)
    with held(reach(root, inside, _FOLDER)) as fd, os.scandir(fd) as found:
        return sorted(name + "/" * entry.is_dir(follow_symlinks=False) for name, entry in _counted(found))


def pack(root: int, limit: int) -> bytes:
    """The whole tree as one archive (see :mod:`.packing`): equal trees make equal bytes.

    Skipped, and counted in the archive: FIFOs, sockets, devices, what cannot be read, mount points, and folders with
    paths too long or deep to be named. Programs that still run may change the tree meanwhile: freeze it first.

    Raises:
        OSError: EFBIG where the archive would exceed ``limit`` bytes; the folder itself cannot be read.
    """
    return encode(*collect(root, limit))


def unpack(root: int, data: bytes) -> None:
    """Make the tree that an archive describes. Files and links that are in the way are replaced, folders stay.

    Raises:
        ValueError: these bytes are no archive; nothing was written.
        OSError: as :func:`write`.
    """
    place(root, parse(data)[0])


def place(root: int, entries: Iterable[Entry]) -> None:
    """Make these entries, folders before what is in them. Raises as :func:`write`."""
    for entry in entries:
        path = check_path(entry.path)
        if entry.kind is Kind.FOLDER:
            os.close(folder_handle(root, path, make=True))
        elif entry.kind is Kind.LINK:
            _place(root, path, partial(_link, os.fsdecode(entry.data)))
        else:
            write(root, path, entry.data, 0o755 if entry.kind is Kind.PROGRAM else 0o644)


def collect(root: int, limit: int, change: bool = True) -> tuple[list[Entry], int]:
    """The entries of a tree in no order, and how many files were skipped; see :func:`pack`.

    Args:
        root: descriptor of the folder.
        limit: bytes of the archive that they would make.
        change: take back the right to read what this user owns. False leaves the tree exactly as it is.
    """
    opener = reach if change else open_beneath
    entries: list[Entry] = []
    skipped, room, pending = 0, limit, [""]
    while pending:
        folder = pending.pop()
        try:
            fd = opener(root, folder or ".", _FOLDER)
        except OSError:
            if not folder:
                raise
            skipped += 1
            continue
        with held(fd):
            if change:
                with suppress(OSError):
                    own(fd)
            for name in _names(fd):
                path = f"{folder}/{name}" if folder else name
                try:
                    entry = _entry(fd, name, path, room, opener)
                except FileNotFoundError:
                    continue
                except OSError as error:
                    if error.errno == errno.EFBIG:
                        raise
                    entry = None
                if entry is None:
                    skipped += 1
                    continue
                entries.append(entry)
                room -= size_of(entry)
                if room < 0:
                    raise _too_large(path, limit)
                if entry.kind is Kind.FOLDER:
                    pending.append(path)
    return entries, skipped


def _entry(folder: int, name: str, path: str, room: int, opener: Callable[[int, str, int], int]) -> Entry | None:
    """What ``name`` in this folder is; None for what has no place in an archive."""
    if len(os.fsencode(path)) > PATH_BYTES or path.count("/") >= DEEPEST:
        return None
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    if stat.S_ISDIR(mode):
        return Entry(path, Kind.FOLDER)
    if stat.S_ISLNK(mode):
        return Entry(path, Kind.LINK, os.fsencode(os.readlink(name, dir_fd=folder)))
    if not stat.S_ISREG(mode):
        return None
    with held(opener(folder, name, _FILE)) as fd:
        data, mode = _content(fd, path, room)
    return Entry(path, Kind.PROGRAM if mode & stat.S_IXUSR else Kind.FILE, data)


# Reading and listing


def _content(fd: int, path: str, limit: int) -> tuple[bytes, int]:
    """The bytes of an open regular file and its mode."""
    state = os.fstat(fd)
    if stat.S_ISDIR(state.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(state.st_mode):
        raise OSError(errno.EINVAL, "this is no regular file", path)
    if state.st_size > limit:
        raise _too_large(path, limit)
    parts, got = [], 0
    while part := os.read(fd, min(_CHUNK, limit + 1 - got)):
        parts.append(part)
        got += len(part)
        if got > limit:
            raise _too_large(path, limit)
    return b"".join(parts), state.st_mode


def _too_large(path: str, limit: int) -> OSError:
    return OSError(errno.EFBIG, f"larger than the {limit} bytes that are allowed", path)


def _counted(found: Iterable[os.DirEntry[str]]) -> Iterator[tuple[str, os.DirEntry[str]]]:
    for number, entry in enumerate(found):
        if number >= _MOST:
            raise OSError(errno.EFBIG, f"more than {_MOST} names in one folder")
        yield entry.name, entry


def _names(fd: int) -> list[str]:
    with os.scandir(fd) as found:
        return [name for name, _ in _counted(found)]


# Placing and removing


def _link(text: str, folder: int, name: str) -> None:
    os.symlink(text, name, dir_fd=folder)


def _place(root: int, path: str, make: Callable[[int, str], None]) -> None:
    """Let ``make`` make something under a name of its own beside ``path``, then put it there."""
    folder, name = parent_of(path), path.rpartition("/")[2]

    def action() -> None:
        with held(folder_handle(root, folder, make=True)) as fd:
            temporary = f".lydite-{os.urandom(8).hex()}"
            try:
                make(fd, temporary)
                os.rename(temporary, name, src_dir_fd=fd, dst_dir_fd=fd)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=fd)
                raise

    insist(action, root, folder)


def _delete(folder: int, name: str) -> None:
    if _unlinked(folder, name):
        return
    with held(reach(folder, name, _FOLDER)) as top:
        _empty(top)
    os.rmdir(name, dir_fd=folder)


def _unlinked(folder: int, name: str) -> bool:
    """Remove a name, unless it is that of a folder."""
    try:
        os.unlink(name, dir_fd=folder)
    except IsADirectoryError:
        return False
    return True


def _empty(top: int) -> None:
    """Remove all that is in a folder.

    A folder inside is lifted to the top one before it is emptied in turn, so that depth costs neither descriptors nor
    path length, and no ``..`` is ever trusted. Needs no room, so it works on a full file system.
    """
    own(top)
    pending = [name for name in _names(top) if not _unlinked(top, name)]
    for _ in range(_MOST):
        if not pending:
            return
        name = pending.pop()
        with held(reach(top, name, _FOLDER)) as fd:
            own(fd)
            for child in _names(fd):
                if not _unlinked(fd, child):
                    lifted = f".lydite-{os.urandom(8).hex()}"
                    insist(partial(os.rename, child, lifted, src_dir_fd=fd, dst_dir_fd=top), fd, child)
                    pending.append(lifted)
        try:
            os.rmdir(name, dir_fd=top)
        except OSError as error:
            if error.errno != errno.ENOTEMPTY:
                raise
            pending.append(name)
    raise OSError(errno.EBUSY, "somebody keeps adding to this folder")

"""Reading .zip, .tar and .tar.gz files that anybody may have made.

Covered: nothing is unpacked to disk here; entries come out as names and bytes, every name checked. Absolute names,
``..``, devices, FIFOs, sparse and encrypted files, hard links to anything but a file of the same archive, sizes that
add up to more than the limit (whatever the headers claim), headers of monstrous size and names with a second meaning
are refused by an :class:`~lydite.errors.InputError` that names the entry. So is everything that makes the standard
library's readers stumble, and a tar that breaks off or is damaged in the middle, which they would take for its end.

Not covered: whether links lead out, and whether entries collide: that is asked of the whole tree (``Snapshot``). Times,
owners and modes but the owner's right to execute are dropped. Compression other than deflate (and gzip around a tar).
"""

from __future__ import annotations

import gzip
import io
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator

from lydite.errors import InputError
from lydite.sandbox.jail.packing import Entry, Kind, check_content, check_path

_MOST = 200_000  # entries
_HEADER = 64 << 10  # bytes of one extended tar header


def read(data: bytes, limit: int) -> list[Entry]:
    """The entries of an archive, as they come.

    Args:
        data: the archive.
        limit: bytes of all files together; for a tar, of the uncompressed archive.

    Raises:
        InputError: see above.
    """
    try:
        if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            return list(_zip(data, limit))
        if data.startswith(b"\x1f\x8b"):
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
                data = stream.read(limit + 1)
        if len(data) > limit:
            raise InputError(f"unpacks to more than {limit} bytes")
        return list(_tar(data, limit))
    except InputError:
        raise
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise InputError(f"is no .zip, .tar or .tar.gz that can be read: {error}") from None
    except Exception as error:  # for hostile bytes both readers raise what they stumble over
        raise InputError(f"is a damaged archive: {type(error).__name__}") from error


def _path(name: str) -> str | None:
    """The checked path of an entry; None for the tree itself."""
    if name and not name.startswith("/") and {*name.split("/")} <= {"", "."}:
        return None
    try:
        return check_path(name)
    except ValueError as error:
        raise InputError(f"entry {error}") from None


def _entry(path: str, kind: Kind, data: bytes = b"") -> Entry:
    entry = Entry(path, kind, data)
    try:
        check_content(entry)
    except ValueError as error:
        raise InputError(f"entry {error}") from None
    return entry


# Zip


def _zip(data: bytes, limit: int) -> Iterator[Entry]:
    if data.count(b"PK\x01\x02") > _MOST:
        raise InputError(f"has more than {_MOST} entries")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            name = info.orig_filename
            if "\\" in name:
                raise InputError(f"entry {name!r}: a name in a .zip has no backslash")
            path = _path(name)
            kind = _kind_in_zip(info)
            if info.file_size > limit:
                raise InputError(f"unpacks to more than the limit, at {name!r}")
            limit -= info.file_size
            if path is None:
                continue
            with archive.open(info) as stream:
                content = stream.read(info.file_size + 1)  # without a number it may unpack any amount before it looks
            yield _entry(path, kind, content)


def _kind_in_zip(info: zipfile.ZipInfo) -> Kind:
    name, mode = info.orig_filename, info.external_attr >> 16
    if info.flag_bits & 1:
        raise InputError(f"entry {name!r} is encrypted")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError(f"entry {name!r} is compressed by another method than deflate")
    kind = stat.S_IFMT(mode) if info.create_system == 3 else 0  # only Unix puts a mode there
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
        raise InputError(f"entry {name!r} is a device, a FIFO or a socket")
    if kind == stat.S_IFLNK:
        return Kind.LINK
    if info.is_dir() or kind == stat.S_IFDIR:
        return Kind.FOLDER
    return Kind.PROGRAM if mode & stat.S_IXUSR and info.create_system == 3 else Kind.FILE


# Tar


class _Headers(io.BytesIO):
    """What tarfile reads headers from: never backwards to a negative size, never more than a header can have.

    Before Python 3.11.14, 3.12.12 and 3.13.6 a negative size sent it around in circles (CVE-2025-8194).
    """

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or not 0 <= size <= _HEADER:
            raise InputError("has a header of an impossible size")
        return super().read(size)


def _tar(data: bytes, limit: int) -> Iterator[Entry]:
    files: dict[str, Entry] = {}
    last = -1
    with tarfile.open(fileobj=_Headers(data), mode="r:") as archive:
        for info in archive:
            if info.offset <= last or info.size < 0:
                raise InputError(f"entry {info.name!r} lies before the one before it")
            last = info.offset
            path = _path(info.name)
            entry = _entry_in_tar(info, path or ".", data, files)
            if path is None:
                if entry.kind is not Kind.FOLDER:
                    raise InputError(f"entry {info.name!r} names no file")
                continue
            files[path] = entry
            limit -= len(entry.data)  # hard links count again
            if limit < 0:
                raise InputError(f"unpacks to more than the limit, at {info.name!r}")
            yield entry
        if any(data[archive.offset : archive.offset + tarfile.BLOCKSIZE]):
            raise InputError(f"is damaged at byte {archive.offset}")


def _entry_in_tar(info: tarfile.TarInfo, path: str, data: bytes, files: dict[str, Entry]) -> Entry:
    if info.isdir():
        return Entry(path, Kind.FOLDER)
    if info.issym():
        return _entry(path, Kind.LINK, os.fsencode(info.linkname))
    if info.islnk():
        target = files.get(_path(info.linkname) or "")
        if target is None or target.kind not in (Kind.FILE, Kind.PROGRAM):
            raise InputError(f"entry {info.name!r} is a hard link to {info.linkname!r}, no file before it")
        return target._replace(path=path)
    if not info.isreg() or info.issparse():
        raise InputError(f"entry {info.name!r} is a device, a FIFO or a sparse file")
    end = info.offset_data + info.size
    if end > len(data):
        raise InputError(f"breaks off in {info.name!r}")
    return Entry(path, Kind.PROGRAM if info.mode & stat.S_IXUSR else Kind.FILE, data[info.offset_data : end])

"""Archives that try to land outside, to be two things at once, or to be larger than they look."""

from __future__ import annotations

import gzip
import io
import os
import stat
import struct
import tarfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.sandbox import archives
from lydite.sandbox.jail.packing import Entry, Kind
from lydite.sandbox.snapshot import Snapshot

MIB = 1 << 20


def make_zip(*entries: tuple[str | zipfile.ZipInfo, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return buffer.getvalue()


def zip_entry(name: str, mode: int, system: int = 3) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = system, mode << 16
    return info


def member(name: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644) -> tuple:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode, info.size = kind, link, mode, len(data)
    return info, data


def make_tar(*members: tuple, form: int = tarfile.PAX_FORMAT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def refused(data: bytes, limit: int = MIB) -> str:
    with pytest.raises(InputError) as caught:
        Snapshot.from_archive(data, limit)
    return str(caught.value)


GOOD = (
    Entry("a", Kind.FOLDER),
    Entry("a/empty", Kind.FOLDER),
    Entry("a/link", Kind.LINK, b"../run"),
    Entry("a/text", Kind.FILE, b"hello"),
    Entry("run", Kind.PROGRAM, b"#!/bin/sh"),
)
GOOD_ZIP = make_zip(
    ("a/empty/", b""),
    (zip_entry("a/link", stat.S_IFLNK | 0o777), b"../run"),
    ("./a/text", b"hello"),
    (zip_entry("run", stat.S_IFREG | 0o755), b"#!/bin/sh"),
)
GOOD_TAR = make_tar(
    member(".", kind=tarfile.DIRTYPE),
    member("./a/empty", kind=tarfile.DIRTYPE),
    member("./a/link", kind=tarfile.SYMTYPE, link="../run"),
    member("./a/text", b"hello"),
    member("./run", b"#!/bin/sh", mode=0o4755),
)


@pytest.mark.parametrize("data", [GOOD_ZIP, GOOD_TAR, gzip.compress(GOOD_TAR)], ids=["zip", "tar", "tar.gz"])
def test_an_honest_archive_is_read(data: bytes, tmp_path: Path) -> None:
    assert Snapshot.from_archive(data).entries == GOOD
    (tmp_path / "archive").write_bytes(data)
    assert Snapshot.from_archive(tmp_path / "archive").entries == GOOD


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_and_odd_names_are_read(form: int) -> None:
    name = "x" * 90 + "/" + os.fsdecode(b"\xff") + "é" * 20
    assert Snapshot.from_archive(make_tar(member(name, b"1"), form=form)).files == {name: b"1"}


def test_an_archive_of_nothing_is_an_empty_tree() -> None:
    assert Snapshot.from_archive(make_zip()) == Snapshot.from_archive(make_tar()) == Snapshot()


def test_folders_may_come_twice() -> None:
    assert Snapshot.from_archive(make_zip(("a/b", b""), ("a/", b""))).files == {"a/b": b""}


def test_a_hard_link_inside_is_a_copy() -> None:
    data = make_tar(member("a", b"x", mode=0o755), member("b", kind=tarfile.LNKTYPE, link="./a"))
    assert Snapshot.from_archive(data).entries == (Entry("a", Kind.PROGRAM, b"x"), Entry("b", Kind.PROGRAM, b"x"))


def test_the_name_of_the_archive_is_in_the_error(tmp_path: Path) -> None:
    path = tmp_path / "evil.zip"
    path.write_bytes(make_zip(("../evil", b"x")))
    with pytest.raises(InputError) as caught:
        Snapshot.from_archive(path)
    assert str(caught.value).startswith(str(path))
    with pytest.raises(InputError, match="absent"):
        Snapshot.from_archive(tmp_path / "absent")


# Names that lead out

BAD_NAMES = ["../evil", "/tmp/evil", "a/../../evil", "..", "a/..", "//evil", "../../../../../etc/cron.d/evil"]


@pytest.mark.parametrize("name", BAD_NAMES)
@pytest.mark.parametrize(
    "make", [lambda n: make_zip((n, b"x")), lambda n: make_tar(member(n, b"x"))], ids=["zip", "tar"]
)
def test_an_entry_that_leads_out_is_refused_by_name(make: Callable[[str], bytes], name: str) -> None:
    assert repr(name) in refused(make(name))


@pytest.mark.parametrize("kind", [tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_neither_does_a_folder_nor_a_link_lead_out(kind: bytes) -> None:
    assert "'../evil'" in refused(make_tar(member("a", b"x"), member("../evil", kind=kind, link="a")))


def test_a_zip_with_backslashes_is_refused() -> None:
    assert r"'..\\evil'" in refused(make_zip(("..\\evil", b"x")))


def test_a_name_with_a_nul_is_refused() -> None:
    data = make_zip(("evilXtxt", b"x")).replace(b"evilXtxt", b"evil\0txt")
    assert "NUL" in refused(data)
    assert "NUL" in refused(make_tar(member("evil\0txt" + "é", b"x")))


def test_a_zip_whose_two_headers_disagree_is_refused() -> None:
    data = make_zip(("fine", b"x")).replace(b"fine", b"evil", 1)
    assert "evil" in refused(data)


# Links


@pytest.mark.parametrize("text", ["..", "../outside", "/etc", "/", "x/../..", "self"])
def test_a_link_that_leads_out_is_refused_by_name(text: str) -> None:
    text = "link" if text == "self" else text
    assert "'link'" in refused(make_tar(member("link", kind=tarfile.SYMTYPE, link=text)))
    assert "'link'" in refused(make_zip((zip_entry("link", stat.S_IFLNK), text.encode())))


def test_a_link_that_leads_out_through_another_is_refused() -> None:
    up = member("x/y/up", kind=tarfile.SYMTYPE, link="../..")
    out = member("out", kind=tarfile.SYMTYPE, link="x/y/up/..")
    assert "'out'" in refused(make_tar(up, out))


@pytest.mark.parametrize("link_first", [True, False])
def test_a_file_below_a_link_is_refused(link_first: bool) -> None:
    link, file = member("a", kind=tarfile.SYMTYPE, link="b"), member("a/evil", b"x")
    folder = member("b", kind=tarfile.DIRTYPE)
    order = (folder, link, file) if link_first else (folder, file, link)
    assert "'a'" in refused(make_tar(*order))


def test_a_file_below_a_link_is_refused_in_a_zip() -> None:
    assert "'a' is a link" in refused(make_zip((zip_entry("a", stat.S_IFLNK), b"b"), ("a/evil", b"x")))


def test_a_file_below_a_file_is_refused() -> None:
    assert "'a' is a file" in refused(make_tar(member("a", b"x"), member("a/b", b"x")))


@pytest.mark.parametrize("target", ["../outside/secret", "/etc/passwd", "absent", "later", "folder", "link", "hard"])
def test_a_hard_link_to_anything_but_an_earlier_file_is_refused(target: str) -> None:
    data = make_tar(
        member("folder", kind=tarfile.DIRTYPE),
        member("link", kind=tarfile.SYMTYPE, link="folder"),
        member("hard", kind=tarfile.LNKTYPE, link=target),
        member("later", b"x"),
    )
    assert target in refused(data)


def test_a_link_with_an_impossible_text_is_refused() -> None:
    assert "'link'" in refused(make_zip((zip_entry("link", stat.S_IFLNK), b"")))
    assert "'link'" in refused(make_zip((zip_entry("link", stat.S_IFLNK), b"a" * 5000)))
    assert "'link'" in refused(make_zip((zip_entry("link", stat.S_IFLNK), b"a\0b")))


# Twice, and other kinds


@pytest.mark.parametrize("second", [member("a", b"y"), member("./a", b"x"), member("a", kind=tarfile.DIRTYPE)])
def test_an_entry_that_comes_twice_is_refused(second: tuple) -> None:
    assert "'a' comes twice" in refused(make_tar(member("a", b"x"), second))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_entry_that_comes_twice_in_a_zip_is_refused() -> None:
    assert "'a' comes twice" in refused(make_zip(("a", b"x"), ("a", b"y")))


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, b"Z"])
def test_a_device_a_fifo_or_what_nobody_knows_is_refused(kind: bytes) -> None:
    assert "'thing'" in refused(make_tar(member("thing", kind=kind)))


@pytest.mark.parametrize("kind", [stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK])
def test_a_device_in_a_zip_is_refused(kind: int) -> None:
    assert "'thing'" in refused(make_zip((zip_entry("thing", kind), b"")))


def test_a_mode_counts_only_where_unix_put_it() -> None:
    data = make_zip((zip_entry("thing", stat.S_IFLNK | 0o755, system=0), b"x"))
    assert Snapshot.from_archive(data).entries == (Entry("thing", Kind.FILE, b"x"),)


def test_an_encrypted_entry_is_refused() -> None:
    data = bytearray(make_zip(("thing", b"x")))
    for at in (data.find(b"PK\x01\x02") + 8, data.find(b"PK\x03\x04") + 6):
        data[at] |= 1
    assert "'thing' is encrypted" in refused(bytes(data))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_methods_of_compression_are_refused(method: int) -> None:
    assert "'thing' is compressed" in refused(make_zip(("thing", b"x"), compression=method))


# Larger than they look


def test_a_zip_that_unpacks_to_too_much_is_refused() -> None:
    data = make_zip(("a", bytes(600_000)), ("b", bytes(600_000)))
    assert len(data) < 10_000
    assert "'b'" in refused(data)
    assert len(Snapshot.from_archive(data, 2 * MIB).files) == 2


def test_a_zip_that_lies_of_its_size_is_refused_and_not_unpacked() -> None:
    data = make_zip(("a", bytes(50 * MIB))).replace(struct.pack("<I", 50 * MIB), struct.pack("<I", 10))
    tracemalloc.start()
    try:
        assert refused(data)
        assert tracemalloc.get_traced_memory()[1] < 5 * MIB
    finally:
        tracemalloc.stop()


def test_a_zip_of_too_many_entries_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_MOST", 3)
    assert "more than 3 entries" in refused(make_zip(*((str(n), b"") for n in range(4))))


def test_a_gzip_that_unpacks_to_too_much_is_refused() -> None:
    assert "more than 1048576 bytes" in refused(gzip.compress(bytes(50 * MIB)))


def test_hard_links_count_each_against_the_limit() -> None:
    links = (member(f"b{n}", kind=tarfile.LNKTYPE, link="a") for n in range(30))
    assert "'b" in refused(make_tar(member("a", bytes(100_000)), *links))


def test_a_sparse_file_is_refused() -> None:
    info, _ = member("holes", b"")
    info.pax_headers = {"GNU.sparse.map": "0,0", "GNU.sparse.size": str(1 << 50), "GNU.sparse.realsize": str(1 << 50)}
    info.pax_headers |= {"GNU.sparse.numblocks": "1", "GNU.sparse.offset": "0", "GNU.sparse.numbytes": "0"}
    assert refused(make_tar((info, b"")))


def header(size: bytes, kind: bytes) -> bytes:
    block = bytearray(member("x", kind=kind)[0].tobuf(tarfile.USTAR_FORMAT))
    block[124:136] = size
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.REGTYPE, b"V"])
@pytest.mark.parametrize("size", [-512, -1024, 1 << 40])
def test_a_tar_header_of_an_impossible_size_is_refused(kind: bytes, size: int) -> None:
    field = (size % 256**12).to_bytes(12, "big") if size < 0 else b"\x80" + size.to_bytes(11, "big")
    assert refused(make_tar(member("a", b"x"))[:1024] + header(field, kind) + bytes(10_000))


def test_a_thousand_headers_of_one_entry_end() -> None:
    assert refused(header(b"%011o\0" % 0, tarfile.XHDTYPE) * 5000)


# Damage


def test_a_tar_that_breaks_off_is_refused() -> None:
    data = make_tar(member("a", b"x"), member("b", bytes(5000)))
    assert "'b'" in refused(data[: data.rfind(b"ustar") + 600])


def test_a_tar_that_is_damaged_in_the_middle_is_refused_and_not_taken_for_its_end() -> None:
    data = bytearray(make_tar(member("a", b"x"), member("b", b"y")))
    data[1024 + 3] ^= 0xFF
    assert "damaged at byte 1024" in refused(bytes(data))


@pytest.mark.parametrize(
    "data", [b"", b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b", b"not an archive" * 100, b"\xfd7zXZ\0"]
)
def test_what_is_no_archive_is_refused(data: bytes) -> None:
    assert refused(data)


def test_a_gzip_that_breaks_off_is_refused() -> None:
    assert refused(gzip.compress(GOOD_TAR)[:-10])
    assert refused(b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + zlib.compress(b"x"))


@given(st.sampled_from([b"", b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b\x08\0"]), st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(magic: bytes, data: bytes) -> None:
    try:
        Snapshot.from_archive(magic + data, MIB)
    except InputError:
        return


@given(st.sampled_from([GOOD_ZIP, GOOD_TAR, gzip.compress(GOOD_TAR, mtime=0)]), st.data())
def test_a_damaged_archive_is_read_or_refused_and_leads_nowhere(archive: bytes, data: st.DataObject) -> None:
    changed = bytearray(archive)
    for at in data.draw(st.lists(st.integers(0, len(archive) - 1), min_size=1, max_size=4)):
        changed[at] = data.draw(st.integers(0, 255))
    try:
        snapshot = Snapshot.from_archive(bytes(changed), MIB)
    except InputError:
        return
    assert Snapshot.from_pack(snapshot.to_pack()) == snapshot

"""Snapshots: equal trees are equal, and neither a folder nor an export nor a digest is led outside."""

from __future__ import annotations

import hashlib
import os
import random
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.sandbox.jail import packing
from lydite.sandbox.jail.packing import Entry, Kind
from lydite.sandbox.snapshot import Snapshot


def linking(**links: str) -> Snapshot:
    entries = [Entry(path.replace("_", "/"), Kind.LINK, text.encode()) for path, text in links.items()]
    folders = {packing.parent_of(entry.path) for entry in entries} - {""}
    entries += [Entry(path, Kind.FOLDER) for path in folders]
    return Snapshot(tuple(packing.in_order(entries)))


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A folder to export to; beside it lies what must stay as it is."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("CANARY")
    return tmp_path / "target"


def untouched(target: Path) -> bool:
    outside = target.parent / "outside"
    return os.listdir(outside) == ["secret"] and (outside / "secret").read_text() == "CANARY"


# From files


def test_files_imply_their_folders() -> None:
    snapshot = Snapshot.from_files({"b/c": b"1", "a": b"2"})
    assert [(entry.path, entry.kind) for entry in snapshot.entries] == [("a", "f"), ("b", "d"), ("b/c", "f")]
    assert snapshot.files == {"a": b"2", "b/c": b"1"}


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a/../../evil", "", "a\0b", "."])
def test_a_file_that_would_land_outside_is_refused_by_name(name: str) -> None:
    with pytest.raises(InputError) as caught:
        Snapshot.from_files({"fine": b"", name: b"x"})
    assert repr(name) in str(caught.value)
    assert caught.value.field == "files"


@pytest.mark.parametrize("names", [("a", "a/b"), ("a/b/c", "a"), ("a//b", "a/b"), ("x/./y", "x/y")])
def test_files_that_exclude_one_another_are_refused(names: tuple[str, str]) -> None:
    with pytest.raises(InputError, match=r"twice|another lies below"):
        Snapshot.from_files(dict.fromkeys(names, b""))


def test_the_files_of_a_snapshot_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        Snapshot.from_files({"a": b""}).files["a"] = b"x"  # type: ignore[index]


# Digest and equality


def test_the_digest_is_fixed_for_ever() -> None:
    snapshot = Snapshot.from_files({"a/b": b"hello", "c": b""})
    told = b"d 1 0\na" + b"f 3 5\na/bhello" + b"f 1 0\nc"
    assert snapshot.digest == hashlib.sha256(told).hexdigest()


paths = st.lists(st.sampled_from(["a", "b", "c", "é", "\udcff"]), min_size=1, max_size=3).map("/".join)
file_maps = st.dictionaries(paths, st.binary(max_size=8), max_size=5)


def snapshot_or_none(files: dict[str, bytes]) -> Snapshot | None:
    with suppress(InputError):
        return Snapshot.from_files(files)
    return None


@given(file_maps, st.randoms())
def test_the_order_of_the_files_does_not_matter(files: dict[str, bytes], generator: random.Random) -> None:
    shuffled = list(files.items())
    generator.shuffle(shuffled)
    one, two = snapshot_or_none(files), snapshot_or_none(dict(shuffled))
    assert one == two
    assert one is None or two is None or (one.digest == two.digest and hash(one) == hash(two))


@given(file_maps, file_maps)
def test_digests_agree_exactly_where_trees_do(one: dict[str, bytes], two: dict[str, bytes]) -> None:
    first, second = snapshot_or_none(one), snapshot_or_none(two)
    if first is not None and second is not None:
        assert (first.digest == second.digest) == (first == second) == (first.entries == second.entries)


@pytest.mark.parametrize(
    "other",
    [
        Snapshot((Entry("a", Kind.FILE, b"y"),)),
        Snapshot((Entry("b", Kind.FILE, b"x"),)),
        Snapshot((Entry("a", Kind.PROGRAM, b"x"),)),
        Snapshot((Entry("a", Kind.LINK, b"x"),)),
        Snapshot((Entry("a", Kind.FILE, b"x"), Entry("b", Kind.FOLDER))),
        Snapshot(),
    ],
)
def test_every_property_of_an_entry_is_in_the_digest(other: Snapshot) -> None:
    one = Snapshot((Entry("a", Kind.FILE, b"x"),))
    assert one.digest != other.digest
    assert one != other


def test_what_was_skipped_is_not_in_the_digest() -> None:
    one, two = Snapshot(), Snapshot(skipped=3)
    assert one.digest == two.digest
    assert one == two


# Packs


@given(file_maps)
def test_a_pack_comes_back_as_it_went(files: dict[str, bytes]) -> None:
    snapshot = snapshot_or_none(files)
    if snapshot is not None:
        assert Snapshot.from_pack(snapshot.to_pack()) == snapshot


def test_a_pack_keeps_the_number_of_what_was_skipped() -> None:
    assert Snapshot.from_pack(Snapshot(skipped=7).to_pack()).skipped == 7


@given(st.binary(max_size=100))
def test_bytes_that_are_no_pack_raise_value_error(data: bytes) -> None:
    for hostile in (data, Snapshot().to_pack()[:14] + data):
        with suppress(ValueError):
            Snapshot.from_pack(hostile)


# From a folder


def test_a_folder_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a" / "empty").mkdir(parents=True)
    (tmp_path / "a" / "run").write_text("x")
    (tmp_path / "a" / "run").chmod(0o755)
    (tmp_path / "link").symlink_to("/etc")
    os.mkfifo(tmp_path / "pipe")
    snapshot = Snapshot.from_directory(tmp_path)
    assert snapshot.entries == (
        Entry("a", Kind.FOLDER),
        Entry("a/empty", Kind.FOLDER),
        Entry("a/run", Kind.PROGRAM, b"x"),
        Entry("link", Kind.LINK, b"/etc"),
    )
    assert snapshot.skipped == 1


def test_a_link_to_a_secret_is_kept_as_a_link(target: Path) -> None:
    target.mkdir()
    (target / "file").symlink_to("../outside/secret")
    (target / "folder").symlink_to("../outside")
    snapshot = Snapshot.from_directory(target)
    assert snapshot.files == {}
    assert snapshot.links == {"file": "../outside/secret", "folder": "../outside"}


def test_a_folder_is_not_changed_by_being_read(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0)
    (tmp_path / "file").write_text("x")
    (tmp_path / "file").chmod(0)
    Snapshot.from_directory(tmp_path)
    assert {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {"locked": 0, "file": 0}


def test_a_folder_that_is_none_or_too_large_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="absent"):
        Snapshot.from_directory(tmp_path / "absent")
    (tmp_path / "file").write_bytes(bytes(1000))
    with pytest.raises(InputError, match="file"):
        Snapshot.from_directory(tmp_path / "file")
    with pytest.raises(InputError, match="larger than the 500 bytes"):
        Snapshot.from_directory(tmp_path, limit=500)


# Export


def test_an_export_reads_back_as_the_same_tree(target: Path) -> None:
    entries = [
        Entry("a", Kind.FOLDER),
        Entry("a/empty", Kind.FOLDER),
        Entry("a/link", Kind.LINK, b"../run"),
        Entry("run", Kind.PROGRAM, b"x"),
        Entry(os.fsdecode(b"\xff"), Kind.FILE, b"y"),
    ]
    snapshot = Snapshot(tuple(packing.in_order(entries)))
    assert snapshot.export(target) == []
    assert Snapshot.from_directory(target) == snapshot


def test_an_export_makes_the_folder_and_those_above(target: Path) -> None:
    Snapshot.from_files({"a": b"x"}).export(target / "new" / "er")
    assert (target / "new" / "er" / "a").read_bytes() == b"x"


def test_an_export_leaves_out_links_that_lead_out_and_says_which(target: Path) -> None:
    snapshot = linking(abs="/etc/passwd", up="../outside", fine="x", x_up="..", through="x/up/..", loop="loop")
    assert snapshot.export(target) == ["abs", "loop", "through", "up"]
    assert sorted(path.relative_to(target).as_posix() for path in target.rglob("*")) == ["fine", "x", "x/up"]


def test_an_export_does_not_touch_a_folder_that_is_not_empty(target: Path) -> None:
    target.mkdir()
    (target / "a").write_text("mine")
    with pytest.raises(InputError, match="not empty"):
        Snapshot.from_files({"a": b"theirs"}).export(target)
    assert (target / "a").read_text() == "mine"


def test_an_export_overwrites_when_told_and_keeps_the_rest(target: Path) -> None:
    target.mkdir()
    (target / "a").write_text("mine")
    (target / "b").write_text("mine")
    Snapshot.from_files({"a": b"theirs"}).export(target, overwrite=True)
    assert ((target / "a").read_text(), (target / "b").read_text()) == ("theirs", "mine")


def test_an_export_writes_through_no_link_that_lies_there_already(target: Path) -> None:
    target.mkdir()
    (target / "a").symlink_to("../outside/secret")
    (target / "d").symlink_to("../outside")
    Snapshot.from_files({"a": b"x"}).export(target, overwrite=True)
    assert (target / "a").read_text() == "x"
    assert not (target / "a").is_symlink()
    with pytest.raises(OSError, match="symbolic links"):
        Snapshot.from_files({"d/evil": b"x"}).export(target, overwrite=True)
    assert untouched(target)


def test_an_export_writes_through_no_hard_link_that_lies_there_already(target: Path) -> None:
    target.mkdir()
    os.link(target.parent / "outside" / "secret", target / "a")
    Snapshot.from_files({"a": b"x"}).export(target, overwrite=True)
    assert untouched(target)


def test_an_export_into_a_file_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        Snapshot().export(tmp_path / "file")


def test_files_that_name_an_interpreter_are_executable() -> None:
    tree = Snapshot.from_files({"run.sh": b"#!/bin/sh\n", "notes.txt": b"# none\n"})
    assert {entry.path: entry.kind for entry in tree.entries} == {"run.sh": Kind.PROGRAM, "notes.txt": Kind.FILE}

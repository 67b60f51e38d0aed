"""File operations in a folder whose content is hostile: with openat2, and with the walk that stands in for it."""

from __future__ import annotations

import errno
import os
import resource
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.sandbox.jail import beneath, kernel, packing, tree
from lydite.sandbox.jail.packing import Entry, Kind

MIB = 1 << 20
NOBODY = 65534


@pytest.fixture(params=["openat2", "stepwise"], autouse=True)
def opening(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "stepwise":
        monkeypatch.setattr(beneath, "has_openat2", lambda: False)
    elif not beneath.has_openat2():
        pytest.skip("this kernel has no openat2")
    return str(request.param)


@pytest.fixture(autouse=True)
def no_descriptor_stays_open() -> Iterator[None]:
    before = sorted(os.listdir("/proc/self/fd"))
    yield
    assert sorted(os.listdir("/proc/self/fd")) == before


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The workspace; beside it lies what must stay out of reach."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("CANARY")
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def root(home: Path, no_descriptor_stays_open: None) -> Iterator[int]:
    fd = os.open(home, os.O_RDONLY | os.O_DIRECTORY)
    yield fd
    os.close(fd)


@pytest.fixture(autouse=True)
def outside_is_untouched(tmp_path: Path) -> Iterator[None]:
    yield
    outside = tmp_path / "outside"
    if outside.exists():
        assert os.listdir(outside) == ["secret"]
        assert (outside / "secret").read_text() == "CANARY"
        assert set(os.listdir(tmp_path)) <= {"outside", "home", "copy"}


def in_child(action: Callable[[], object]) -> str:
    """The ``repr`` of what ``action`` returns in a child process."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(sink, repr(action()).encode())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(sink)
    with os.fdopen(source, "rb") as stream:
        said = stream.read().decode()
    os.waitpid(child, 0)
    return said


def as_ordinary_user(home: Path, action: Callable[[], object], owns: bool = True) -> str:
    """As :func:`in_child`, without the rights of root. The workspace is the child's own, unless told."""

    def ordinary() -> object:
        if os.geteuid() == 0:
            for folder, _, files in os.walk(home) if owns else ():
                for name in (".", *files):
                    os.chown(os.path.join(folder, name), NOBODY, NOBODY, follow_symlinks=False)
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
        return action()

    return in_child(ordinary)


def dig(root: int, depth: int) -> None:
    """A folder in a folder in a folder ..."""
    here = os.dup(root)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        there = os.open("d", os.O_RDONLY | os.O_DIRECTORY, dir_fd=here)
        os.close(here)
        here = there
    os.close(here)


def entries(root: int, limit: int = MIB) -> dict[str, Entry]:
    return {entry.path: entry for entry in packing.parse(tree.pack(root, limit))[0]}


# Paths


@pytest.mark.parametrize("path", ["../outside/secret", "/etc/passwd", "", "a/../../outside/secret", "a\0"])
def test_every_operation_checks_its_path(root: int, path: str) -> None:
    for operation in (
        lambda: tree.read(root, path, MIB),
        lambda: tree.write(root, path, b""),
        lambda: tree.remove(root, path),
        lambda: tree.listing(root, path or ".."),
    ):
        with pytest.raises(ValueError, match=r"path|names"):
            operation()


# Reading


def test_read_gives_the_content(root: int, home: Path) -> None:
    (home / "a").mkdir()
    (home / "a" / "b").write_bytes(b"\0\xff" * 100_000)
    assert tree.read(root, "a//b", MIB) == b"\0\xff" * 100_000


def test_read_takes_as_much_as_allowed_and_not_a_byte_more(root: int, home: Path) -> None:
    (home / "a").write_bytes(b"12345")
    assert tree.read(root, "a", 5) == b"12345"
    with pytest.raises(OSError, match="larger than the 4 bytes") as caught:
        tree.read(root, "a", 4)
    assert caught.value.errno == errno.EFBIG


def test_read_does_not_try_a_file_of_a_terabyte(root: int, home: Path) -> None:
    (home / "a").touch()
    os.truncate(home / "a", 1 << 40)
    with pytest.raises(OSError, match="larger"):
        tree.read(root, "a", MIB)


def test_read_bounds_a_file_that_claims_to_be_empty() -> None:
    proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    try:
        with pytest.raises(OSError, match="larger than the 10 bytes"):
            tree.read(proc, "cpuinfo", 10)
    finally:
        os.close(proc)


@pytest.mark.parametrize("target", ["../outside/secret", "/etc/passwd", "file", "/proc/self/environ"])
def test_read_follows_no_symbolic_link(root: int, home: Path, target: str) -> None:
    (home / "file").write_text("inside")
    (home / "link").symlink_to(target)
    with pytest.raises(OSError, match="symbolic links") as caught:
        tree.read(root, "link", MIB)
    assert caught.value.errno == errno.ELOOP


def test_read_follows_no_symbolic_link_on_the_way(root: int, home: Path) -> None:
    (home / "link").symlink_to("../outside")
    with pytest.raises(OSError, match="symbolic links"):
        tree.read(root, "link/secret", MIB)


def test_reading_a_fifo_fails_at_once(root: int, home: Path) -> None:
    os.mkfifo(home / "pipe")
    with pytest.raises(OSError, match="no regular file"):
        tree.read(root, "pipe", MIB)


def test_reading_a_socket_fails(root: int, home: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        here = os.open(".", os.O_RDONLY)
        os.fchdir(root)  # the whole path may be longer than a socket's address
        server.bind("socket")
        os.fchdir(here)
        os.close(here)
        with pytest.raises(OSError, match="No such device"):
            tree.read(root, "socket", MIB)


def test_reading_a_device_fails_and_does_not_fill_the_memory(root: int, home: Path) -> None:
    try:
        os.mknod(home / "zero", 0o20666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("may not make device nodes")
    with pytest.raises(OSError, match=r"no regular file|Permission denied"):
        tree.read(root, "zero", MIB)


def test_reading_a_folder_or_nothing_says_so(root: int, home: Path) -> None:
    (home / "a").mkdir()
    with pytest.raises(IsADirectoryError):
        tree.read(root, "a", MIB)
    with pytest.raises(FileNotFoundError):
        tree.read(root, "b", MIB)
    (home / "file").touch()
    with pytest.raises(NotADirectoryError):
        tree.read(root, "file/x", MIB)


def test_names_that_are_no_text_come_back_as_they_went(root: int, home: Path) -> None:
    (home / os.fsdecode(b"\xff\xfe")).write_text("odd")
    (name,) = tree.listing(root)
    assert os.fsencode(name) == b"\xff\xfe"
    assert tree.read(root, name, MIB) == b"odd"
    tree.write(root, name, b"even")
    assert os.listdir(os.fsencode(home)) == [b"\xff\xfe"]
    assert entries(root)[name].data == b"even"
    tree.remove(root, name)
    assert tree.listing(root) == []


def test_a_file_that_its_owner_locked_away_is_read(root: int, home: Path) -> None:
    (home / "a" / "b").mkdir(parents=True)
    (home / "a" / "b" / "file").write_text("hidden")

    def action() -> bytes:
        for path, mode in (("a/b/file", 0), ("a/b", 0), ("a", 0)):
            os.chmod(path, mode, dir_fd=root)
        os.fchmod(root, 0)
        return tree.read(root, "a/b/file", MIB)

    assert as_ordinary_user(home, action) == "b'hidden'"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files of others")
def test_a_file_of_somebody_else_is_not_forced_open(root: int, home: Path) -> None:
    (home / "file").write_text("x")
    (home / "file").chmod(0o600)

    def action() -> None:
        with pytest.raises(PermissionError):
            tree.read(root, "file", MIB)

    assert as_ordinary_user(home, action, owns=False) == "None"
    assert (home / "file").stat().st_mode & 0o777 == 0o600


def test_rights_are_given_back_to_nothing_behind_a_link(root: int, home: Path) -> None:
    (home / "mine").write_text("x")
    (home / "a").mkdir()

    def action() -> int:
        os.chmod("mine", 0, dir_fd=root)
        os.symlink("../mine", "a/link", dir_fd=root)
        with pytest.raises(OSError, match="symbolic links"):
            tree.read(root, "a/link", MIB)
        return os.stat("mine", dir_fd=root).st_mode & 0o777

    assert as_ordinary_user(home, action) == "0"


# Writing


def test_write_makes_the_folders_and_sets_the_mode(root: int, home: Path) -> None:
    tree.write(root, "a/b/c", b"x", 0o755)
    tree.write(root, "a/b/d", b"y")
    assert (home / "a/b/c").read_bytes() == b"x"
    assert (home / "a/b/c").stat().st_mode & 0o777 == 0o755
    assert (home / "a/b/d").stat().st_mode & 0o777 == 0o644
    assert sorted(os.listdir(home / "a/b")) == ["c", "d"]


@given(st.binary(max_size=5000))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    fd = os.open(tmp_path_factory.mktemp("any"), os.O_RDONLY)
    try:
        tree.write(fd, "file", data)
        assert tree.read(fd, "file", len(data)) == data
    finally:
        os.close(fd)


def test_write_replaces_a_file_at_once_and_keeps_a_reader_of_the_old_one(root: int, home: Path) -> None:
    (home / "a").write_text("old")
    with open(home / "a") as reader:
        tree.write(root, "a", b"new")
        assert reader.read() == "old"
    assert (home / "a").read_text() == "new"


def test_write_does_not_go_through_a_symbolic_link(root: int, home: Path) -> None:
    (home / "a").symlink_to("../outside/secret")
    (home / "b").symlink_to("../outside/new")
    tree.write(root, "a", b"x")
    tree.write(root, "b", b"x")
    assert not (home / "a").is_symlink()
    assert (home / "a").read_text() == (home / "b").read_text() == "x"


def test_write_does_not_go_through_a_link_that_an_earlier_step_left_on_the_way(root: int, home: Path) -> None:
    (home / "link").symlink_to("../outside")
    for path in ("link/evil", "link/new/evil"):
        with pytest.raises(OSError, match="symbolic links"):
            tree.write(root, path, b"x")


def test_write_does_not_go_through_a_hard_link(root: int, home: Path, tmp_path: Path) -> None:
    os.link(tmp_path / "outside" / "secret", home / "hard")
    tree.write(root, "hard", b"x")
    assert (home / "hard").read_text() == "x"
    assert (tmp_path / "outside" / "secret").stat().st_nlink == 1


def test_write_takes_the_place_of_a_fifo_and_does_not_wait_for_it(root: int, home: Path) -> None:
    os.mkfifo(home / "pipe")
    tree.write(root, "pipe", b"x")
    assert (home / "pipe").read_text() == "x"


def test_write_does_not_replace_a_folder_and_leaves_nothing_behind(root: int, home: Path) -> None:
    (home / "a").mkdir()
    with pytest.raises(IsADirectoryError):
        tree.write(root, "a", b"x")
    assert os.listdir(home) == ["a"]


def test_write_below_a_file_says_so(root: int, home: Path) -> None:
    (home / "a").write_text("x")
    with pytest.raises(NotADirectoryError):
        tree.write(root, "a/b", b"x")


def test_write_that_fails_keeps_the_old_content(root: int, home: Path) -> None:
    (home / "a").write_text("old")

    def action() -> list[str]:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        with pytest.raises(OSError, match="File too large"):
            tree.write(root, "a", b"x" * 20_000)
        return tree.listing(root)

    assert as_ordinary_user(home, action) == "['a']"
    assert (home / "a").read_text() == "old"


def test_write_into_a_folder_that_its_owner_locked(root: int, home: Path) -> None:
    (home / "a" / "b").mkdir(parents=True)

    def action() -> None:
        os.chmod("a/b", 0o500, dir_fd=root)
        os.chmod("a", 0, dir_fd=root)
        tree.write(root, "a/b/c/file", b"x")

    assert as_ordinary_user(home, action) == "None"
    assert (home / "a/b/c/file").read_text() == "x"


def test_a_name_that_is_too_long_is_an_error_of_the_system(root: int, home: Path) -> None:
    with pytest.raises(OSError, match="name too long"):
        tree.write(root, "a" * 256, b"x")
    assert os.listdir(home) == []


# Removing


def test_remove_takes_a_file_or_a_whole_folder(root: int, home: Path) -> None:
    for path in ("a/b/c", "a/b/d/e", "a/f", "g"):
        tree.write(root, path, b"x")
    tree.remove(root, "g")
    tree.remove(root, "a/b/c")
    assert sorted(path.relative_to(home).as_posix() for path in home.rglob("*")) == [
        "a",
        "a/b",
        "a/b/d",
        "a/b/d/e",
        "a/f",
    ]
    tree.remove(root, "a")
    assert os.listdir(home) == []


def test_remove_takes_a_link_and_not_what_it_leads_to(root: int, home: Path) -> None:
    (home / "link").symlink_to("../outside")
    (home / "a").mkdir()
    (home / "a" / "link").symlink_to("../../outside")
    (home / "a" / "file").symlink_to("../../outside/secret")
    tree.remove(root, "link")
    tree.remove(root, "a")
    assert os.listdir(home) == []


def test_remove_does_not_reach_through_a_link(root: int, home: Path) -> None:
    (home / "link").symlink_to("../outside")
    with pytest.raises(OSError, match="symbolic links"):
        tree.remove(root, "link/secret")


def test_remove_needs_neither_recursion_nor_descriptors(root: int, home: Path) -> None:
    dig(root, 10_000)

    def action() -> list[str]:
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        sys.setrecursionlimit(200)
        tree.remove(root, "d")
        return tree.listing(root)

    assert in_child(action) == "[]"


def test_remove_of_nothing_says_so(root: int) -> None:
    with pytest.raises(FileNotFoundError):
        tree.remove(root, "a")
    with pytest.raises(FileNotFoundError):
        tree.remove(root, "a/b")


def test_remove_takes_what_its_owner_locked(root: int, home: Path) -> None:
    for path in ("a/b/c/file", "a/d/file"):
        tree.write(root, path, b"x")

    def action() -> list[str]:
        for path in ("a/b/c", "a/b", "a/d", "a"):
            os.chmod(path, 0o000 if path != "a/d" else 0o555, dir_fd=root)
        tree.remove(root, "a")
        return tree.listing(root)

    assert as_ordinary_user(home, action) == "[]"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_remove_works_where_no_file_can_be_made(home: Path) -> None:
    def action() -> list[str]:
        kernel.unshare(kernel.NEWNS)
        kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
        kernel.mount("none", str(home), "tmpfs", 0, "nr_inodes=20")
        full = os.open(home, os.O_RDONLY)
        dig(full, 5)
        with suppress(OSError):
            for number in range(100):
                (home / "d" / str(number)).touch()
        tree.remove(full, "d")
        return tree.listing(full)

    assert in_child(action) == "[]"


# Listing


def test_listing_is_sorted_and_marks_folders(root: int, home: Path) -> None:
    for name in ("b", "a/x", "c/y/z"):
        tree.write(root, name, b"")
    (home / "link").symlink_to("a")
    os.mkfifo(home / "pipe")
    assert (
        tree.listing(root) == tree.listing(root, ".") == tree.listing(root, "./") == ["a/", "b", "c/", "link", "pipe"]
    )
    assert tree.listing(root, "c/") == ["y/"]


def test_listing_does_not_go_through_a_link(root: int, home: Path) -> None:
    (home / "link").symlink_to("../outside")
    with pytest.raises(OSError, match="symbolic links"):
        tree.listing(root, "link")


def test_listing_of_what_is_no_folder_says_so(root: int, home: Path) -> None:
    os.mkfifo(home / "pipe")
    with pytest.raises(NotADirectoryError):
        tree.listing(root, "pipe")
    with pytest.raises(FileNotFoundError):
        tree.listing(root, "absent")


def test_listing_has_an_end(root: int, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "_MOST", 10)
    for number in range(11):
        (home / str(number)).touch()
    with pytest.raises(OSError, match="more than 10 names"):
        tree.listing(root)


# Packing and unpacking


def plant(home: Path) -> None:
    (home / "a" / "empty").mkdir(parents=True)
    (home / "a" / "text").write_text("hello")
    (home / "a-b").write_text("sorts before a/text as bytes")
    (home / "run").write_text("#!/bin/sh")
    (home / "run").chmod(0o700)
    (home / "link").symlink_to("/etc/passwd")
    os.mkfifo(home / "a" / "pipe")


def test_pack_holds_folders_files_programs_and_the_text_of_links(root: int, home: Path) -> None:
    plant(home)
    found, skipped = packing.parse(tree.pack(root, MIB))
    assert found == [
        Entry("a", Kind.FOLDER),
        Entry("a-b", Kind.FILE, b"sorts before a/text as bytes"),
        Entry("a/empty", Kind.FOLDER),
        Entry("a/text", Kind.FILE, b"hello"),
        Entry("link", Kind.LINK, b"/etc/passwd"),
        Entry("run", Kind.PROGRAM, b"#!/bin/sh"),
    ]
    assert skipped == 1


def test_pack_and_unpack_give_the_same_tree_and_the_same_bytes(root: int, home: Path, tmp_path: Path) -> None:
    plant(home)
    os.unlink(home / "a" / "pipe")
    packed = tree.pack(root, MIB)
    (tmp_path / "copy").mkdir()
    copy = os.open(tmp_path / "copy", os.O_RDONLY)
    tree.unpack(copy, packed)
    assert tree.pack(copy, MIB) == packed
    assert os.readlink(tmp_path / "copy" / "link") == "/etc/passwd"
    assert (tmp_path / "copy" / "run").stat().st_mode & 0o777 == 0o755
    os.close(copy)


def test_pack_says_nothing_of_times_owners_and_the_order_of_making(root: int, home: Path) -> None:
    for name in ("x", "y"):
        (home / name).write_text(name)
    before = tree.pack(root, MIB)
    for name in ("y", "x"):
        (home / name).unlink()
        (home / name).write_text(name)
        os.utime(home / name, (1, 1))
        (home / name).chmod(0o604)
    assert tree.pack(root, MIB) == before


def test_pack_never_holds_what_a_link_leads_to(root: int, home: Path) -> None:
    (home / "file").symlink_to("../outside/secret")
    (home / "folder").symlink_to("../outside")
    assert b"CANARY" not in tree.pack(root, MIB)


def test_pack_stops_at_its_limit(root: int, home: Path) -> None:
    (home / "a").write_bytes(bytes(1000))
    size = len(tree.pack(root, MIB))
    assert len(tree.pack(root, size)) == size
    with pytest.raises(OSError, match="larger") as caught:
        tree.pack(root, 900)
    assert caught.value.errno == errno.EFBIG


def test_pack_counts_hard_links_each_against_the_limit(root: int, home: Path) -> None:
    (home / "a").write_bytes(bytes(1000))
    for number in range(50):
        os.link(home / "a", home / str(number))
    with pytest.raises(OSError, match="larger"):
        tree.pack(root, 20_000)


def test_pack_skips_what_is_too_deep_to_be_named_and_counts_it(root: int, home: Path) -> None:
    dig(root, 10_000)
    try:
        found, skipped = packing.parse(tree.pack(root, MIB))
        assert len(found) == packing.DEEPEST
        assert skipped == 1
    finally:
        tree.remove(root, "d")


def test_pack_skips_paths_that_are_too_long_and_counts_them(root: int, home: Path) -> None:
    here = os.dup(root)
    for _ in range(20):
        os.mkdir("n" * 250, dir_fd=here)
        there = os.open("n" * 250, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = there
    os.close(here)
    found, skipped = packing.parse(tree.pack(root, MIB))
    assert (len(found), skipped) == (16, 1)
    tree.remove(root, "n" * 250)


def test_pack_reads_what_its_owner_locked(root: int, home: Path) -> None:
    tree.write(root, "a/b/file", b"hidden")
    tree.write(root, "a/c", b"too")

    def action() -> list[str]:
        for path in ("a/b/file", "a/b", "a/c"):
            os.chmod(path, 0, dir_fd=root)
        os.chmod("a", 0o400, dir_fd=root)
        return [entry.data.decode() for entry in entries(root).values()]

    assert as_ordinary_user(home, action) == "['', '', 'hidden', 'too']"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files of others")
def test_pack_counts_what_it_cannot_read(root: int, home: Path) -> None:
    tree.write(root, "a/file", b"x")
    tree.write(root, "b", b"x", 0o600)
    (home / "a").chmod(0o700)

    def action() -> object:
        found, skipped = packing.parse(tree.pack(root, MIB))
        return [entry.path for entry in found], skipped

    assert as_ordinary_user(home, action, owns=False) == "(['a'], 2)"


def test_collect_can_leave_the_tree_exactly_as_it_is(root: int, home: Path) -> None:
    tree.write(root, "a/file", b"x")

    def action() -> object:
        os.chmod("a", 0, dir_fd=root)
        found = tree.collect(root, MIB, change=False)
        return found[1], os.stat("a", dir_fd=root).st_mode & 0o777

    assert as_ordinary_user(home, action) == "(1, 0)"


def test_unpack_replaces_files_and_links_that_are_in_the_way(root: int, home: Path) -> None:
    (home / "a").symlink_to("../outside/secret")
    (home / "b").write_text("old")
    tree.unpack(root, packing.encode([Entry("a", Kind.FILE, b"new"), Entry("b", Kind.LINK, b"a")]))
    assert (home / "a").read_text() == "new"
    assert os.readlink(home / "b") == "a"


def test_unpack_does_not_write_through_a_link_in_the_place_of_a_folder(root: int, home: Path) -> None:
    (home / "a").symlink_to("../outside")
    with pytest.raises(OSError, match="symbolic links"):
        tree.unpack(root, packing.encode([Entry("a", Kind.FOLDER), Entry("a/evil", Kind.FILE, b"x")]))


def test_unpack_writes_nothing_of_bytes_that_are_damaged(root: int, home: Path) -> None:
    packed = packing.encode([Entry("a", Kind.FILE, b"x"), Entry("b", Kind.FILE, b"x")])
    with pytest.raises(ValueError, match="cut off"):
        tree.unpack(root, packed[:-1])
    assert os.listdir(home) == []


# Races


@contextmanager
def somebody(act: Callable[[], None]) -> Iterator[None]:
    """A process that does this over and over."""
    child = os.fork()
    if child == 0:
        try:
            while True:
                with suppress(OSError):
                    act()
        finally:
            os._exit(0)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@pytest.fixture
def swapped(home: Path) -> Iterator[None]:
    """``d`` is by turns a folder with a file ``f`` and a link to the folder outside; ``f`` a file and a link."""
    (home / "d").mkdir()
    (home / "d" / "f").write_text("inside")

    def swap() -> None:
        os.rename(home / "d", home / "e")
        os.symlink("../outside", home / "d")
        os.unlink(home / "d")
        os.rename(home / "e", home / "d")
        os.symlink("../../outside/secret", home / "d" / "g")
        os.rename(home / "d" / "g", home / "d" / "secret")

    with somebody(swap):
        yield


@pytest.mark.usefixtures("swapped")
def test_nothing_outside_is_read_while_folders_become_links(root: int) -> None:
    for _ in range(2000):
        with suppress(OSError):
            assert tree.read(root, "d/secret", MIB) != b"CANARY"
        with suppress(OSError):
            assert "secret" not in tree.listing(root, "d") or "f" in tree.listing(root, "d")


@pytest.mark.usefixtures("swapped")
def test_nothing_outside_is_packed_while_folders_become_links(root: int) -> None:
    for _ in range(500):
        assert b"CANARY" not in tree.pack(root, MIB)


@pytest.mark.usefixtures("swapped")
def test_nothing_outside_is_written_while_folders_become_links(root: int) -> None:
    for number in range(1000):
        with suppress(OSError):
            tree.write(root, "d/secret", b"x")
        with suppress(OSError):
            tree.write(root, f"d/new{number % 5}", b"x")


@pytest.mark.usefixtures("swapped")
def test_nothing_outside_is_removed_while_folders_become_links(root: int) -> None:
    for _ in range(1000):
        for path in ("d/secret", "d"):
            with suppress(OSError):
                tree.remove(root, path)
        with suppress(OSError):
            tree.write(root, "d/f", b"x")


def test_remove_comes_to_an_end_while_somebody_adds(root: int, home: Path) -> None:
    (home / "d").mkdir()

    def add() -> None:
        os.makedirs(home / "d" / "a" / os.urandom(2).hex())

    with somebody(add), suppress(OSError):
        tree.remove(root, "d")
    with suppress(FileNotFoundError):
        tree.remove(root, "d")
    assert os.listdir(home) == []


# Where it runs


def test_the_jail_loads_with_nothing_but_the_standard_library() -> None:
    folder = Path(tree.__file__).parents[1]
    code = "import sys; sys.path.insert(0, sys.argv[1]); import jail.tree; print(jail.tree.check_path('a//b'))"
    command = [sys.executable, "-S", "-s", "-P", "-c", code, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env={}, check=True)
    assert done.stdout == "a/b\n"

"""Landlock: each right that a ruleset gives or takes, tried in a child that has taken it on."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lydite.sandbox.jail import kernel, landlock

pytestmark = pytest.mark.skipif(landlock.abi() < 1, reason="this kernel has no Landlock")


def in_child(action: Callable[[], object]) -> str:
    """What came of ``action`` in a child process: its result as text, or the name of its error."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            try:
                said = str(action())
            except OSError as error:
                said = type(error).__name__
            os.write(sink, said.encode())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(sink)
    with os.fdopen(source, "rb") as stream:
        said = stream.read().decode()
    os.waitpid(child, 0)
    return said


def confined(fd: int, attempt: Callable[[], object]) -> str:
    """What comes of ``attempt`` in a child under the ruleset ``fd``."""

    def action() -> object:
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        try:
            landlock.restrict(fd)
        except OSError as error:
            return f"not restricted: {error}"
        return attempt()

    return in_child(action)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "text").write_text("hello")
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "secret").write_text("CANARY")
    (tmp_path / "work").mkdir()
    return tmp_path


@pytest.fixture
def rules(home: Path) -> Iterator[int]:
    fd = landlock.ruleset([str(home / "open"), "/usr", "/lib", "/lib64", "/bin"], [str(home / "work")], ["/dev/null"])
    yield fd
    os.close(fd)


def test_a_named_folder_can_be_read_and_listed(home: Path, rules: int) -> None:
    assert confined(rules, (home / "open" / "text").read_text) == "hello"
    assert confined(rules, lambda: os.listdir(home / "open")) == "['text']"


def test_another_folder_cannot_be_read_or_listed(home: Path, rules: int) -> None:
    assert confined(rules, (home / "closed" / "secret").read_text) == "PermissionError"
    assert confined(rules, lambda: os.listdir(home / "closed")) == "PermissionError"


def test_a_readable_folder_cannot_be_changed(home: Path, rules: int) -> None:
    text = home / "open" / "text"
    assert confined(rules, lambda: text.write_text("x")) == "PermissionError"
    assert confined(rules, text.unlink) == "PermissionError"
    assert confined(rules, lambda: os.mkdir(home / "open" / "new")) == "PermissionError"
    if landlock.abi() >= 3:
        assert confined(rules, lambda: os.truncate(text, 0)) == "PermissionError"
    assert text.read_text() == "hello"


def test_a_named_program_runs_and_another_does_not(home: Path, rules: int) -> None:
    program = home / "closed" / "program"
    program.write_text("#!/bin/sh\necho ran\n")
    program.chmod(0o755)
    run = lambda path: subprocess.run([path, "x"], capture_output=True, text=True).stdout  # noqa: E731
    assert confined(rules, lambda: run("/bin/echo")) == "x\n"
    assert confined(rules, lambda: run(str(program))) == "PermissionError"


def test_the_work_folder_can_be_written_to_the_full(home: Path, rules: int) -> None:
    def work() -> str:
        os.makedirs(home / "work" / "a" / "b")
        (home / "work" / "a" / "file").write_text("1")
        os.rename(home / "work" / "a" / "file", home / "work" / "a" / "b" / "file")
        os.symlink("b", home / "work" / "a" / "link")
        os.mkfifo(home / "work" / "pipe")
        os.truncate(home / "work" / "a" / "b" / "file", 0)
        os.unlink(home / "work" / "a" / "b" / "file")
        return "done"

    if landlock.abi() >= 2:
        assert confined(rules, work) == "done"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes device nodes")
def test_no_device_node_is_made_in_the_work_folder(home: Path, rules: int) -> None:
    node = lambda: os.mknod(home / "work" / "null", 0o20666, os.makedev(1, 3))  # noqa: E731
    assert confined(rules, node) == "PermissionError"


def test_a_file_is_not_linked_or_moved_into_the_work_folder(home: Path, rules: int) -> None:
    secret, target = home / "closed" / "secret", home / "work" / "stolen"
    assert confined(rules, lambda: os.link(secret, target)) in {"PermissionError", "OSError"}
    assert confined(rules, lambda: os.rename(secret, target)) in {"PermissionError", "OSError"}


def test_a_symbolic_link_in_the_work_folder_opens_nothing(home: Path, rules: int) -> None:
    (home / "work" / "link").symlink_to(home / "closed" / "secret")
    assert confined(rules, (home / "work" / "link").read_text) == "PermissionError"


def test_a_device_file_is_read_and_written_and_its_neighbours_are_not(rules: int) -> None:
    assert confined(rules, lambda: Path("/dev/null").write_bytes(b"x")) == "1"
    assert confined(rules, Path("/dev/null").read_bytes) == "b''"
    assert confined(rules, lambda: os.open("/dev/zero", os.O_RDONLY)) == "PermissionError"


def test_a_readable_file_is_read_only_and_not_executed(home: Path) -> None:
    program = home / "closed" / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    fd = landlock.ruleset(["/usr", "/lib", "/lib64", "/bin"], readable_files=[str(program)])
    assert confined(fd, program.read_text) == "#!/bin/sh\n"
    assert confined(fd, lambda: os.execv(program, ["x"])) == "PermissionError"
    assert confined(fd, lambda: program.write_text("")) == "PermissionError"
    os.close(fd)


def test_a_rule_for_a_file_does_not_take_a_folder(home: Path) -> None:
    before = os.listdir("/proc/self/fd")
    with pytest.raises(ValueError, match="is a folder"):
        landlock.ruleset(readable_files=[str(home / "closed")])
    with pytest.raises(ValueError, match="is a folder"):
        landlock.ruleset(device_files=[str(home / "closed")])
    assert len(os.listdir("/proc/self/fd")) == len(before)


def test_list_root_lists_and_reads_nothing(home: Path) -> None:
    fd = landlock.ruleset(list_root=True)
    assert confined(fd, lambda: os.listdir(home / "closed")) == "['secret']"
    assert confined(fd, (home / "closed" / "secret").read_text) == "PermissionError"
    os.close(fd)


def test_the_root_is_not_listed_unless_told(rules: int) -> None:
    assert confined(rules, lambda: os.listdir("/")) == "PermissionError"


def test_a_missing_path_is_skipped(home: Path) -> None:
    fd = landlock.ruleset([str(home / "absent"), str(home / "open")], [str(home / "open" / "text" / "below")])
    assert confined(fd, (home / "open" / "text").read_text) == "hello"
    os.close(fd)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_what_is_mounted_over_a_path_does_not_inherit_its_rule(home: Path) -> None:
    work = str(home / "work")

    def action() -> str:
        kernel.unshare(kernel.NEWNS)
        kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
        kernel.mount("none", work, "tmpfs")
        old = landlock.ruleset(write=[work])
        write = (home / "work" / "file").write_text
        before = confined(old, lambda: write("x"))
        kernel.umount(work)
        kernel.mount("none", work, "tmpfs")
        new = landlock.ruleset(write=[work])
        return f"{before} {confined(old, lambda: write('x'))} {confined(new, lambda: write('x'))}"

    said = in_child(action)
    if said == "PermissionError":
        pytest.skip("this root may not mount")
    assert said == "1 PermissionError 1"


# Network, sockets and signals


def listener() -> tuple[socket.socket, Callable[[], str]]:
    server = socket.create_server(("127.0.0.1", 0))

    def call() -> str:
        with socket.socket() as client:  # create_connection would import a codec, and thereby read a file
            client.connect(server.getsockname())
        return "connected"

    return server, call


@pytest.mark.skipif(landlock.abi() < 4, reason="TCP needs ABI 4")
def test_tcp_is_denied(rules: int) -> None:
    server, call = listener()
    assert confined(rules, call) == "PermissionError"
    assert confined(rules, lambda: socket.socket().bind(("127.0.0.1", 0))) == "PermissionError"
    server.close()


def test_tcp_can_be_left_alone() -> None:
    server, call = listener()
    fd = landlock.ruleset(deny_tcp=False)
    assert confined(fd, call) == "connected"
    os.close(fd)
    server.close()


def abstract_listener() -> tuple[socket.socket, Callable[[], str]]:
    server = socket.socket(socket.AF_UNIX)
    server.bind("")  # the kernel picks a free abstract name
    server.listen(4)
    name = server.getsockname()

    def call() -> str:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(name)
        return "connected"

    return server, call


@pytest.mark.skipif(landlock.abi() < 6, reason="scopes need ABI 6")
@pytest.mark.parametrize("make", [landlock.ruleset, landlock.scope_only])
def test_abstract_sockets_of_others_are_out_of_reach(make: Callable[[], int]) -> None:
    server, call = abstract_listener()
    fd = make()
    assert confined(fd, call) == "PermissionError"
    os.close(fd)
    server.close()


@pytest.mark.skipif(landlock.abi() < 6, reason="scopes need ABI 6")
@pytest.mark.parametrize("make", [landlock.ruleset, landlock.scope_only])
def test_signals_reach_nobody_outside(make: Callable[[], int]) -> None:
    parent, fd = os.getpid(), make()
    assert confined(fd, lambda: os.kill(parent, 0)) == "PermissionError"
    os.close(fd)


def test_signals_reach_ones_own_children() -> None:
    def work() -> int:
        child = os.fork()
        if child == 0:
            signal.pause()
        os.kill(child, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    fd = landlock.ruleset()
    assert confined(fd, work) == "-9"
    os.close(fd)


def test_the_signal_scope_can_be_left_out() -> None:
    parent, fd = os.getpid(), landlock.ruleset(scope_signals=False)
    assert confined(fd, lambda: os.kill(parent, 0)) == "None"
    os.close(fd)


@pytest.mark.skipif(landlock.abi() < 6, reason="scopes need ABI 6")
def test_scope_only_leaves_files_and_network_alone(home: Path) -> None:
    server, call = listener()
    fd = landlock.scope_only()
    assert confined(fd, (home / "closed" / "secret").read_text) == "CANARY"
    assert confined(fd, call) == "connected"
    os.close(fd)
    server.close()


# The descriptor


def test_the_ruleset_is_not_inherited_by_programs(rules: int) -> None:
    assert not os.get_inheritable(rules)


def test_restrict_needs_no_new_privs() -> None:
    # nobody: with CAP_SYS_ADMIN the kernel asks for nothing
    code = (
        "import os, sys\n"
        "from lydite.sandbox.jail import landlock\n"
        "fd = landlock.ruleset()\n"
        "os.geteuid() or os.setresuid(65534, 65534, 65534)\n"
        "try: landlock.restrict(fd)\n"
        "except PermissionError: print('refused')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "refused\n"


def without_landlock(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str, *args: object) -> int:
        raise OSError(38, f"no {name}")

    landlock.abi.cache_clear()
    monkeypatch.setattr(kernel, "syscall", absent)


def test_a_kernel_without_landlock_has_abi_0_and_gives_no_ruleset(monkeypatch: pytest.MonkeyPatch) -> None:
    without_landlock(monkeypatch)
    try:
        assert landlock.abi() == 0
        with pytest.raises(OSError, match="landlock_create_ruleset"):
            landlock.ruleset()
        with pytest.raises(OSError, match="ABI 6"):
            landlock.scope_only()
    finally:
        landlock.abi.cache_clear()


def test_a_kernel_that_knows_half_of_abi_6_counts_as_5(monkeypatch: pytest.MonkeyPatch) -> None:
    def half(name: str, attributes: object, size: int, flags: int) -> int:
        if flags == 1:
            return 6
        raise OSError(22, "no signal scope")

    landlock.abi.cache_clear()
    monkeypatch.setattr(kernel, "syscall", half)
    try:
        assert landlock.abi() == 5
    finally:
        landlock.abi.cache_clear()

"""The contract against the tools that are installed here; and what is special to them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from backend_contract import *  # noqa: F403
from backend_contract import ended, living, until

from lydite.errors import InputError, UnavailableError
from lydite.sandbox import Limits, Sandbox, Status
from lydite.sandbox.external import bare, bwrap, external, meter, warden
from lydite.sandbox.external.backend import External
from lydite.sandbox.external.box import Box, Command
from lydite.sandbox.external.unsafe import Unsafe
from lydite.sandbox.interpreter import environment
from lydite.sandbox.result import Job

IMAGE = os.environ.get("LYDITE_TEST_IMAGE", "podman:lydite-test")  # an image with python3 and a shell
TOOLS = ["bwrap", *(pytest.param(name, marks=pytest.mark.slow) for name in ("nsjail", "runc", "runsc"))]


@pytest.fixture(
    scope="module",
    params=[
        *TOOLS,
        pytest.param("crun", marks=pytest.mark.slow),
        pytest.param(IMAGE, marks=pytest.mark.slow),
        "unsafe",
    ],
)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def opened(name: str, **options: object) -> Sandbox:
    try:
        return Sandbox(name, **options)  # type: ignore[arg-type]
    except UnavailableError as error:
        pytest.skip(f"{name}: {error}")


@pytest.fixture(params=TOOLS)
def tool(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with opened(request.param, workers=2) as box:
        yield box


# What the boxes keep in


def test_a_job_is_no_root_and_has_no_capability(tool: Sandbox) -> None:
    source = "lines = open('/proc/self/status').read().splitlines()\n"
    source += "print(*[line.split()[1] for line in lines if line.startswith(('CapEff', 'CapPrm', 'CapBnd'))])"
    result = tool.run(source)
    ended(result, Status.OK)
    assert {int(word, 16) for word in result.stdout.split()} == {0}


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("name", ["bwrap", "nsjail", "runc"])
def test_root_runs_jobs_as_somebody_else(name: str) -> None:
    marker = f"{time.monotonic_ns()}.5"
    with opened(name, workers=2) as box, box.session() as one, box.session() as two:
        for work in (one, two):
            ended(work.exec(f"sleep {marker} > /dev/null &"), Status.OK)
        assert until(lambda: len(living(marker)) == 2)
        users = {Path(f"/proc/{pid}").stat().st_uid for pid in living(marker)}
    assert len(users) == 2
    assert min(users) >= 60000


_ORDINARY = """
import os, sys
from lydite.errors import UnavailableError
from lydite.sandbox import Limits, Sandbox
try: box = Sandbox(sys.argv[1], workers=2)
except UnavailableError as error: sys.exit(f"unavailable: {error}")
with box:
    print(box.run("print(input())", stdin="x").stdout)
    print(box.run("import os; os.kill(os.getpid(), 9)").exit_code)
    forks = "import os, time\\nwhile True:\\n    if os.fork() == 0: time.sleep(99)"
    print(box.run(forks, limits=Limits(processes=9)).status)
    with box.session({"a": "1"}) as work:
        work.exec("echo 2 >> a; mkdir d; touch d/f; chmod 0 d")
        work.write("b", work.read("a"))
        work.remove("d")
        print(work.exec("cat b").stdout, work.list())
"""


@pytest.mark.skipif(os.getuid() != 0, reason="the rest of the tests run as an ordinary user already")
@pytest.mark.parametrize("name", [*TOOLS, "unsafe"])
def test_an_ordinary_user_can_use_it(name: str) -> None:
    import msgspec

    import lydite

    places = {str(Path(module.__file__).parents[1]) for module in (lydite, msgspec)}
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": ":".join(places), "PYTHONDONTWRITEBYTECODE": "1"}
    for python in (sys.executable, "/usr/bin/python3"):
        trial = [*user, python, "-c", "from lydite.sandbox import interpreter; interpreter.environment()"]
        if subprocess.run(trial, env=env, cwd="/", capture_output=True).returncode == 0:
            break
    else:
        pytest.skip("no interpreter here that an ordinary user can run Lydite with")
    done = subprocess.run([*user, python, "-c", _ORDINARY, name], env=env, cwd="/", capture_output=True, text=True)
    if done.stderr.startswith("unavailable"):
        pytest.skip(done.stderr)
    assert done.stdout.splitlines() == ["b'x\\n'", "-9", "processes", "b'12\\n' ['a', 'b']"], done.stderr


def test_files_of_this_machine_are_not_there(tool: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    places = [str(tmp_path / "secret"), __file__, "/etc/shadow", "/etc/hostname", "/root/.bashrc", "/home", "/var/log"]
    result = tool.run(f"import os; print([path for path in {places!r} if os.path.exists(path)])")
    assert result.stdout == b"[]\n", result


def test_only_the_three_folders_are_writable(tool: Sandbox) -> None:
    source = "import os\nfor top, _, _ in os.walk('/'):\n    if top.startswith(('/proc', '/sys')): continue\n"
    source += "    try: open(top + '/probe', 'w')\n    except OSError: continue\n    print(top)"
    written = set(tool.run(source, timeout=60.0).stdout.decode().split())
    masked = set(environment().masked)  # nothing but a page of a file system in memory
    assert written - masked - {"/dev"} == {"/workspace", "/tmp", "/dev/shm"}


@pytest.mark.parametrize("name", TOOLS)
def test_no_network_unless_asked(name: str) -> None:
    source = "import socket\ntry: socket.create_connection(('127.0.0.1', 9), 2)\n"
    source += "except OSError as error: print(type(error).__name__)"
    with opened(name, workers=1) as box:
        said = box.run(source).stdout
    assert said in (b"PermissionError\n", b"ConnectionRefusedError\n", b"OSError\n")


@pytest.mark.parametrize("name", TOOLS)
def test_loopback_leads_to_the_box_alone(name: str) -> None:
    import socket

    source = "import socket, sys\nserver = socket.create_server(('127.0.0.1', 0))\n"
    source += "socket.create_connection(server.getsockname())\nprint('inside')\n"
    source += "try: socket.create_connection(('127.0.0.1', int(input())), 2); print('outside')\nexcept OSError: pass"
    with socket.create_server(("127.0.0.1", 0)) as outside, opened(name, workers=1, network="loopback") as box:
        result = box.run(source, stdin=str(outside.getsockname()[1]))
    assert result.stdout == b"inside\n", result


@pytest.mark.parametrize("name", ["bwrap", "nsjail", "unsafe"])
def test_packages_are_shown_on_demand(name: str) -> None:
    pytest.importorskip("numpy")
    with opened(name, workers=1, preload="numpy") as box:
        result = box.run("import numpy; print(numpy.arange(4).sum())", limits=Limits(timeout=60.0))
        assert result.stdout == b"6\n", result


def test_what_a_command_left_running_is_held_to_the_limits() -> None:
    hog = "held = []\nwhile True: held.append(bytearray(b'x') * (1 << 20))"
    marker = f"{time.monotonic_ns()}.25"
    with opened("bwrap", workers=1, memory_mb=64) as box, box.session({"hog.py": hog}) as work:
        ended(work.exec(f"python3 hog.py {marker} > /dev/null 2>&1 & :"), Status.OK)
        assert until(lambda: not living(marker))
        ended(work.exec("test -e hog.py"), Status.OK)


def test_a_removed_file_that_is_open_counts_as_disk() -> None:
    source = "import os\nheld = []\nwhile True:\n    held.append(open('f', 'wb')); os.unlink('f')\n"
    source += "    held[-1].write(bytes(1 << 20)); held[-1].flush()"
    with opened("bwrap", workers=1, disk_mb=16) as box:
        ended(box.run(source, timeout=20.0), Status.DISK)


def test_files_that_do_not_fit_are_the_jobs_fault() -> None:
    with opened("bwrap", workers=1, disk_mb=1) as box:
        result = box.run("pass", files={"big": bytes(2 << 20)})
    assert (result.status, result.exit_code) == (Status.DISK, None)


# Tools that fail


def test_a_tool_that_fails_is_our_fault_in_its_own_words() -> None:
    def broken(box: Box) -> Command:
        return Command(argv=["/bin/sh", "-c", "echo no such luck >&2; exit 0"])

    backend = External("broken", broken, environment(), 1)
    try:
        [result] = backend.run(Job(code="print(1)"))
    finally:
        backend.close()
    assert (result.status, result.exit_code) == (Status.INVALID, None)
    assert "no such luck" in result.detail


def test_a_tool_that_hangs_is_our_fault() -> None:
    def slow(box: Box) -> Command:
        return Command(argv=["/bin/sleep", "1000"], setup_s=0.3)

    backend = External("slow", slow, environment(), 1)
    try:
        assert backend.run(Job(code="print(1)"))[0].status is Status.INVALID
    finally:
        backend.close()


def test_a_tool_that_is_not_there_is_our_fault() -> None:
    backend = External("gone", lambda box: Command(argv=["/nonexistent/tool"]), environment(), 1)
    try:
        assert backend.run(Job(code="print(1)"))[0].status is Status.INVALID
    finally:
        backend.close()


def test_a_tool_that_does_not_work_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bwrap, "command", lambda box: Command(argv=["/bin/false"]))
    with pytest.raises(UnavailableError, match="bwrap does not work here"):
        external("bwrap", None, environment(), workers=1)


def test_a_tool_that_is_not_installed_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bwrap, "find", lambda tool: None)
    with pytest.raises(UnavailableError, match="bwrap is not installed"):
        external("bwrap", None, environment(), workers=1)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("podman", {}),
        ("docker", {}),
        ("bwrap:image", {}),
        ("podman:-v=/:/host", {}),
        ("podman:some-image", {"preload": "numpy"}),
        ("unsafe", {"network": "loopback"}),
    ],
)
def test_an_option_that_cannot_be_honoured_is_refused(name: str, options: dict[str, str]) -> None:
    with pytest.raises(InputError):
        Sandbox(name, **options)  # type: ignore[arg-type]


# Clearing up


def test_whatever_is_in_a_folder_is_removed(tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    outside = tmp_path / "outside"
    outside.write_text("stays")
    (base / "link").symlink_to(outside)
    (base / "loop").symlink_to(base)
    os.mkfifo(base / "fifo")
    closed = base / "closed"
    (closed / "in").mkdir(parents=True)
    (closed / "in/file").write_text("x")
    here = os.open(base, os.O_RDONLY)
    for _ in range(1500):  # longer than any path may be
        os.mkdir("deeeep", dir_fd=here)
        below = os.open("deeeep", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    closed.chmod(0)
    warden.remove(str(base))
    assert not base.exists()
    assert outside.read_text() == "stays"


def test_the_warden_ends_what_it_was_told_of_and_nothing_else(tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    told, undone, other = (subprocess.Popen(["sleep", "1000"], start_new_session=True) for _ in range(3))
    lines = f'["+", "a", {told.pid}, [], {{}}]\n["+", "b", 0, ["/bin/kill", "{undone.pid}"], {{}}]\n'
    lines += f'["+", "c", {other.pid}, [], {{}}]\n["-", "c"]\nnot JSON\n["+", "d"'
    try:
        subprocess.run([sys.executable, "-I", "-S", warden.__file__, str(base)], input=lines.encode(), check=True)
        assert told.wait(10) == -9
        assert undone.wait(10) == -15
        assert other.poll() is None
        assert not base.exists()
    finally:
        for process in (told, undone, other):
            process.kill()
            process.wait()


def test_a_sandbox_outlives_its_warden() -> None:
    with opened("bwrap", workers=1) as box:
        folder = box._backend.folders.folder  # type: ignore[attr-defined]
        [pid] = living(f"warden.py\0{folder}")
        os.kill(pid, 9)
        ended(box.run("print(1)"), Status.OK)
    assert not os.path.exists(folder)


# Looking at processes and folders


def test_what_a_tree_of_processes_uses() -> None:
    source = "import os, sys\nheld = bytearray(b'x') * (30 << 20)\nos.fork()\nos.write(1, b'x')\nsys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(1) == process.stdout.read(1) == b"x"
        pids = [process.pid, *meter.descendants(process.pid)]
        apart, together = meter.use(pids, sys.maxsize), meter.use(pids, 0)
        assert process.stdin is not None
        process.stdin.close()
    assert len(pids) == apart.tasks == 2
    assert apart.memory > 60 << 20 > together.memory > 30 << 20
    assert apart.cpu > 0


def test_a_process_that_is_gone_uses_nothing() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert meter.descendants(process.pid) == []
    assert meter.use([process.pid], 0) == meter.Use()


def test_what_folders_hold(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/big").write_bytes(bytes(300_000))
    (tmp_path / "a/b/small").write_bytes(b"x")
    (tmp_path / "out").symlink_to("/usr")
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(1 << 30)
    found = meter.files([str(tmp_path)], 100)
    assert found.number == 6
    assert 300_000 <= found.size < 400_000
    assert found.largest == 1 << 30
    assert meter.files([str(tmp_path)], 3).number == 4
    assert meter.files([str(tmp_path / "none")], 3) == meter.Files()


# Without /proc, as on other systems


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[Unsafe]:
    monkeypatch.setattr(bare, "PROC", False)
    backend = Unsafe(None, 2)
    yield backend
    backend.close()


def test_unsafe_works_without_proc(elsewhere: Unsafe) -> None:
    [result] = elsewhere.run(Job(code="print(input())", stdins=(b"x",)))
    assert (result.status, result.stdout) == (Status.OK, b"x\n")


@pytest.mark.parametrize(
    ("source", "limits", "status"),
    [
        ("import time; time.sleep(1000)", Limits(timeout=0.5), Status.TIMEOUT),
        ("while True: print('x' * 1000)", Limits(output_kb=64), Status.OUTPUT),
        ("while True: pass", Limits(timeout=30.0, cpu=0.5), Status.TIMEOUT),
        ("f = open('f', 'wb')\nwhile True: f.write(bytes(1 << 20))", Limits(file_mb=2), Status.DISK),
    ],
)
def test_unsafe_holds_what_it_can_without_proc(elsewhere: Unsafe, source: str, limits: Limits, status: Status) -> None:
    assert elsewhere.run(Job(code=source, limits=limits))[0].status is status


def test_unsafe_refuses_what_it_cannot_hold(elsewhere: Unsafe) -> None:
    with pytest.raises(InputError, match="memory_mb"):
        elsewhere.run(Job(code="pass", limits=Limits(memory_mb=100)))

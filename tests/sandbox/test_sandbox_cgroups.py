"""Groups that limit memory and processes: on the cgroups of this machine, and under v2 in a user-mode kernel."""

from __future__ import annotations

import errno
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

if not sys.platform.startswith("linux"):
    pytest.skip("cgroups are for Linux", allow_module_level=True)

from lydite.sandbox.jail import cgroup_group, cgroups
from lydite.sandbox.jail.cgroups import Cgroups, Group, Mount, Place, find, own_folder, parse_mounts, parse_own

MIB = 1 << 20
NOBODY = 65534
JAIL = Path(cgroups.__file__).parent

try:
    HERE: Cgroups | None = find()
    WHY = ""
except OSError as error:
    HERE, WHY = None, str(error)
real = pytest.mark.skipif(HERE is None, reason=f"no cgroups for this user: {WHY}")
V1 = HERE is not None and HERE.places[0].version == 1


@pytest.fixture
def group() -> Iterator[Group]:
    assert HERE is not None
    made = HERE.create("test", 96 * MIB, 24)
    yield made
    made.kill_all()
    made.remove()


def folders_of(name: str) -> list[str]:
    assert HERE is not None
    return [f"{place.folder}/{name}" for place in HERE.places if os.path.exists(f"{place.folder}/{name}")]


def script(code: str) -> list[str]:
    """A command that runs this code. ``jail`` is all of ours that it can import."""
    start = f"""
        import os, subprocess, sys, time
        sys.path.insert(0, {str(JAIL.parent)!r})
        from jail.cgroups import Group, Place, find
    """
    return [sys.executable, "-S", "-s", "-P", "-c", textwrap.dedent(start) + textwrap.dedent(code)]


def program(group: Group, code: str) -> list[str]:
    """The same, from within the group and with its descriptors open."""
    start = f"group = Group({group.name!r}, {list(group.places)!r})\ngroup.join()\ngroup.open()\n"
    return script(start + textwrap.dedent(code))


def output(group: Group, code: str) -> str:
    done = subprocess.run(program(group, code), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# A process that is as large as its limit lets it be. The parent that waits for it has 50 MiB of its own.
HOG = """
    ballast = b"x" * (50 << 20)
    hog = "import os\\n" + {prefer} + "data = []\\nwhile True: data.append(b'y' * (1 << 20))"
    code = subprocess.run([sys.executable, "-S", "-c", hog]).returncode
    print(code, group.oom_kills(), group.limit_hits() > 0)
"""


@real
def test_memory_and_pids_are_found_and_nothing_of_the_search_is_left() -> None:
    places = find().places
    assert {"memory", "pids"} <= {name for place in places for name in place.controllers}
    mine = [name for place in places for name in os.listdir(place.folder) if f"-{os.getpid()}-" in name]
    assert mine == []


@real
def test_memory_limit_kills_the_process_with_the_high_oom_score(group: Group) -> None:
    prefer = "\"open('/proc/self/oom_score_adj', 'w').write('1000')\\n\""
    assert output(group, HOG.format(prefer=prefer)) == f"{-signal.SIGKILL} 1 True"


@real
def test_memory_limit_kills_the_largest_process_otherwise(group: Group) -> None:
    done = subprocess.run(program(group, HOG.format(prefer="''")), capture_output=True, timeout=60)
    assert done.returncode == -signal.SIGKILL


@real
def test_a_kill_by_someone_else_is_no_memory_kill(group: Group) -> None:
    code = """
        subprocess.run(["/bin/sh", "-c", "kill -9 $$"])
        print(group.oom_kills(), group.limit_hits())
    """
    assert output(group, code) == "0 0"


@real
def test_descriptors_still_work_without_root_in_other_namespaces(group: Group) -> None:
    code = """
        from jail import kernel
        os.closerange(3, min(group.fds))
        for fd in range(min(group.fds), 64):
            if fd not in group.fds:
                try: os.close(fd)
                except OSError: pass
        os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
        kernel.unshare(kernel.NEWUSER | kernel.NEWNS | kernel.NEWCGROUP)

        def child():
            pid = os.fork()
            if pid == 0:
                data = b"y" * (120 << 20)
                os._exit(0)
            return os.waitpid(pid, 0)[1]

        first = child()
        group.set_memory(256 << 20)
        second = child()
        print(first, second, group.oom_kills(), group.denied_forks(), group.cpu_seconds() > 0, group.memory_peak())
    """
    first, second, kills, denied, cpu, peak = output(group, code).split()
    assert (first, second, kills, denied, cpu) == (str(int(signal.SIGKILL)), "0", "1", "0", "True")
    assert int(peak) >= 120 * MIB


@real
@pytest.mark.skipif(not V1, reason="v2 kills instead")
def test_a_limit_below_what_is_in_use_is_refused_by_v1(group: Group) -> None:
    code = """
        data = b"x" * (64 << 20)
        try: group.set_memory(32 << 20)
        except OSError as error: print(error.errno)
    """
    assert output(group, code) == str(errno.EBUSY)


@real
def test_a_raised_limit_can_be_lowered_again(group: Group) -> None:
    code = """
        def fits(size):
            return subprocess.run([sys.executable, "-S", "-c", f"data = b'y' * ({size} << 20)"]).returncode == 0
        answers = []
        for limit in (160, 64, 200, 64):
            group.set_memory(limit << 20)
            answers.append(fits(100))
        print(*answers)
    """
    assert output(group, code) == "True False True False"


@real
@pytest.mark.skipif(not V1, reason="v2 has swap switched off instead")
@pytest.mark.parametrize("size", [200 * MIB, 50 * MIB])
def test_memory_with_swap_has_nearly_the_same_limit_in_v1(group: Group, size: int) -> None:
    group.open()
    group.set_memory(size)
    both = Path(group.folders[0], "memory.memsw.limit_in_bytes")
    assert int(Path(group.folders[0], "memory.limit_in_bytes").read_text()) == size
    assert not both.exists() or size <= int(both.read_text()) <= size + MIB


@real
def test_a_denied_fork_is_counted(group: Group) -> None:
    code = """
        made = 0
        try:
            for _ in range(100):
                if os.fork() == 0:
                    time.sleep(60)
                made += 1
        except BlockingIOError:
            print(made, group.denied_forks())
            sys.stdout.flush()
            os.killpg(0, 9)
    """
    done = subprocess.run(program(group, code), capture_output=True, text=True, timeout=60, start_new_session=True)
    assert done.stdout.split() == ["23", "1"]


@real
def test_processor_time_of_processes_that_nobody_waited_for_counts(group: Group) -> None:
    code = """
        import signal
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        before = group.cpu_seconds()
        read, write = os.pipe()
        if os.fork() == 0:
            while time.process_time() < 0.2: pass
            os._exit(0)
        os.close(write)
        os.read(read, 1)
        print(group.cpu_seconds() - before)
    """
    assert 0.15 < float(output(group, code)) < 5


@real
def test_the_peak_starts_afresh(group: Group) -> None:
    code = """
        data = b"x" * (60 << 20)
        del data
        high = group.memory_peak()
        print(high >> 20, group.reset_peak(), group.memory_peak() >> 20)
    """
    high, can, low = output(group, code).split()
    assert int(high) >= 60
    assert (int(low) < 50) == (can == "True")
    assert can == "True" or (not V1 and tuple(map(int, platform.release().split(".")[:2])) < (6, 12))


@real
def test_a_group_that_holds_a_process_is_not_removed(group: Group) -> None:
    held = subprocess.Popen(program(group, "print('in', flush=True); time.sleep(60)"), stdout=subprocess.PIPE)
    assert held.stdout is not None
    held.stdout.readline()
    with pytest.raises(OSError, match="busy"):
        group.remove(timeout=0.01)
    assert held.poll() is None
    group.kill_all()
    assert held.wait(10) == -signal.SIGKILL
    held.stdout.close()


BOMB = """
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("in", flush=True)
    while True:
        try:
            if os.fork() == 0: os.setsid()
        except OSError: pass
"""


@real
def test_kill_all_ends_a_fork_bomb_and_remove_leaves_nothing(group: Group) -> None:
    bomb = subprocess.Popen(program(group, BOMB), stdout=subprocess.PIPE)
    assert bomb.stdout is not None
    bomb.stdout.readline()
    wait_for(lambda: len(group.members()) >= 20)
    members = group.members()
    group.kill_all()
    assert group.members() == []
    bomb.wait(10)
    bomb.stdout.close()
    group.remove()
    assert folders_of(group.name) == []
    wait_for(lambda: not any(alive(pid) for pid in members))


@real
def test_no_process_can_be_born_in_a_group_once_it_was_killed(group: Group) -> None:
    group.kill_all()
    code = """
        try: os.fork()
        except BlockingIOError: print("denied")
    """
    assert output(group, code) == "denied"


@real
def test_remove_waits_for_a_process_that_is_about_to_end(group: Group) -> None:
    held = subprocess.Popen(program(group, "print('in', flush=True); time.sleep(0.1)"), stdout=subprocess.PIPE)
    assert held.stdout is not None
    held.stdout.readline()
    group.remove(timeout=20)
    assert folders_of(group.name) == []
    assert held.wait(10) == 0
    held.stdout.close()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@real
def test_removing_twice_is_no_error(group: Group) -> None:
    group.remove()
    group.kill_all()
    group.remove()
    assert group.members() == []


@real
def test_a_name_is_taken_once(group: Group) -> None:
    assert HERE is not None
    with pytest.raises(FileExistsError):
        HERE.create("test", 96 * MIB, 24)
    assert len(folders_of(group.name)) == len(HERE.places)


@real
def test_nothing_is_left_of_a_group_that_the_kernel_refuses() -> None:
    assert HERE is not None
    with pytest.raises(OSError, match="Invalid argument"):
        HERE.create("refused", 96 * MIB, -5)
    assert [name for place in HERE.places for name in os.listdir(place.folder) if name.endswith("refused")] == []


@given(st.text(max_size=12).filter(lambda text: not text or not all(c.isascii() and c.isalnum() for c in text)))
def test_a_name_never_leads_elsewhere(text: str) -> None:
    name = text.replace("_", "/").replace(".", "/").replace("-", "/")
    with pytest.raises(ValueError, match="no name for a group"):
        Cgroups([]).create(name, MIB, 1)


# ---- groups that an owner left behind

OWNER = """
    group = find().create("orphan", 64 << 20, 8)
    if os.fork() == 0:
        group.join()
        print(group.name, os.getpid(), flush=True)
    time.sleep(60)
"""


@pytest.fixture
def owner() -> Iterator[tuple[subprocess.Popen[str], str, int]]:
    """A process that owns a group with a child in it: the process, the group's name, the child's id."""
    process = subprocess.Popen(script(OWNER), stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    name, child = process.stdout.readline().split()
    yield process, name, int(child)
    process.kill()
    process.wait()
    process.stdout.close()
    assert HERE is not None
    HERE.sweep()
    assert folders_of(name) == []


@real
@pytest.mark.parametrize("reaped", [False, True])
def test_sweep_removes_what_a_killed_owner_left(owner: tuple[subprocess.Popen[str], str, int], reaped: bool) -> None:
    process, name, child = owner
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | (0 if reaped else os.WNOWAIT))
    assert HERE is not None
    assert alive(child)
    HERE.sweep()
    assert folders_of(name) == []
    wait_for(lambda: not alive(child))


@real
def test_sweep_leaves_a_living_owner_alone(owner: tuple[subprocess.Popen[str], str, int]) -> None:
    process, name, child = owner
    assert HERE is not None
    assert name not in HERE.sweep()
    assert folders_of(name) != []
    assert process.poll() is None
    assert alive(child)


@real
def test_a_young_process_with_the_number_of_a_dead_owner_is_not_the_owner() -> None:
    assert HERE is not None
    group = HERE.create("old", 64 * MIB, 8)
    ours, namespace, pid, born, name = group.name.split("-", 4)
    older = Group(f"{ours}-{namespace}-{pid}-{int(born) - 1}-{name}", HERE.places)
    try:
        older.make(64 * MIB, 8)
        HERE.sweep()
        assert folders_of(older.name) == []
        assert folders_of(group.name) != []
    finally:
        older.remove()
        group.remove()


@real
@pytest.mark.parametrize("name", ["lydite-1-999999999-1-x", "lydite-x", "lydite-a-b-c-d", "other-1-999999999-1-x"])
def test_sweep_leaves_alone_what_it_cannot_judge(name: str) -> None:
    """Another pid namespace's, and groups that are not ours."""
    assert HERE is not None
    group = Group(name, HERE.places)
    group.make(64 * MIB, 8)
    try:
        HERE.sweep()
        assert len(folders_of(name)) == len(HERE.places)
    finally:
        group.remove()


@real
def test_half_a_group_is_swept() -> None:
    assert HERE is not None
    namespace = os.stat("/proc/self/ns/pid").st_ino
    group = Group(f"lydite-{namespace}-999999999-1-half", HERE.places[:1])
    group.make(64 * MIB, 8)
    HERE.sweep()
    assert folders_of(group.name) == []


@real
def test_several_sweepers_at_once_do_not_disturb_each_other() -> None:
    assert HERE is not None
    made = subprocess.run(script("""
        groups = find()
        for number in range(12): print(groups.create(f"many-{number}", 64 << 20, 8).name)
    """), capture_output=True, text=True, check=True)  # fmt: skip
    names = made.stdout.split()
    command = script("for _ in range(3): find().sweep()")
    sweepers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert [(sweeper.communicate(timeout=60)[1], sweeper.returncode) for sweeper in sweepers] == [("", 0)] * 4
    assert len(names) == 12
    assert [name for name in names if folders_of(name)] == []


# ---- what is missing, told exactly


@pytest.fixture
def readable_jail() -> Iterator[str]:
    """A copy of the package that every user can read."""
    folder = tempfile.mkdtemp()
    shutil.copytree(JAIL, f"{folder}/jail", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
    yield folder
    shutil.rmtree(folder)


FIND = """
import sys
sys.path.insert(0, sys.argv[1])
from jail.cgroups import find
try: print(find().places)
except OSError as error: print(error)
"""


@real
@pytest.mark.skipif(os.getuid() != 0, reason="needs root to become someone else")
def test_an_ordinary_user_is_told_which_folder_is_not_theirs(readable_jail: str) -> None:
    assert HERE is not None
    told = subprocess.run(
        ["/usr/bin/python3", "-S", "-s", "-P", "-c", FIND, readable_jail],
        user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True, text=True, check=True, cwd="/",
    ).stdout  # fmt: skip
    for place in HERE.places:
        if "cpu" not in place.controllers or place.version == 2:
            assert f"no group can be made and used in {place.folder} (Permission denied)" in told
    assert "Place" not in told


@real
@pytest.mark.skipif(os.getuid() != 0 or V1, reason="needs root and v2 with memory and pids")
def test_an_ordinary_user_uses_the_tree_that_was_made_over(readable_jail: str) -> None:
    """As systemd does it: a folder given away, with an empty inner node that hands its controllers down."""
    assert HERE is not None
    top = Group("delegated", HERE.places)
    top.make(256 * MIB, 64)
    own = f"{top.folders[0]}/me.scope"
    try:
        cgroup_group.write_control(f"{top.folders[0]}/cgroup.subtree_control", "+memory +pids")
        os.mkdir(own)
        for folder in (top.folders[0], own):
            for path in (folder, f"{folder}/cgroup.procs", f"{folder}/cgroup.subtree_control"):
                os.chown(path, NOBODY, NOBODY)
        code = f"""
            open({own + "/cgroup.procs"!r}, "w").write("0")
            os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
            groups = find()
            group = groups.create("job", 64 << 20, 8)
            pid = os.fork()
            if pid == 0:
                group.join()
                data = b"x" * (100 << 20)
                os._exit(0)
            status = os.waitpid(pid, 0)[1]
            group.open()
            print(groups.places[0].folder, status, group.oom_kills())
            group.kill_all()
            group.remove()
        """
        done = subprocess.run(script(code), capture_output=True, text=True, timeout=60)
        assert done.stdout.split() == [top.folders[0], "9", "1"], done.stderr
        assert [name for name in os.listdir(top.folders[0]) if "job" in name] == []
    finally:
        os.rmdir(own)
        top.remove()


@real
@pytest.mark.skipif(not V1 or os.getuid() != 0, reason="needs root and v1")
def test_a_cgroup_namespace_needs_a_mount_of_its_own(group: Group) -> None:
    """Mounts made outside show it no group by name; one made inside does, and there the group lies below its own."""
    with tempfile.TemporaryDirectory() as folder:
        code = f"""
            from jail import kernel
            kernel.unshare(kernel.NEWNS | kernel.NEWCGROUP)
            kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
            try: find()
            except OSError as error: print(error)
            for name in ("memory", "pids", "cpuacct"):
                os.mkdir(f"{folder}/{{name}}")
                kernel.mount("none", f"{folder}/{{name}}", "cgroup", 0, name)
            found = find({folder!r})
            inner = found.create("inner", 32 << 20, 4)
            print(inner.folders[0])
            print(os.path.exists({group.folders[0]!r} + "/" + inner.name))
            inner.remove()
        """
        why, inner, below = output(group, code).split("\n")
        assert "memory (cgroup v1): no mount shows the own group / (/sys/fs/cgroup/memory shows /" in why
        assert inner.startswith(f"{folder}/memory/lydite-")
        assert below == "True"


# ---- the files of proc, and trees made to look like v2


def made_up_proc(folder: Path, cgroup: str, mounts: list[tuple[str, Path | str, str, str]]) -> str:
    folder.mkdir()
    (folder / "cgroup").write_text(cgroup)
    (folder / "mountinfo").write_text(
        "".join(f"40 31 0:37 {shown} {point} rw - {kind} none {options}\n" for shown, point, kind, options in mounts)
    )
    return str(folder)


def made_up_group(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {"procs": str(os.getpid()), "subtree_control": "", **files}.items():
        (folder / f"cgroup.{name}").write_text(text)


V2_FILES = {
    "cgroup.procs": "", "cgroup.kill": "", "pids.max": "max", "memory.max": "max", "pids.events": "max 4\n",
    "memory.swap.max": "max", "memory.oom.group": "1", "memory.peak": "12345\n",
    "memory.events": "low 0\nhigh 0\nmax 7\noom 3\noom_kill 2\noom_group_kill 0\n",
    "cpu.stat": "usage_usec 1500000\nuser_usec 1\nsystem_usec 2\n",
}  # fmt: skip


@pytest.fixture
def like_v2(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders come and go with their files, as in the tree of the kernel."""
    mkdir, rmdir = os.mkdir, os.rmdir

    def make(path: str, mode: int = 0o777) -> None:
        mkdir(path, mode)
        for name, text in V2_FILES.items():
            Path(path, name).write_text(text)

    def remove(path: str) -> None:
        for name in V2_FILES:
            Path(path, name).unlink()
        rmdir(path)

    monkeypatch.setattr(os, "mkdir", make)
    monkeypatch.setattr(os, "rmdir", remove)


def test_v2_takes_the_nearest_ancestor_that_hands_down_memory_and_pids(tmp_path: Path, like_v2: None) -> None:
    tree = tmp_path / "tree"
    made_up_group(tree, subtree_control="cpu memory pids\n")
    made_up_group(tree / "user.slice", subtree_control="cpu memory pids\n")
    made_up_group(tree / "user.slice/app.slice", subtree_control="pids\n")
    made_up_group(tree / "user.slice/app.slice/me.scope")
    proc = made_up_proc(tmp_path / "proc", "0::/user.slice/app.slice/me.scope\n", [("/", tree, "cgroup2", "rw")])
    assert find(proc=proc).places == (Place(2, f"{tree}/user.slice", ("memory", "pids", "cpu")),)


def test_v2_in_a_container_sees_only_from_its_own_root_on(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    made_up_group(tree)
    proc = made_up_proc(tmp_path / "proc", "0::/\n", [("/", tree, "cgroup2", "rw")])
    with pytest.raises(
        OSError, match=f"memory, pids .cgroup v2.: {tree}/cgroup.subtree_control lacks memory, pids; run"
    ):
        find(proc=proc)


def test_v2_group_files(tmp_path: Path, like_v2: None) -> None:
    group = Group("one", [Place(2, str(tmp_path), ("memory", "pids", "cpu"))])
    group.make(64 * MIB, 8)
    folder = tmp_path / "one"
    assert (folder / "memory.max").read_text() == str(64 * MIB)
    assert (folder / "pids.max").read_text() == "8ax"  # as a file; the kernel takes each write whole
    assert (folder / "memory.swap.max").read_text() == "0ax"
    assert (folder / "memory.oom.group").read_text() == "0"
    group.open()
    counters = group.oom_kills(), group.limit_hits(), group.denied_forks(), group.cpu_seconds(), group.memory_peak()
    assert counters == (2, 7, 4, 1.5, 12345)
    group.close()


def test_each_controller_is_taken_where_the_kernel_has_bound_it(
    tmp_path: Path, like_v2: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hybrid machine: v1 has memory, all else is v2's."""
    v1, v2 = tmp_path / "memory", tmp_path / "unified"
    made_up_group(v1)
    made_up_group(v2, subtree_control="pids")
    proc = made_up_proc(
        tmp_path / "proc", "4:memory:/\n0::/\n", [("/", v2, "cgroup2", "rw"), ("/", v1, "cgroup", "rw,memory")]
    )
    with pytest.raises(OSError, match=r"no group can be made and used in .*memory.limit_in_bytes: No such file"):
        find(proc=proc)
    monkeypatch.setitem(V2_FILES, "memory.limit_in_bytes", "0")
    monkeypatch.setitem(V2_FILES, "memory.failcnt", "0")
    monkeypatch.setitem(V2_FILES, "memory.oom_control", "oom_kill_disable 0\noom_kill 0\n")
    assert find(proc=proc).places == (Place(1, str(v1), ("memory",)), Place(2, str(v2), ("pids", "cpu")))


@pytest.mark.parametrize(
    ("cgroup", "mounts", "why"),
    [
        ("", [], "memory, pids (cgroup v2): no hierarchy of this machine has it: mount cgroup2"),
        ("0::/\n", [], "memory, pids (cgroup v2): no mount shows the own group / (nothing is mounted)"),
        ("3:memory:/\n4:pids:/a\n", [], "memory (cgroup v1): no mount shows the own group / (nothing is mounted)"),
        ("3:memory,pids:/a\n", [("/b", "/mnt", "cgroup", "rw,memory,pids")], "the own group /a (/mnt shows /b)"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named(
    tmp_path: Path, cgroup: str, mounts: list[tuple[str, Path | str, str, str]], why: str
) -> None:
    with pytest.raises(OSError, match=re.escape(why)):
        find(proc=made_up_proc(tmp_path / "proc", cgroup, mounts))


def test_a_system_without_proc_has_no_cgroups(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="this system has no cgroups"):
        find(proc=str(tmp_path))


def test_a_group_in_which_this_process_is_not_is_not_its_own(tmp_path: Path) -> None:
    made_up_group(tmp_path / "memory", procs="1\n")
    proc = made_up_proc(tmp_path / "proc", "4:memory:/\n5:pids:/\n", [("/", tmp_path / "memory", "cgroup", "memory")])
    with pytest.raises(OSError, match="memory ought to be the group of this process"):
        find(proc=proc)


parts = st.lists(st.text(st.characters(exclude_characters="/\0\n", exclude_categories=["Cs"]), min_size=1), max_size=4)
paths = parts.map(lambda names: "/" + "/".join(name for name in names if name not in (".", "..")))


@given(paths, paths)
def test_mounts_are_read_whatever_their_names(shown: str, point: str) -> None:
    def escape(text: str) -> str:  # as the kernel does: seq_escape(" \t\n\\")
        return "".join(f"\\{ord(char):03o}" if char in " \t\n\\" else char for char in text)

    line = f"36 31 0:33 {escape(shown)} {escape(point)} rw,nosuid shared:7 - cgroup none rw,cpu,cpuacct\n"
    other = "41 31 0:38 / /home rw - ext4 /dev/cgroup rw\n"
    assert list(parse_mounts(other + line + other)) == [Mount(1, ("rw", "cpu", "cpuacct"), shown, point)]


@given(paths, paths)
def test_the_own_folder_lies_below_its_mount(shown: str, below: str) -> None:
    own = shown.rstrip("/") + below
    elsewhere = Mount(2, (), f"{shown.rstrip('/')}x/y", "/elsewhere")
    assert own_folder([elsewhere, Mount(2, (), shown, "/mnt")], own) == ("/mnt", f"/mnt{below}".rstrip("/"))


@pytest.mark.parametrize(
    ("shown", "own"), [("/..", "/"), ("/", "/../a"), ("/a", "/ab"), ("/a/b", "/a"), ("/a", "/a/../b")]
)
def test_a_group_outside_the_mount_is_not_guessed(shown: str, own: str) -> None:
    with pytest.raises(OSError, match="no mount shows the own group"):
        own_folder([Mount(2, (), shown, "/mnt")], own)


@given(st.dictionaries(st.sampled_from(["memory", "pids", "name=systemd", ""]), paths, max_size=4))
def test_own_groups_are_read_whatever_their_names(groups: dict[str, str]) -> None:
    assert parse_own("".join(f"7:{name}:{path}\n" for name, path in groups.items())) == groups


# ---- v2 for real


MOUNTS = parse_mounts(Path("/proc/self/mountinfo").read_text())
UNIFIED = next((mount.point for mount in MOUNTS if mount.version == 2), "")


@pytest.mark.skipif(not UNIFIED or not os.access(UNIFIED, os.W_OK), reason="no cgroup2 to write to")
def test_v2_counts_processor_time_and_kills_at_once() -> None:
    group = Group(f"lydite-{os.stat('/proc/self/ns/pid').st_ino}-{os.getpid()}-0-v2", [Place(2, UNIFIED, ("cpu",))])
    group.make(0, 0)
    try:
        held = subprocess.Popen(program(group, "print('in', flush=True)\nwhile True: pass"), stdout=subprocess.PIPE)
        assert held.stdout is not None
        held.stdout.readline()
        assert group.members() == [held.pid]
        group.open()
        wait_for(lambda: group.cpu_seconds() > 0)
        cgroup_group.write_control(f"{group.folders[0]}/cgroup.kill", "1")
        assert held.wait(10) == -signal.SIGKILL
        held.stdout.close()
    finally:
        group.kill_all()
        group.remove()
    assert not os.path.exists(group.folders[0])


INIT = """#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp PYTHONDONTWRITEBYTECODE=1 HYPOTHESIS_STORAGE_DIRECTORY=/tmp/h
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t cgroup2 none /sys/fs/cgroup; mount -t tmpfs tmpfs /tmp
echo +memory +pids > /sys/fs/cgroup/cgroup.subtree_control
cd {root}; {python} -m pytest -q --color=no -p no:cacheprovider -k 'not user_mode and not bomb' {file}
find /sys/fs/cgroup -name 'lydite-*'
echo done; {python} -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321fedc)'
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("linux.uml") is None, reason="needs user-mode-linux")
def test_all_of_this_holds_under_v2_in_a_user_mode_kernel() -> None:
    """But the fork bomb: a failing fork brings some of these kernels down themselves."""
    root = Path(__file__).parents[2]
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        init = Path(folder, "init")
        init.write_text(INIT.format(root=root, python=sys.executable, file=Path(__file__)))
        init.chmod(0o755)
        done = subprocess.run(
            ["linux.uml", "mem=1G", "root=none", "rootfstype=hostfs", "rootflags=/", "ro", f"init={init}", "quiet",
             "con=null", "con0=null,fd:1", f"uml_dir={folder}"],
            env={**os.environ, "HOME": folder, "TMPDIR": folder}, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=300,
        )  # fmt: skip
    assert " passed" in done.stdout, done.stdout
    assert not re.search(r"\d (failed|error)", done.stdout), done.stdout
    assert "lydite-" not in done.stdout.partition(" passed")[2]

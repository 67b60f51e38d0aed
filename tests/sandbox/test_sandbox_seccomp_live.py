"""The filter on this kernel: what is refused is refused, and ordinary programs work."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from seccomp_oracle import ABSENT, ATTRIBUTES, IDLE, REFUSED

from lydite.sandbox.jail import arch, kernel, seccomp
from lydite.sandbox.jail.seccomp import Policy

NAMESPACES = Policy(sockets="unix", memfd=True, namespaces=True, same_group=False, own_process_only=False, signals=True)
SAMPLED = dataclasses.replace(NAMESPACES, memfd=False, namespaces=False)
LANDLOCK = Policy(sockets="none", memfd=False, namespaces=False, same_group=True, own_process_only=True, signals=True)
SAME_USER = dataclasses.replace(LANDLOCK, signals=False, attributes=False)
POLICIES = {"namespaces": NAMESPACES, "sampled": SAMPLED, "landlock": LANDLOCK, "same user": SAME_USER}
every_policy = pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
# The last one lets no program change the mode of what it made, so a linker cannot make its output executable.
with_attributes = pytest.mark.parametrize("policy", list(POLICIES.values())[:3], ids=list(POLICIES)[:3])

CALLS = f"""
import ctypes, errno, json, os, signal, socket, stat, sys
sys.path.insert(0, {str(Path(seccomp.__file__).parent.parent)!r})
from jail import kernel

def reason(name, *args):
    try:
        kernel.syscall(name, *args)
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"
"""


def run(policy: Policy, tmp_path: Path, *argv: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """A command under the filter, as the leader of its own session."""
    seccomp.program(policy, self_pid=2)  # the long part of the work, before the fork

    def confine() -> None:
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        seccomp.install(seccomp.program(policy, self_pid=os.getpid()))

    return subprocess.run(
        argv,
        preexec_fn=confine,
        start_new_session=True,
        capture_output=True,
        text=True,
        input=stdin,
        timeout=120,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "2"},
    )


def python(policy: Policy, tmp_path: Path, source: str) -> subprocess.CompletedProcess[str]:
    return run(policy, tmp_path, sys.executable, "-c", source)


def output(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def answers(policy: Policy, tmp_path: Path, *calls: str) -> list[str]:
    """What these calls (Python expressions, the arguments of ``reason``) come to."""
    source = "".join(f"answers.append(reason({call}))\n" for call in calls)
    return list(
        json.loads(output(python(policy, tmp_path, f"{CALLS}\nanswers = []\n{source}print(json.dumps(answers))")))
    )


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process of the same user outside."""
    with subprocess.Popen(["sleep", "300"]) as process:
        yield process
        process.kill()


@every_policy
def test_refused_calls_are_refused(policy: Policy, tmp_path: Path) -> None:
    here = arch.numbers()
    denied = sorted((REFUSED | (set() if policy.attributes else ATTRIBUTES)) & set(here))
    got = answers(policy, tmp_path, *(f"{name!r}, *[-1] * 6" for name in denied))
    assert dict(zip(denied, got, strict=True)) == dict.fromkeys(denied, "EPERM")


@every_policy
def test_absent_calls_are_absent(policy: Policy, tmp_path: Path) -> None:
    absent = sorted(ABSENT & set(arch.numbers()))
    got = answers(policy, tmp_path, *(f"{name!r}, *[-1] * 6" for name in absent))
    assert dict(zip(absent, got, strict=True)) == dict.fromkeys(absent, "ENOSYS")


def test_unknown_numbers_are_absent(tmp_path: Path) -> None:
    source = f"{CALLS}\nfor nr in ({arch.LAST} + 1, 400, 600, 0x40000027):\n    kernel.NR['x'] = nr; print(reason('x'))"
    assert output(python(NAMESPACES, tmp_path, source)).split() == ["ENOSYS"] * 4


def test_writing_out_all_disks_is_done_without_doing_it(tmp_path: Path) -> None:
    # A descriptor that is none is no error: nobody looked at it.
    assert answers(NAMESPACES, tmp_path, *(f"{name!r}, -1" for name in sorted(IDLE))) == ["done", "done"]


@pytest.mark.skipif(arch.machine() != "x86_64", reason="int 0x80 is of x86")
def test_a_32_bit_call_kills(tmp_path: Path) -> None:
    source = """
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(b"\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3")  # mov eax, 20 (getpid); int 0x80; ret
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
print("went through")
"""
    assert python(NAMESPACES, tmp_path, source).returncode == -signal.SIGSYS


SOCKETS = {
    "unix": "'socket', socket.AF_UNIX, socket.SOCK_STREAM, 0",
    "tcp": "'socket', socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_CLOEXEC, 0",
    "udp": "'socket', socket.AF_INET6, socket.SOCK_DGRAM, socket.IPPROTO_UDP",
    "raw": "'socket', socket.AF_INET, socket.SOCK_RAW, 1",
    "ping": "'socket', socket.AF_INET, socket.SOCK_DGRAM, 1",
    "packet by its old name": "'socket', socket.AF_INET, 10, 0",
    "packet": "'socket', 17, socket.SOCK_RAW, 0",
    "netlink": "'socket', 16, socket.SOCK_RAW, 0",
    "vsock": "'socket', 40, socket.SOCK_STREAM, 0",
    "algorithms": "'socket', 38, socket.SOCK_SEQPACKET, 0",
    "mptcp": "'socket', socket.AF_INET, socket.SOCK_STREAM, 262",
    "pair": "'socketpair', socket.AF_UNIX, socket.SOCK_STREAM, 0, ctypes.create_string_buffer(8)",
    "pair of datagrams": "'socketpair', socket.AF_UNIX, socket.SOCK_DGRAM, 0, ctypes.create_string_buffer(8)",
    "pair of another family": "'socketpair', 30, socket.SOCK_STREAM, 0, ctypes.create_string_buffer(8)",
}


@pytest.mark.parametrize(
    ("sockets", "open_ones"),
    [
        ("none", {"pair"}),
        ("unix", {"unix", "pair", "pair of datagrams"}),
        ("loopback", {"unix", "tcp", "udp", "pair", "pair of datagrams"}),
    ],
)
def test_only_these_sockets_open(sockets: str, open_ones: set[str], tmp_path: Path) -> None:
    policy = dataclasses.replace(NAMESPACES, sockets=sockets)  # type: ignore[arg-type]
    got = dict(zip(SOCKETS, answers(policy, tmp_path, *SOCKETS.values()), strict=True))
    assert {name for name, answer in got.items() if answer != "EPERM"} == open_ones


def test_a_pair_of_sockets_reaches_no_listener(tmp_path: Path) -> None:
    import socket

    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(tmp_path / "letters"))
        listener.setblocking(False)
        source = """
import socket
def send(s): s.sendto(b"x", "letters")
def message(s): s.sendmsg([b"x"], [], 0, "letters")
def connect(s): s.connect("letters"); s.send(b"x")
for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):
    for way in (send, message, connect):
        try:
            way(socket.socketpair(socket.AF_UNIX, kind)[0])
        except OSError:
            pass
"""
        output(python(LANDLOCK, tmp_path, source))
        with pytest.raises(BlockingIOError):
            listener.recv(10)


def test_no_process_is_made_in_new_namespaces_or_as_a_sibling(tmp_path: Path) -> None:
    flags = [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x8000]
    got = answers(NAMESPACES, tmp_path, *(f"'clone', {flag | signal.SIGCHLD}, 0, 0, 0, 0" for flag in flags))
    assert got == ["EPERM"] * len(flags)


def test_unshare_is_for_the_pid_namespace_alone(tmp_path: Path) -> None:
    flags = [0x80, 0x20000, 0x10000000, 0x30000000, 0x20000000 | 1 << 32]
    assert answers(NAMESPACES, tmp_path, *(f"'unshare', {flag}" for flag in flags)) == ["EPERM"] * len(flags)
    assert answers(LANDLOCK, tmp_path, "'unshare', 0x20000000", "'setns', -1, 0x20000000") == ["EPERM", "EPERM"]
    assert answers(NAMESPACES, tmp_path, "'setns', -1, 0x20000000", "'setns', -1, 0") == ["EBADF", "EPERM"]


def test_no_device_node_is_made_but_a_pipe_is(tmp_path: Path) -> None:
    modes = ("stat.S_IFCHR", "stat.S_IFBLK", "stat.S_IFSOCK", "stat.S_IFIFO", "stat.S_IFREG", "0")
    got = answers(
        NAMESPACES, tmp_path, *(f"'mknodat', -100, b'{at}', {mode} | 0o600, 0" for at, mode in enumerate(modes))
    )
    assert got == ["EPERM"] * 3 + ["done"] * 3
    output(python(NAMESPACES, tmp_path, "import os; os.mkfifo('pipe')"))


def test_nothing_is_typed_into_a_terminal(tmp_path: Path) -> None:
    source = f"""{CALLS}
import pty, termios
ours, theirs = pty.openpty()
print(reason("ioctl", theirs, 0x5412, ctypes.c_char_p(b"x")), reason("ioctl", theirs, 0x541C, ctypes.c_char_p(b"\\3")))
print(len(termios.tcgetattr(theirs)))
"""
    assert output(python(NAMESPACES, tmp_path, source)).split() == ["EPERM", "EPERM", "7"]


def test_a_filter_of_its_own_is_fine_but_no_listener(tmp_path: Path) -> None:
    source = f"""{CALLS}
import struct
code = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0x7FFF0000), 8)
header = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(code)))
print(reason("seccomp", 1, 0, header), reason("seccomp", 1, 8, header))
"""
    assert output(python(LANDLOCK, tmp_path, source)).split() == ["done", "EPERM"]


@every_policy
def test_memory_files_depend_on_the_policy(policy: Policy, tmp_path: Path) -> None:
    wanted = "done" if policy.memfd else "ENOSYS"
    assert answers(policy, tmp_path, "'memfd_create', ctypes.c_char_p(b'x'), 0") == [wanted]


def test_the_group_is_not_left(tmp_path: Path) -> None:
    source = (
        "import os, sys\nif os.fork(): sys.exit(os.wait()[1])\nfor leave in (os.setsid, lambda: os.setpgid(0, 0)):\n"
    )
    source += "    try: leave(); print('left')\n    except PermissionError: pass\n"
    assert output(python(LANDLOCK, tmp_path, source)) == ""


def test_other_processes_are_not_changed(tmp_path: Path, bystander: subprocess.Popen[bytes]) -> None:
    pid, buffer = bystander.pid, "ctypes.create_string_buffer(64)"
    calls = [
        f"'prlimit64', {pid}, 7, {buffer}, 0",
        f"'sched_setaffinity', {pid}, 8, ctypes.create_string_buffer(bytes([1]), 8)",
        f"'sched_setattr', {pid}, {buffer}, 0",
        f"'sched_setparam', {pid}, {buffer}",
        f"'sched_setscheduler', {pid}, 0, {buffer}",
        f"'setpriority', 0, {pid}, 19",
        "'setpriority', 2, 0, 19",
        f"'ioprio_set', 1, {pid}, 0",
        "'ioprio_set', 3, os.getuid(), 0",
    ]
    assert answers(LANDLOCK, tmp_path, *calls) == ["EPERM"] * len(calls)
    assert answers(LANDLOCK, tmp_path, f"'pidfd_open', {pid}, 0") == ["ENOSYS"]


def test_its_own_limits_and_priority_can_be_set(tmp_path: Path) -> None:
    source = """
import os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE, (60, 60))
os.nice(1); os.setpriority(os.PRIO_PROCESS, os.getpid(), 2); os.setpriority(os.PRIO_PROCESS, 0, 3)
os.sched_setaffinity(0, os.sched_getaffinity(0)); os.sched_setaffinity(os.getpid(), os.sched_getaffinity(0))
os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
print(resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE) is not None, os.getpriority(os.PRIO_PROCESS, 0))
"""
    assert output(python(SAME_USER, tmp_path, source)) == "True 3"


def test_no_program_can_have_the_machine_take_its_core(tmp_path: Path) -> None:
    """core_pattern may name a program, which runs as root outside: at a limit of 1 it is not started, at 0 it is."""
    source = """
import resource
before = resource.getrlimit(resource.RLIMIT_CORE)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); resource.prlimit(0, resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
print(resource.getrlimit(resource.RLIMIT_CORE) == before, resource.getrlimit(resource.RLIMIT_NOFILE))
"""
    assert resource.getrlimit(resource.RLIMIT_CORE)[1] != 0
    assert output(python(NAMESPACES, tmp_path, source)) == "True (64, 64)"


def test_no_signal_reaches_a_process_outside(tmp_path: Path, bystander: subprocess.Popen[bytes]) -> None:
    source = f"""{CALLS}
pid, info = {bystander.pid}, ctypes.create_string_buffer(128)
info[0:4], info[8:12] = (9).to_bytes(4, "little"), (-1).to_bytes(4, "little", signed=True)
one, two = socket.socketpair()
number = ctypes.byref(ctypes.c_int(pid))
print(reason("kill", pid, 9), reason("kill", -pid, 9), reason("kill", -1, 0), reason("tkill", pid, 9))
print(reason("tgkill", pid, pid, 9), reason("rt_sigqueueinfo", pid, 9, info), reason("pidfd_send_signal", -1, 9, 0, 0))
print(reason("rt_tgsigqueueinfo", pid, pid, 9, info))
print(reason("fcntl", one.fileno(), 8, pid), reason("fcntl", one.fileno(), 15, info))
print(reason("ioctl", one.fileno(), 0x8901, number), reason("ioctl", one.fileno(), 0x8902, number))
"""
    assert output(python(SAME_USER, tmp_path, source)).split() == ["EPERM"] * 12
    assert bystander.poll() is None


def test_the_owner_of_a_descriptor_would_have_been_killed(tmp_path: Path, bystander: subprocess.Popen[bytes]) -> None:
    # What fcntl is refused for: the same program with signals allowed (here nothing else is in its way).
    source = f"""
import fcntl, socket
one, two = socket.socketpair()
fcntl.fcntl(one, fcntl.F_SETOWN, {bystander.pid})
fcntl.fcntl(one, fcntl.F_SETSIG, 9)
fcntl.fcntl(one, fcntl.F_SETFL, fcntl.fcntl(one, fcntl.F_GETFL) | fcntl.FASYNC)
two.send(b"x")
"""
    assert "PermissionError" in python(SAME_USER, tmp_path, source).stderr
    assert bystander.poll() is None
    output(python(dataclasses.replace(SAME_USER, signals=True), tmp_path, source))
    assert bystander.wait(10) == -signal.SIGKILL


def test_signals_to_itself_work_without_signals_to_others(tmp_path: Path) -> None:
    source = """
import os, signal, threading
seen = []
signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
signal.raise_signal(signal.SIGUSR1); os.kill(os.getpid(), signal.SIGUSR1)
os.kill(0, signal.SIGUSR1); os.killpg(os.getpgrp(), signal.SIGUSR1)
signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
print(len(seen))
"""
    assert output(python(SAME_USER, tmp_path, source)) == "5"
    assert python(SAME_USER, tmp_path, "import os; os.abort()").returncode == -signal.SIGABRT


@every_policy
def test_python_keeps_working(policy: Policy, tmp_path: Path) -> None:
    source = """
import asyncio, multiprocessing, os, shutil, sqlite3, subprocess, tempfile, threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

async def main():
    process = await asyncio.create_subprocess_exec("echo", "child", stdout=subprocess.PIPE)
    out, _ = await process.communicate()
    return out.decode().strip(), await asyncio.to_thread(len, "thread")

if __name__ == "__main__":
    print(asyncio.run(main()))
    with ThreadPoolExecutor(4) as pool: print(sum(pool.map(abs, range(-10, 10))))
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(2, mp_context=fork) as pool: print(sum(pool.map(abs, range(-10, 10))))
    queue = fork.Queue(); worker = fork.Process(target=queue.put, args=(7,)); worker.start()
    print(queue.get(), worker.join(), worker.exitcode)
    print(subprocess.run("echo a | tr a b", shell=True, capture_output=True, text=True).stdout.strip())
    base = sqlite3.connect("base.db"); base.execute("create table t (x)")
    base.execute("insert into t values (3)"); base.commit()
    print(base.execute("select sum(x) from t").fetchone())
    with tempfile.TemporaryDirectory(dir=".") as folder:
        shutil.copyfile("base.db", f"{folder}/copy"); os.link(f"{folder}/copy", f"{folder}/link"); os.sync()
        print(sorted(os.listdir(folder)))
"""
    lines = output(python(policy, tmp_path, source)).splitlines()
    assert lines == ["('child', 6)", "100", "100", "7 None 0", "b", "(3,)", "['copy', 'link']"]


@every_policy
def test_numpy_computes_with_threads(policy: Policy, tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    source = "import numpy as np; a = np.ones((700, 700)); print(int((a @ a).sum()))"
    assert output(python(policy, tmp_path, source)) == str(700**3)


@every_policy
def test_a_shell_runs_pipelines_and_background_jobs(policy: Policy, tmp_path: Path) -> None:
    script = (
        "set -e; seq 5 | sort -r | head -1; sleep 0.1 & wait; x=$(printf %s $((6*7))); echo $x; mkdir d; : >d/f; ls d"
    )
    for shell in filter(None, (shutil.which("bash"), shutil.which("sh"))):
        shutil.rmtree(tmp_path / "d", ignore_errors=True)
        assert output(run(policy, tmp_path, shell, "-c", script)).split() == ["5", "42", "f"]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@with_attributes
def test_a_c_program_is_compiled_and_runs(policy: Policy, tmp_path: Path) -> None:
    program = """
#include <pthread.h>
#include <stdio.h>
static void *work(void *p) { ++*(int *)p; return 0; }
int main(void) { int n = 41; pthread_t t; pthread_create(&t, 0, work, &n); pthread_join(t, 0); printf("%d\\n", n); }
"""
    output(run(policy, tmp_path, "gcc", "-O1", "-pthread", "-x", "c", "-", "-o", "program", stdin=program))
    assert output(run(policy, tmp_path, "./program")) == "42"


@pytest.mark.skipif(shutil.which("node") is None, reason="no node")
@every_policy
def test_node_runs(policy: Policy, tmp_path: Path) -> None:
    script = """
const fs = require("fs"), cp = require("child_process");
const { Worker } = require("worker_threads");
fs.promises.writeFile("f", "text").then(() => fs.promises.readFile("f", "utf8")).then(text => {
  console.log(text, cp.execSync("echo child").toString().trim());
  new Worker("require('worker_threads').parentPort.postMessage(5)", { eval: true }).on("message", n => console.log(n));
});
"""
    assert output(run(policy, tmp_path, "node", "-e", script)).split() == ["text", "child", "5"]


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
@with_attributes
def test_git_commits(policy: Policy, tmp_path: Path) -> None:
    script = "git init -q . && echo a >f && git add f && git $who commit -qm m && git log --format=%s"
    script = f"who='-c user.name=n -c user.email=e'; {script}"
    assert output(run(policy, tmp_path, "sh", "-c", script)) == "m"


def test_a_job_adds_to_the_filter_of_its_zygote(tmp_path: Path) -> None:
    source = f"""{CALLS}
from jail import seccomp
from jail.seccomp import Policy
below, above = {NAMESPACES!r}, {SAME_USER!r}
calls = [("setns", -1, 0x20000000), ("socket", 1, 1, 0), ("memfd_create", ctypes.c_char_p(b"x"), 0), ("setsid",)]
calls += [("kill", os.getppid(), 0), ("kill", os.getpid(), 0), ("keyctl", -1)]
print(*[reason(*call) for call in calls[:3]])
seccomp.install(seccomp.program(above, None, os.getpid(), below))
print(*[reason(*call) for call in calls])
"""
    lines = output(python(NAMESPACES, tmp_path, source)).splitlines()
    assert lines == ["EBADF done done", "EPERM EPERM ENOSYS EPERM EPERM done EPERM"]


def test_a_program_that_the_kernel_does_not_accept_raises() -> None:
    with pytest.raises(OSError, match="seccomp") as raised:
        seccomp.install(bytes(8))
    assert raised.value.errno in (errno.EINVAL, errno.EACCES)

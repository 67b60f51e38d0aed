"""What a program or its caller might do to disturb the jobs beside and after it, the session, or the caller itself."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from lydite.errors import InputError, UnavailableError
from lydite.sandbox import Sandbox, Status, compiled
from lydite.sandbox.interpreter import SWITCH, environment, reachable


@pytest.fixture(scope="module", params=["namespaces helper", "namespaces python", "namespaces-nocgroup", "landlock"])
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    name, _, loops = request.param.partition(" ")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(compiled.SWITCH, "off" if loops == "python" else "")
        compiled.forget()
        if name == "landlock" and os.getuid() == 0 and reachable(environment(), 65534, 65534):
            patch.setenv(SWITCH, "/usr/bin/python3")
        try:
            with Sandbox(name, workers=1, timeout=20.0) as sandbox:
                yield sandbox
        except UnavailableError as error:
            pytest.skip(str(error))
    compiled.forget()


def test_a_run_of_a_batch_cannot_stop_or_limit_what_forks_it(box: Sandbox) -> None:
    source = """
import os, resource, signal, time
word = input()
if word == 'stop':
    try: os.kill(os.getppid(), signal.SIGSTOP)
    except OSError: pass
if word == 'limit':
    try: resource.prlimit(os.getppid() or 1, resource.RLIMIT_FSIZE, (50, 50))
    except OSError: pass
    print('x' * 100)
print(word)
"""
    words = ["a", "stop", "b", "limit", "c"]
    runs = box.run_batch(source, words, timeout=5.0)
    assert Status.INVALID not in {run.status for run in runs}
    for word, run in zip(words, runs, strict=True):
        if word in "abc":
            assert (run.status, run.stdout) == (Status.OK, f"{word}\n".encode())
        assert run.wall_s < 6


def test_nothing_that_a_folder_remembers_reaches_the_next_job(box: Sandbox) -> None:
    leave = """
import os
for name in ('user.x', 'system.posix_acl_default'):
    value = bytes.fromhex('0200000001000000ffffffff04000000ffffffff20000000ffffffff')
    try: os.setxattr('.', name, value)
    except OSError as error: print(error.errno)
os.utime('.', ns=(77, 0))
"""
    assert box.run(leave).status in (Status.OK, Status.ERROR)  # an ordinary user's job on Landlock may set no times
    look = """
import os
os.close(os.open('made', os.O_CREAT | os.O_WRONLY, 0o644))
print(open('made').read() == '', os.listxattr('.'), os.stat('.').st_atime_ns == 77)
"""
    assert box.run(look).stdout == b"True [] False\n"


def test_no_job_watches_what_the_machine_runs(box: Sandbox) -> None:
    source = "import ctypes\nlibc = ctypes.CDLL(None)\nwatch = libc.inotify_init()\n"
    source += "print(libc.inotify_add_watch(watch, b'/usr/bin', 0xFFF))"
    assert box.run(source).stdout == b"-1\n"


def test_a_session_that_takes_all_processes_is_no_fault_of_ours(box: Sandbox) -> None:
    with box.session() as work:
        work.exec("(while true; do sleep 100 & done) > /dev/null 2>&1 &", timeout=2.0)
        for _ in range(3):
            assert work.exec("echo again", timeout=2.0).status is not Status.INVALID
        work.freeze()
        assert work.list() == []


def test_much_output_of_a_batch_is_not_the_memory_of_its_runs(box: Sandbox) -> None:
    runs = box.run_batch("print('x' * 1_000_000)", [""] * 80, memory_mb=64)
    assert {run.status for run in runs} == {Status.OK}


def test_a_sparse_tree_can_be_looked_at(box: Sandbox) -> None:
    with box.session(memory_mb=64) as work:
        assert work.exec("truncate -s 30M a b").status is Status.OK
        work.freeze()
        assert len(work.snapshot().files["a"]) == 30 << 20


def test_files_that_cannot_be_made_are_the_jobs(box: Sandbox) -> None:
    for files in ({"a": "x", "a/b": "y"}, {"x" * 300: ""}):
        assert box.run("pass", files=files).status is Status.ERROR
    assert box.run("print(1)").stdout == b"1\n"


def test_memory_of_a_run_of_a_batch_counts(box: Sandbox) -> None:
    source = "import time\nx = bytearray(int(input()) << 20)\ntime.sleep(0.3)\nprint(len(x) >> 20)"
    runs = box.run_batch(source, ["1", "600", "2"], memory_mb=128)
    assert [run.status for run in runs] == [Status.OK, Status.MEMORY, Status.OK]


def test_a_limit_beyond_reason_is_refused(box: Sandbox) -> None:
    with pytest.raises(InputError):
        box.run("pass", timeout=1e9)
    with pytest.raises(InputError):
        box.run("pass", memory_mb=10**12)


def test_an_interrupted_command_ends_its_session(box: Sandbox) -> None:
    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        with box.session({"a": "1"}) as work:
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            with pytest.raises(KeyboardInterrupt):
                work.exec("sleep 20; echo first")
            assert work.exec("echo second").stdout == b""
            with pytest.raises(UnavailableError, match="interrupted"):
                work.read("a")
        assert box.run("print(1)").stdout == b"1\n"
    finally:
        signal.signal(signal.SIGALRM, previous)


def test_a_session_belongs_to_the_process_that_made_it(box: Sandbox) -> None:
    with box.session({"a": "1"}) as work:
        pid = os.fork()
        if pid == 0:
            try:
                work.read("a")
                os._exit(1)
            except UnavailableError:
                os._exit(0)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert work.exec("cat a").stdout == b"1"


def _in_child(box: Sandbox, answers: multiprocessing.SimpleQueue[bytes]) -> None:
    answers.put(asyncio.run(box.arun("print('child')")).stdout)


def test_async_jobs_run_in_a_forked_child_too() -> None:
    context = multiprocessing.get_context("fork")
    with Sandbox(workers=1, timeout=20.0) as box:
        assert asyncio.run(box.arun("print(1)")).stdout == b"1\n"
        answers = context.SimpleQueue()
        child = context.Process(target=_in_child, args=(box, answers))
        child.start()
        assert answers.get() == b"child\n"
        child.join()


@pytest.mark.parametrize(
    "habit",
    [
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM, signal.SIGTERM})",
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))",
        "os.umask(0o777)",
        "os.closerange(0, 1)",
    ],
)
def test_habits_of_the_caller_do_not_reach_the_jobs(habit: str) -> None:
    script = f"""
import os, resource, signal
from lydite.sandbox import Sandbox
{habit}
with Sandbox(workers=1, timeout=20.0) as box:
    print(box.run("import signal; signal.alarm(1); signal.pause()").exit_code)
    print(box.run("import subprocess; open('f', 'w').write('1'); print(subprocess.check_output(['cat', 'f']))").stdout)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == ["-14", "b\"b'1'\\n\""], done.stderr

"""What a warm zygote could get wrong: leftovers of the job before, of the zygote, and of being forked."""

from __future__ import annotations

import asyncio
import hashlib
import socket
from collections.abc import Iterator

import pytest

from lydite.errors import InputError, UnavailableError
from lydite.sandbox import Limits, Sandbox, Status, compiled

NATIVE = ["namespaces", "namespaces-nocgroup"]


@pytest.fixture(scope="module", params=["helper", "python"])
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """One worker, so that every job has the same zygote."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(compiled.SWITCH, "off" if request.param == "python" else "")
        compiled.forget()
        try:
            with Sandbox("namespaces", workers=1, timeout=20.0) as sandbox:
                yield sandbox
        except UnavailableError as error:
            pytest.skip(str(error))
    compiled.forget()


SCAN = """
import re
pattern, found = re.compile(rb"[t]he-answer-is-never-seen"), 0
memory = open("/proc/self/mem", "rb", 0)
for line in open("/proc/self/maps"):
    words = line.split()
    if "r" not in words[1] or "[v" in line: continue
    start, end = (int(word, 16) for word in words[0].split("-"))
    try:
        memory.seek(start)
        found += len(pattern.findall(memory.read(end - start)))
    except (OSError, ValueError, OverflowError): pass
print(found)
"""


def test_no_byte_of_an_earlier_job_is_in_memory(box: Sandbox) -> None:
    secret = "the-answer-is-never-seen"
    code = f"answer = {secret!r}\nprint(answer, input())"
    assert box.run(code + "\n" + SCAN, stdin=secret).stdout.split()[-1] != b"0"  # the scan finds what is there
    for _ in range(3):
        assert box.run(code, stdin=secret, files={secret: secret}, env={"S": secret}).status is Status.OK
        assert len(box.run_batch(code, [secret] * 3)) == 3
    assert box.run(SCAN).stdout == b"0\n"


def test_no_run_of_a_batch_has_the_input_of_another_in_memory(box: Sandbox) -> None:
    inputs = [f"the-answer-is-never-seen {number}" for number in range(3)]
    before = "import sys\n" + SCAN  # scans before it has read its own
    assert [run.stdout for run in box.run_batch(before, inputs)] == [b"0\n"] * 3
    after = "import sys\nmine = sys.stdin.read()\n" + SCAN + "print(mine.split()[1])"
    results = [run.stdout.split() for run in box.run_batch(after, inputs)]
    assert [int(found) > 0 for found, _ in results] == [True] * 3
    assert [number for _, number in results] == [b"0", b"1", b"2"]


def test_a_job_shares_no_writable_memory(box: Sandbox) -> None:
    code = (
        "print([line for line in open('/proc/self/maps') if 'w' in line.split()[1] and line.split()[1].endswith('s')])"
    )
    assert box.run(code).stdout == b"[]\n"


def test_a_job_has_three_descriptors(box: Sandbox) -> None:
    code = """
import os
there = []
for fd in range(300):
    try: os.fstat(fd); there.append(fd)
    except OSError: pass
print(there)
"""
    assert box.run(code).stdout == b"[0, 1, 2]\n"
    assert box.run(argv=["sh", "-c", "echo /proc/self/fd/*"]).stdout.count(b"/proc/self/fd/") <= 4


@pytest.mark.parametrize(
    "spoil",
    [
        "import os; os.chmod('/workspace', 0); os.chmod('/tmp', 0o1)",
        "import os; os.chmod('/dev/shm', 0o777)",
        "open('a', 'w').write('x'); import os; os.mkdir('b'); os.symlink('/etc', 'c')",
        "import os; open('a', 'w').close(); os.unlink('a')",
        "open('/tmp/a', 'w').write('x'); open('/dev/shm/b', 'w').write('x')",
        "import os; os.link('/proc/self/status', 'x') if 0 else os.mkfifo('f')",
        "import os; [os.close(os.open(f'f{n}', os.O_CREAT)) for n in range(8000)]",
    ],
)
def test_every_job_finds_the_same_writable_tree(box: Sandbox, spoil: str) -> None:
    look = (
        "import os; print([(os.stat(p).st_mode & 0o7777, os.listdir(p)) for p in ('/workspace', '/tmp', '/dev/shm')])"
    )
    clean = box.run(look).stdout
    assert box.run(spoil).status is Status.OK
    assert box.run(look).stdout == clean == b"[(448, []), (448, []), (448, [])]\n"
    # The rules of Landlock bind to inodes: they must be those of the tree that is there now.
    written = box.run(
        "open('x', 'w').write('1'); open('/tmp/y', 'w').write('2'); print(open('x').read(), open('/tmp/y').read())"
    )
    assert written.stdout == b"1 2\n", written


def test_a_program_can_ask_for_its_own_source(box: Sandbox) -> None:
    source = "import inspect\ndef add(a, b):\n    return a + b\nprint(inspect.getsource(add))"
    assert box.run(source).stdout == b"def add(a, b):\n    return a + b\n\n"


def test_random_numbers_differ_from_job_to_job(box: Sandbox) -> None:
    code = "import random, uuid, os, secrets\nprint(random.random(), uuid.uuid4(), os.urandom(4), secrets.token_hex(4))"
    assert len({box.run(code).stdout for _ in range(5)}) == 5
    assert len({result.stdout for result in box.run_batch(code, [b""] * 5)}) == 5


def test_hashes_of_texts_are_the_same_in_every_job(box: Sandbox) -> None:
    assert len({box.run("print(hash('a'), {'b', 'c', 'd', 'e'})").stdout for _ in range(3)}) == 1


@pytest.mark.parametrize(
    ("source", "exit_code"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -15),
        ("import signal; signal.alarm(1); signal.pause()", -14),
        ("import os; os.abort()", -6),
        ("import signal; signal.raise_signal(signal.SIGSEGV)", -11),
        ("import ctypes; ctypes.string_at(0)", -11),
        ("import os; os._exit(125)", 125),
        ("import os; os._exit(255)", 255),
        ("import os, signal; os.kill(os.getpid(), signal.SIGINT)", 1),  # KeyboardInterrupt
        ("import os, signal; os.kill(0, signal.SIGKILL)", -9),
        ("import os, signal; os.kill(os.getppid(), signal.SIGKILL) if os.getppid() else os._exit(6)", 6),  # outside: 0
    ],
)
def test_signals_and_codes_mean_what_they_mean_elsewhere(box: Sandbox, source: str, exit_code: int) -> None:
    result = box.run(source)
    assert (result.status, result.exit_code) == (Status.ERROR, exit_code)
    assert box.run("print(1)").stdout == b"1\n"


def test_orphans_are_reaped_and_killed_with_the_job(box: Sandbox) -> None:
    code = """
import os, time
if os.fork() == 0:
    for _ in range(20):
        if os.fork() == 0: os._exit(0)
    os._exit(0)
os.wait(); time.sleep(0.3)
print(sum(1 for n in range(1, 200) if os.path.exists(f'/proc/{n}')) < 5)
"""
    result = box.run(code)
    assert result.status is Status.OK, result


def test_a_job_that_is_stopped_while_stopped_ends(box: Sandbox) -> None:
    result = box.run("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", timeout=0.5)
    assert (result.status, result.limit) == (Status.TIMEOUT, "timeout")


def test_processor_time_of_all_processes_counts(box: Sandbox) -> None:
    code = "import os\nfor _ in range(3): os.fork()\nwhile True: pass"
    result = box.run(code, limits=Limits(timeout=20.0, cpu=0.5))
    assert (result.status, result.limit) == (Status.TIMEOUT, "cpu")
    assert result.wall_s < 10


def test_limits_of_one_job_do_not_stay_for_the_next(box: Sandbox) -> None:
    hungry = "x = bytearray(200 << 20); print(len(x))"
    assert box.run(hungry, memory_mb=64).status is Status.MEMORY
    assert box.run(hungry).status is Status.OK
    assert box.run(
        "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE))", limits=Limits(descriptors=20)
    ).stdout
    assert box.run("print(len([open('/dev/null') for _ in range(100)]))").stdout == b"100\n"


THREADS = "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(9,)).start()"


@pytest.mark.parametrize(
    ("source", "limits", "status", "limit"),
    [
        ("while True: pass", Limits(timeout=0.3), Status.TIMEOUT, "timeout"),
        ("x = []\nwhile True: x.append(bytearray(1 << 20))", Limits(memory_mb=64), Status.MEMORY, "memory_mb"),
        ("import os\nwhile True: os.fork()", Limits(processes=16), Status.PROCESSES, "processes"),
        (THREADS, Limits(processes=16, timeout=1.0), Status.PROCESSES, "processes"),
        ("f = [open('/dev/null') for _ in range(100)]", Limits(descriptors=32), Status.ERROR, "descriptors"),
        ("open('f', 'wb').write(b'x' * (9 << 20))", Limits(file_mb=8), Status.DISK, "file_mb"),
        ("for n in range(100): open(f'f{n}', 'wb').write(b'x' * (4 << 20))", Limits(), Status.DISK, "disk_mb"),
        ("for n in range(10**6): open(f'f{n}', 'wb')", Limits(descriptors=64), Status.DISK, "inodes"),
        ("while True: print('x' * 1000)", Limits(output_kb=100), Status.OUTPUT, "output_kb"),
        ("import sys\nwhile True: sys.stderr.write('x' * 1000)", Limits(output_kb=100), Status.OUTPUT, "output_kb"),
    ],
)  # fmt: skip
def test_every_limit_has_a_verdict_of_its_own(
    box: Sandbox, source: str, limits: Limits, status: Status, limit: str
) -> None:
    result = box.run(source, limits=limits)
    assert (result.status, result.limit) == (status, limit), result
    runs = box.run_batch(source, ["", ""], limits=limits)
    assert [run.status for run in runs] == [status] * 2, runs


def test_a_limit_of_the_tree_cannot_be_one_of_a_job(box: Sandbox) -> None:
    with pytest.raises(InputError, match="disk_mb"):
        box.run("pass", limits=Limits(disk_mb=10))


def test_memory_files_count(box: Sandbox) -> None:
    code = "import os\nfd = os.memfd_create('m')\nwhile True: os.write(fd, bytes(1 << 20))"
    assert box.run(code, memory_mb=64, limits=Limits(file_mb=4096)).status in (Status.MEMORY, Status.DISK, Status.ERROR)
    shared = "import mmap\nm = mmap.mmap(-1, 1 << 30)\nfor n in range(0, 1 << 30, 4096): m[n] = 1"
    assert box.run(shared, memory_mb=64).status is Status.MEMORY


def test_files_that_do_not_fit_are_the_jobs_doing(box: Sandbox) -> None:
    result = box.run("pass", files={"big": bytes(65 << 20)})
    assert (result.status, result.limit) == (Status.DISK, "disk_mb")
    many = box.run("pass", files={f"f{number}": b"" for number in range(9000)})
    assert many.status is Status.DISK
    huge = box.run("pass", stdin=bytes(200 << 20), memory_mb=32)
    assert huge.status is Status.MEMORY


def test_large_requests_arrive_whole(box: Sandbox) -> None:
    code = (
        "import sys, hashlib\n# "
        + "x" * 300_000
        + "\nprint(hashlib.sha256(sys.stdin.buffer.read()).hexdigest(), open('f').read()[:3])"
    )

    data = bytes(range(256)) * 20_000
    result = box.run(code, stdin=data, files={"f": "abc" * 100_000})
    assert result.stdout.decode().split() == [hashlib.sha256(data).hexdigest(), "abc"]


def test_one_input_of_a_batch_harms_no_other(box: Sandbox) -> None:
    code = """
import os, signal, sys, time
word = input()
if word == 'parent': os.kill(os.getppid(), signal.SIGKILL); time.sleep(5)
if word == 'all': os.kill(-1, signal.SIGKILL)
if word == 'stop': os.kill(os.getppid(), signal.SIGSTOP); time.sleep(5)
if word == 'memory': x = bytearray(900 << 20)
if word == 'flood': sys.stdout.write('x' * (3 << 20))
if word == 'crash': os.abort()
print(word)
"""
    words = ["a", "parent", "b", "all", "c", "memory", "d", "flood", "e", "crash", "f"]
    runs = box.run_batch(code, words, timeout=2.0)
    outcomes = dict(zip(words, runs, strict=True))
    assert all(outcomes[word].stdout == f"{word}\n".encode() for word in "abcdef")
    assert outcomes["parent"].exit_code == -9  # it has no parent that it could name, so it met itself
    assert outcomes["memory"].status is Status.MEMORY
    assert outcomes["flood"].status is Status.OUTPUT
    assert outcomes["crash"].exit_code == -6
    assert Status.INVALID not in {run.status for run in runs}


def test_loopback_is_there_when_asked_for_and_leads_nowhere(box: Sandbox) -> None:
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
    inside = """
import socket, threading
server = socket.create_server(('127.0.0.1', 8080))
threading.Thread(target=lambda: server.accept()[0].sendall(b'hello'), daemon=True).start()
print(socket.create_connection(('127.0.0.1', 8080)).recv(9))
"""
    outside = f"import socket\ntry: socket.create_connection(('127.0.0.1', {port}), 1)\nexcept OSError: print('no')"
    try:
        with Sandbox(box.backend, workers=1, network="loopback", timeout=20.0) as networked:
            for _ in range(3):
                assert networked.run(inside).stdout == b"b'hello'\n"
                assert networked.run(outside).stdout == b"no\n"
        assert b"rror" in box.run(inside).stderr
        assert box.run(outside).stdout == b"no\n"
    finally:
        server.close()


@pytest.mark.parametrize("backend", NATIVE)
def test_packages_find_their_files_where_jobs_see_them(backend: str) -> None:
    """They were imported where they lie on the machine, perhaps below a /tmp that the jail does not have."""
    with Sandbox(backend, workers=1, preload="numpy", timeout=30.0) as sandbox:
        result = sandbox.run(
            "import numpy, numpy.linalg, numpy.polynomial.chebyshev as c\n"
            "print(numpy.linalg.det(numpy.eye(3)), c.__file__.startswith('/opt/lydite/packages/'))"
        )
        assert result.stdout == b"1.0 True\n", result
        assert sandbox.run("import msgspec").status is Status.ERROR
        different = {sandbox.run("import numpy; print(numpy.random.rand())").stdout for _ in range(4)}
        assert len(different) == 4


async def test_the_event_loop_goes_on(box: Sandbox) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticker = asyncio.create_task(tick())
    results = await asyncio.gather(*(box.arun("import time; time.sleep(0.1); print(1)") for _ in range(3)))
    batch = await box.arun_batch("print(input())", ["a", "b"])
    ticker.cancel()
    assert [result.stdout for result in (*results, *batch)] == [b"1\n"] * 3 + [b"a\n", b"b\n"]
    assert ticks > 5

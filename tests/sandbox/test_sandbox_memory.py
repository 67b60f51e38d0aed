"""Memory that no process shows as its own counts, and filling it is the program's doing, whatever it takes along."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lydite.errors import UnavailableError
from lydite.sandbox import Sandbox, Snapshot, Status

SHARED = "import mmap\nm = mmap.mmap(-1, 1 << 30)\nfor at in range(0, 1 << 30, 4096): m[at] = 1"
GIVEN_UP = """
import mmap
m = mmap.mmap(-1, 1 << 30)
for at in range(0, 1 << 30, 1 << 20):
    m[at : at + (1 << 20)] = bytes(1 << 20)
    m.madvise(mmap.MADV_DONTNEED, at, 1 << 20)
"""
PAGE_TABLES = """
import mmap
m = mmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)
for at in range(0, 1 << 40, 1 << 21): m[at]
"""
SOCKETS = """
import os, socket, time
for _ in range(40):
    if os.fork() == 0:
        kept = []
        try:
            while True:
                pair = socket.socketpair()
                pair[0].setblocking(False)
                kept += pair
                try:
                    while True: pair[0].send(bytes(1 << 16))
                except BlockingIOError: pass
        except OSError: time.sleep(20)
time.sleep(20)
"""
# The program itself stays small, so that the kernel would look for a larger process to kill.
MEMORY_FILES = """
import os
for number in range(12): os.set_inheritable(os.memfd_create(str(number), 0), True)
try: open('/proc/self/oom_score_adj', 'w').write('0')
except OSError: pass
fill = 'for i in 3 4 5 6 7 8 9 10 11 12; do head -c 60000000 /dev/zero > /proc/self/fd/$i; done'
os.execv('/bin/sh', ['sh', '-c', fill])
"""
FILES = "for number in range(200): open(f'/dev/shm/{number}', 'wb').write(bytes(1 << 20))"
MANY = "import os\nfor _ in range(6): os.fork()\nx = bytearray(8 << 20)\nimport time; time.sleep(20)"


@pytest.fixture(scope="module", params=["namespaces", "namespaces-nocgroup"])
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    try:
        with Sandbox(request.param, workers=1, timeout=20.0, memory_mb=128, disk_mb=256, file_mb=256) as sandbox:
            yield sandbox
    except UnavailableError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    "source",
    [SHARED, GIVEN_UP, PAGE_TABLES, SOCKETS, MEMORY_FILES, FILES, MANY],
    ids=["shared", "given-up", "page-tables", "sockets", "memory-files", "files", "many"],
)
def test_it_counts(box: Sandbox, source: str) -> None:
    if source is MEMORY_FILES and box.backend != "namespaces":
        pytest.skip("memory files are refused where nobody counts them")
    result = box.run(source)
    assert (result.status, result.limit) == (Status.MEMORY, "memory_mb"), result
    assert box.run("print(1)").stdout == b"1\n"
    with box.session() as work:
        result = work.exec(["python3", "-c", source])
        assert (result.status, result.limit) == (Status.MEMORY, "memory_mb"), result


def test_honest_sharing_is_not_counted_twice(box: Sandbox) -> None:
    source = """
import multiprocessing as mp
block = mp.RawArray('c', 40 << 20)
def fill(number):
    for at in range(0, 40 << 20, 4096): block[at] = number
processes = [mp.Process(target=fill, args=(number,)) for number in range(6)]
for process in processes: process.start()
for process in processes: process.join()
print(block[0] != 0)
"""
    result = box.run(source)
    assert (result.status, result.stdout) == (Status.OK, b"True\n"), result


def test_no_job_can_make_itself_the_last_to_be_killed(box: Sandbox) -> None:
    adjusted = "1000" if box.backend == "namespaces" else "0"
    source = "print(open('/proc/self/oom_score_adj').read().strip())\nopen('/proc/self/oom_score_adj', 'w').write('0')"
    result = box.run(source)
    assert result.stdout.decode().strip() == adjusted
    assert b"PermissionError" in result.stderr


def test_a_session_goes_on_from_a_snapshot(box: Sandbox) -> None:
    with box.session({"a": "1"}) as work:
        work.exec("mkdir -p empty/folder; ln -s a link; cp /bin/true program; echo 2 > b")
        kept = work.snapshot()
    with box.session(kept) as again:
        assert again.digest() == kept.digest
        assert again.exec("./program && cat link b").stdout == b"12\n"
    assert isinstance(kept, Snapshot)

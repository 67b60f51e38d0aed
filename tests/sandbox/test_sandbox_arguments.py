"""Mistakes of the caller are errors of the caller's; and what a caller asks for while jobs run."""

from __future__ import annotations

import asyncio
import gc
import time
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from lydite.errors import InputError, UnavailableError
from lydite.sandbox import ExecResult, Limits, Sandbox, Status


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with Sandbox(workers=1, timeout=20.0) as sandbox:
        yield sandbox


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "code"),
        ({"code": "pass", "argv": ["ls"]}, "code"),
        ({"code": 5}, "code"),
        ({"argv": []}, "code"),
        ({"argv": "ls -la"}, "argv"),
        ({"argv": ["ls", 5]}, "argv"),
        ({"argv": ["a\0b"]}, "argv"),
        ({"code": "pass", "stdin": 5}, "stdin"),
        ({"code": "pass", "env": {"A": 1}}, "env"),
        ({"code": "pass", "env": {"A=B": "c"}}, "env"),
        ({"code": "pass", "env": {"": "c"}}, "env"),
        ({"code": "pass", "files": {"a": 5}}, "files.a"),
        ({"code": "pass", "files": {"../a": ""}}, "files"),
        ({"code": "pass", "timeout": "a"}, "timeout"),
        ({"code": "pass", "timeout": 0}, "timeout"),
        ({"code": "pass", "timeout": float("nan")}, "timeout"),
        ({"code": "pass", "memory_mb": 1.5}, "memory_mb"),
        ({"code": "pass", "memory_mb": True}, "memory_mb"),
        ({"code": "pass", "memory": 5}, "memory"),
    ],
)
def test_a_wrong_argument_is_named(box: Sandbox, arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as raised:
        box.run(**arguments)
    assert raised.value.field == field
    assert raised.value.remedy


@pytest.mark.parametrize("stdins", ["123", b"123"])
def test_one_input_is_no_list_of_inputs(box: Sandbox, stdins: Any) -> None:
    with pytest.raises(InputError):
        box.run_batch("pass", stdins)


@pytest.mark.parametrize("arguments", [{"workers": 0}, {"workers": 1.5}, {"timeot": 1}, {"backend": "namspaces"}])
def test_a_sandbox_that_cannot_be_is_not_made(arguments: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Sandbox(**arguments)


def test_a_limit_by_name_goes_on_top_and_limits_replace(box: Sandbox) -> None:
    source = "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    assert box.run(source, descriptors=77).stdout == b"77\n"
    assert box.run(source, limits=Limits(descriptors=55)).stdout == b"55\n"
    assert box.run(source, limits=Limits(descriptors=55), descriptors=44).stdout == b"44\n"
    with box.session(descriptors=33) as work:
        assert work.exec("ulimit -n").stdout == b"33\n"
        assert work.exec("ulimit -n", descriptors=22).stdout == b"22\n"
        with pytest.raises(InputError):
            work.exec(5)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        box.session(foo=1)


def test_nothing_changes_in_a_frozen_workspace(box: Sandbox) -> None:
    with box.session({"a": "1"}) as work:
        work.freeze()
        before = work.digest()
        for change in (lambda: work.write("b", "2"), lambda: work.remove("a"), lambda: work.exec("true")):
            with pytest.raises(UnavailableError, match="frozen"):
                change()
        assert work.digest() == before
        assert work.read("a") == b"1"


async def test_a_cancelled_job_stops(box: Sandbox) -> None:
    start = time.monotonic()
    jobs = [asyncio.create_task(box.arun("while True: pass", timeout=60.0)) for _ in range(3)]
    jobs += [asyncio.create_task(box.arun(argv=["sleep", "60"], timeout=60.0))]
    jobs += [asyncio.create_task(box.arun_batch("while True: pass", ["a"] * 9, timeout=60.0))]
    await asyncio.sleep(0.3)
    for job in jobs:
        job.cancel()
    assert all(
        isinstance(found, asyncio.CancelledError) for found in await asyncio.gather(*jobs, return_exceptions=True)
    )
    result = await box.arun("print(1)")
    assert (result.status, result.stdout) == (Status.OK, b"1\n")
    assert time.monotonic() - start < 30


async def test_a_running_batch_can_be_cancelled(box: Sandbox) -> None:
    job = asyncio.create_task(box.arun_batch("import time; time.sleep(60)", ["a"] * 5, timeout=60.0))
    await asyncio.sleep(0.3)
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    assert [(await box.arun(f"print({number})")).stdout for number in range(20)] == [b"%d\n" % n for n in range(20)]


def test_what_nobody_closed_ends_with_the_last_reference() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sandbox = Sandbox(workers=1)
        work = sandbox.session({"a": "1"})
        assert work.exec("cat a").stdout == b"1"
        process = sandbox._backend.keeper()._process  # type: ignore[attr-defined]
        sandbox.close()
        del work
        another = Sandbox(workers=1)
        other = another._backend.keeper()._process  # type: ignore[attr-defined]
        del another, sandbox
        gc.collect()
    assert process.returncode == 0
    assert other.returncode == 0


FORKS = """
import os, time
count = 1
try:
    while count < 200:
        if os.fork() == 0: time.sleep(9)
        count += 1
except OSError: pass
print(count, flush=True)
"""


@pytest.mark.parametrize("processes", [1, 2, 64, 70])
def test_the_limit_on_processes_is_exact(box: Sandbox, processes: int) -> None:
    expected = b"%d\n" % processes
    assert box.run(FORKS, processes=processes).stdout == expected
    assert [run.stdout for run in box.run_batch(FORKS, ["", ""], processes=processes)] == [expected] * 2
    assert box.run(FORKS).stdout == b"64\n"


def test_limits_of_one_command_do_not_stay_for_the_next(box: Sandbox) -> None:
    with box.session() as work:
        assert work.exec(["python3", "-c", FORKS], processes=3, memory_mb=64).stdout == b"3\n"
        assert work.exec(["python3", "-c", FORKS + "x = bytearray(100 << 20); print(1)"]).stdout == b"62\n1\n"


def test_a_command_can_end_what_an_earlier_one_started(box: Sandbox) -> None:
    with box.session() as work:
        work.exec("sleep 1000 > /dev/null 2>&1 & echo $! > pid")
        assert b"sleep" in work.exec("ps -e").stdout
        assert work.exec("kill $(cat pid)").status is Status.OK
        work.exec("sleep 0.2")
        assert b"sleep" not in work.exec("ps -e").stdout


def test_long_output_is_shown_short() -> None:
    shown = repr(ExecResult(status=Status.OK, exit_code=0, stdout=b"a" * 10**6))
    assert len(shown) < 2000
    assert "status=<Status.OK: 'ok'>" in shown


def test_files_and_batches_go_together(box: Sandbox) -> None:
    source = "print(open('d').read(), input()); open('d', 'w').write('spoiled')"
    assert [run.stdout for run in box.run_batch(source, ["1", "2", "3"], files={"d": "x"})] == [
        b"x 1\n",
        b"x 2\n",
        b"x 3\n",
    ]


def test_every_input_of_a_batch_finds_fresh_folders(box: Sandbox) -> None:
    source = "import os\nfor folder in ('.', '/tmp', '/dev/shm'):\n    print(len(os.listdir(folder)), end=' ')\n"
    source += "    open(folder + '/left', 'w').close()\nprint(input())"
    assert [run.stdout for run in box.run_batch(source, ["a", "b", "c"])] == [b"0 0 0 a\n", b"0 0 0 b\n", b"0 0 0 c\n"]


def test_a_limit_on_files_has_its_own_name(box: Sandbox) -> None:
    assert box.run("for n in range(10**6): open(f'{n}', 'w').close()").limit == "inodes"
    assert box.run("open('f', 'wb').write(bytes(100 << 20))").limit == "file_mb"
    assert box.run("for n in range(9): open(f'{n}', 'wb').write(bytes(10 << 20))").limit == "disk_mb"

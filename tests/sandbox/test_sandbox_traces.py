"""Nothing of ours is left behind, however a job, a sandbox, the supervisor or the keeper ends."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from traces import Traces, traces, until

from lydite.errors import UnavailableError
from lydite.sandbox import Sandbox, Status

HOSTILE = (
    "import os\nfor _ in range(200):\n    try: os.fork()\n    except OSError: pass",
    "import os\nwhile True:\n    if os.fork() == 0:\n        os.setsid()",
    "x = []\nwhile True: x.append(bytearray(10**7))",
    "import os\nos.makedirs('/'.join(['d'] * 200))\nopen('/tmp/f', 'wb').write(b'x' * (70 << 20))",
    "import os\nos.chmod('.', 0); os.chmod('/tmp', 0)",
    "while True: print('x' * 10000)",
    "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "import time\ntime.sleep(60)",
    "import os\nos.symlink('/etc', 'link'); os.mkfifo('pipe')\nif os.fork() == 0:\n    os.setsid()\n    open('pipe')",
)


@pytest.fixture
def before() -> Traces:
    return traces()


def settled(before: Traces) -> Traces:
    """What is there now beyond what was there before, once it has had time to go."""
    until(lambda: not traces() - before)
    return traces() - before


def test_after_a_thousand_mixed_jobs_nothing_is_left(before: Traces) -> None:
    with Sandbox(workers=4, timeout=0.3, memory_mb=64) as box:

        def job(number: int) -> bool:
            if number % 20 == 7:
                box.run(HOSTILE[number // 20 % len(HOSTILE)])
                return True
            result = box.run(f"open('f', 'w').write('x')\nprint({number} * 2)", timeout=20.0)
            return result.status is Status.OK and result.stdout == b"%d\n" % (2 * number)

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(job, range(1000)))
        inside = traces() - before
        assert len(inside.processes) < 20  # a keeper, zygotes, and the children that they have forked ahead
    assert not settled(before)


SCRIPT = """
import os, signal, sys, threading, time
from lydite.sandbox import Sandbox
box = Sandbox(workers=2, timeout=60.0)
work = box.session({{"a": "b"}})
job = "import time, os\\nos.fork(); os.fork()\\ntime.sleep(50)"
for _ in range(2): threading.Thread(target=box.run, args=(job,), daemon=True).start()
work.exec("sleep 50 > /dev/null 2>&1 &")
time.sleep(0.5)
print("ready", flush=True)
{end}
"""


@pytest.mark.parametrize(
    "end",
    [
        "os.kill(os.getpid(), signal.SIGKILL)",
        "os.kill(os.getpid(), signal.SIGTERM)",
        "os._exit(3)",
        "os.abort()",
        "raise ValueError",
        "sys.exit(1)",
        "signal.raise_signal(signal.SIGINT)",
        "box.close()",
        "pid = os.fork()\nif pid == 0: time.sleep(3); os._exit(0)\nos.kill(os.getpid(), signal.SIGKILL)",
    ],
)
def test_whatever_ends_the_supervisor_ends_everything(before: Traces, end: str) -> None:
    script = textwrap.dedent(SCRIPT).format(end=end)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, cwd="/")
    assert "ready" in done.stdout, done.stderr
    assert not settled(before)


def test_a_killed_keeper_takes_its_jobs_along_and_is_replaced(before: Traces) -> None:
    with Sandbox(workers=1, timeout=20.0) as box:
        assert box.run("print(1)").stdout == b"1\n"
        keeper = box._backend.keeper().pid  # type: ignore[attr-defined]
        os.kill(keeper, signal.SIGKILL)
        until(lambda: not (traces() - before).processes)
        assert not (traces() - before).processes
        again = box.run("print(2)")
        assert (again.status, again.stdout) == (Status.OK, b"2\n")
    assert not settled(before)


def test_a_zygote_that_dies_under_a_job_costs_a_second_try_at_most(before: Traces) -> None:
    with Sandbox(workers=1, timeout=20.0) as box:
        box.run("pass")
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(box.run, "import time; time.sleep(1); print('done')")
            time.sleep(0.3)
            for pid in zygotes(box):
                os.kill(pid, signal.SIGKILL)
            assert running.result().stdout == b"done\n"
    assert not settled(before)


def test_a_sandbox_that_is_lost_again_and_again_is_our_fault() -> None:
    with Sandbox(workers=1, timeout=20.0) as box:
        box.run("pass")
        stop = threading.Event()

        def killer() -> None:
            while not stop.wait(0.05):
                for pid in zygotes(box):
                    os.kill(pid, signal.SIGKILL)

        thread = threading.Thread(target=killer)
        thread.start()
        try:
            result = box.run("import time; time.sleep(10)")
        finally:
            stop.set()
            thread.join()
        assert result.status is Status.INVALID
        assert result.exit_code is None
        assert "lost" in result.detail or "died" in result.detail
        assert box.run("print(3)").stdout == b"3\n"


def zygotes(box: Sandbox) -> list[int]:
    keeper = box._backend.keeper().pid  # type: ignore[attr-defined]
    return [int(word) for word in Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()]


def test_jobs_in_flight_end_as_killed_when_the_sandbox_is_closed() -> None:
    box = Sandbox(workers=1, timeout=60.0)
    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(box.run, "import time; time.sleep(50)") for _ in range(2)]
        time.sleep(0.3)
        box.close()
        assert {future.result().status for future in running} == {Status.KILLED}


def test_time_in_the_queue_is_not_counted() -> None:
    with Sandbox(workers=1, timeout=0.6) as box, ThreadPoolExecutor(6) as pool:
        results = list(pool.map(lambda _: box.run("import time; time.sleep(0.3)"), range(6)))
    assert {result.status for result in results} == {Status.OK}


def test_sixty_four_threads_at_once() -> None:
    with Sandbox(workers=4, timeout=20.0) as box, ThreadPoolExecutor(64) as pool:
        jobs = [pool.submit(box.run, "print(int(input()) ** 2)", stdin=b"%d" % number) for number in range(400)]
        assert [job.result().stdout for job in jobs] == [b"%d\n" % number**2 for number in range(400)]


def test_two_processes_at_once_do_not_disturb_each_other(before: Traces) -> None:
    script = "from lydite.sandbox import Sandbox\nwith Sandbox(workers=2) as box:\n"
    script += "    print(all(box.run(f'print({n})').stdout == b'%d\\n' % n for n in range(300)))"
    both = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd="/") for _ in range(2)]
    assert [process.communicate(timeout=120)[0] for process in both] == [b"True\n"] * 2
    assert not settled(before)


def _in_child(box: Sandbox, answers: multiprocessing.SimpleQueue[bytes]) -> None:
    answers.put(box.run("print('child')").stdout)


def test_after_a_fork_both_sides_have_a_sandbox(before: Traces) -> None:
    context = multiprocessing.get_context("fork")
    with Sandbox(workers=1) as box:
        assert box.run("print(1)").stdout == b"1\n"
        answers = context.SimpleQueue()
        child = context.Process(target=_in_child, args=(box, answers))
        child.start()
        assert answers.get() == b"child\n"
        child.join()
        assert box.run("print(2)").stdout == b"2\n"
    assert not settled(before)


def test_a_sandbox_can_be_sent_to_another_process() -> None:
    with Sandbox(workers=1, timeout=7.0) as box, pickle.loads(pickle.dumps(box)) as copy:
        assert (copy.limits, copy.backend) == (box.limits, box.backend)
        assert copy.run("print(1)").stdout == b"1\n"


def test_where_nothing_works_the_reasons_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from lydite.sandbox import keeper

    def broken(*arguments: object, **options: object) -> None:
        raise UnavailableError("this machine allows nothing")

    monkeypatch.setattr(keeper.Keeper, "__init__", broken)
    with pytest.raises(UnavailableError, match=r"namespaces: this machine allows nothing.*landlock: .*doctor"):
        Sandbox()

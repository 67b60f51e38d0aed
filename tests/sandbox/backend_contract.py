"""What every back end must do, asked through the public ``Sandbox``.

A test file for one or more back ends says ``from backend_contract import *`` and provides a module-scoped fixture
``backend``: a name that ``Sandbox(backend=...)`` takes. What a back end does not claim is skipped by name, in
:data:`LACKS`, with the reason.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lydite.errors import InputError, LyditeError, UnavailableError
from lydite.sandbox import ExecResult, Limits, Sandbox, Status

SECRET = "LYDITE_CONTRACT_SECRET"
PATIENCE_S = 20.0

LACKS = {
    "landlock": {
        "background": "only a process group can be ended for certain, so nothing outlives its command",
        "own folders": "no namespace: /tmp and /dev/shm are the machine's, and closed; TMPDIR names the job's own",
    },
    "unsafe": {
        "isolation": "unsafe isolates nothing",
    },
    "runsc": {
        "background": "gVisor lets no descriptors through, so each command has a box of its own",
        "processes": "what runs in gVisor is no process of this machine",
    },
}


def claims(backend: str, what: str) -> None:
    """Skip the test where the back end does not claim this."""
    reason = LACKS.get(backend.partition(":")[0], {}).get(what)
    if reason is not None:
        pytest.skip(reason)


@pytest.fixture(scope="module")
def sandbox(backend: str) -> Iterator[Sandbox]:
    os.environ[SECRET] = "hunter2"
    try:
        box = Sandbox(backend, workers=2, timeout=20.0)
    except UnavailableError as error:
        pytest.skip(f"{backend}: {error}")
    with box:
        yield box
    del os.environ[SECRET]


@pytest.fixture
def fresh(backend: str, sandbox: Sandbox) -> Iterator[Callable[..., Sandbox]]:
    """Makes further sandboxes, closed at the end."""
    with contextlib.ExitStack() as stack:
        yield lambda **options: stack.enter_context(Sandbox(backend, **{"workers": 2, **options}))


def ended(result: ExecResult, status: Status, exit_code: int | None = None) -> None:
    """Assert how it ended, and show all of it where it did not."""
    assert result.status is status, result
    if exit_code is not None:
        assert result.exit_code == exit_code, result


def available(sandbox: Sandbox, tool: str) -> None:
    """Skip the test where jobs cannot run this program."""
    if sandbox.run(argv=["sh", "-c", f"command -v {tool}"]).status is not Status.OK:
        pytest.skip(f"{tool} is not there for jobs")


def until(condition: Callable[[], bool]) -> bool:
    """Wait for something that must come about."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def shown(backend: str, marker: str, temp: Path) -> tuple[str, int]:
    """A text in the command lines of what runs, and how many processes have it before anything runs."""
    lacks = "processes" in LACKS.get(backend.partition(":")[0], {})
    return (str(temp), 3) if lacks else (marker, 1)  # the parent, its warden and the tool


def living(marker: str) -> list[int]:
    """Processes of this machine with this text in their command line."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            with contextlib.suppress(OSError), open(f"/proc/{name}/cmdline", "rb") as file:
                if marker.encode() in file.read():
                    found.append(int(name))
    return found


# How programs end


def test_an_honest_program_is_ok(sandbox: Sandbox, backend: str) -> None:
    result = sandbox.run("print(6 * 7)")
    ended(result, Status.OK, 0)
    assert (result.stdout, result.stderr, result.backend, result.limit) == (b"42\n", b"", sandbox.backend, None)


@pytest.mark.parametrize("code", [1, 2, 3, 100, 124, 125, 126, 127, 128, 137, 139, 255])
def test_an_exit_code_is_told_as_it_is(sandbox: Sandbox, code: int) -> None:
    ended(sandbox.run(f"import sys; sys.exit({code})"), Status.ERROR, code)


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGSEGV", "SIGABRT", "SIGINT", "SIGALRM", "SIGUSR1", "SIGHUP"])
def test_a_signal_of_its_own_is_told_as_negative(sandbox: Sandbox, name: str) -> None:
    source = f"import os, signal; signal.signal(signal.SIGINT, signal.SIG_DFL); os.kill(os.getpid(), signal.{name})"
    ended(sandbox.run(source), Status.ERROR, -getattr(signal, name))


def test_abort_is_a_signal(sandbox: Sandbox) -> None:
    ended(sandbox.run("import os; os.abort()"), Status.ERROR, -signal.SIGABRT)


def test_a_command_ends_by_a_signal_too(sandbox: Sandbox) -> None:
    ended(sandbox.run(argv=["sh", "-c", "kill -9 $$"]), Status.ERROR, -signal.SIGKILL)


@pytest.mark.parametrize(
    "source",
    [
        "while True: pass",
        "import time; time.sleep(1000)",
        "import signal, time\nfor n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)\nwhile True: time.sleep(1)",
        "import os, time\nfor _ in range(4): os.fork()\ntime.sleep(1000)",
        "input_ = open(0).read()\nimport threading\nthreading.Thread(target=threading.Event().wait).start()",
    ],
)
def test_wall_clock(sandbox: Sandbox, source: str) -> None:
    result = sandbox.run(source, timeout=1.0)
    ended(result, Status.TIMEOUT)
    assert result.limit == "timeout"


def test_output_before_a_timeout_is_kept(sandbox: Sandbox) -> None:
    result = sandbox.run("import time; print('before', flush=True); time.sleep(1000)", timeout=1.0)
    assert (result.status, result.stdout) == (Status.TIMEOUT, b"before\n")


def test_processor_time_of_one_process(sandbox: Sandbox) -> None:
    result = sandbox.run("while True: pass", limits=Limits(timeout=20.0, cpu=1.0))
    ended(result, Status.TIMEOUT)
    assert result.limit == "cpu"


def test_processor_time_of_all_processes(sandbox: Sandbox) -> None:
    source = "import os\nfor _ in range(3):\n    if os.fork() == 0: break\nwhile True: pass"
    result = sandbox.run(source, limits=Limits(timeout=20.0, cpu=1.0))
    ended(result, Status.TIMEOUT)


def test_memory(sandbox: Sandbox) -> None:
    source = "held = []\nwhile True: held.append(bytearray(b'x') * (1 << 20))"
    result = sandbox.run(source, limits=Limits(timeout=20.0, memory_mb=100))
    ended(result, Status.MEMORY)
    assert result.limit == "memory_mb"


def test_memory_of_several_processes_counts_together(sandbox: Sandbox) -> None:
    source = (
        "import os, time\nfor _ in range(5):\n    if os.fork() == 0:\n        held = bytearray(b'x') * (40 << 20)\n"
    )
    source += "        time.sleep(15)\n        os._exit(0)\nwhile True: os.wait()"
    ended(sandbox.run(source, limits=Limits(timeout=20.0, memory_mb=120)), Status.MEMORY)


def test_memory_below_the_limit_is_allowed(sandbox: Sandbox) -> None:
    source = "held = bytearray(b'x') * (100 << 20); import time; time.sleep(0.2); print(len(held))"
    ended(sandbox.run(source, limits=Limits(timeout=20.0, memory_mb=256)), Status.OK)


def test_processes(sandbox: Sandbox) -> None:
    source = "import os, time\nwhile True:\n    if os.fork() == 0:\n        time.sleep(1000)"
    ended(sandbox.run(source, limits=Limits(timeout=10.0, processes=16)), Status.PROCESSES)


def test_threads_count_as_processes(sandbox: Sandbox) -> None:
    source = (
        "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()"
    )
    ended(sandbox.run(source, limits=Limits(timeout=10.0, processes=16)), Status.PROCESSES)


def test_as_many_processes_as_allowed(sandbox: Sandbox) -> None:
    source = "import os, time\nfor _ in range(7):\n    if os.fork() == 0:\n        time.sleep(0.1); os._exit(0)\n"
    source += "for _ in range(7): os.wait()\nprint('all')"
    ended(sandbox.run(source, limits=Limits(timeout=10.0, processes=8)), Status.OK)


def test_orphans_that_ended_do_not_count(sandbox: Sandbox) -> None:
    """Whoever is their parent now has reaped them: they use up no process."""
    source = "import os, time\nfor _ in range(60):\n    pid = os.fork()\n    if pid == 0:\n        os.fork()\n"
    source += "        os._exit(0)\n    os.waitpid(pid, 0)\n    time.sleep(0.005)\nprint('done')"
    ended(sandbox.run(source, limits=Limits(timeout=20.0, processes=12)), Status.OK)


def test_disk(fresh: Callable[..., Sandbox]) -> None:
    source = "number = 0\nwhile True:\n    open(f'f{number}', 'wb').write(bytes(1 << 20)); number += 1"
    ended(fresh(disk_mb=8).run(source, timeout=20.0), Status.DISK)


def test_size_of_one_file(sandbox: Sandbox) -> None:
    source = "file = open('big', 'wb')\nwhile True: file.write(bytes(1 << 20)); file.flush()"
    ended(sandbox.run(source, limits=Limits(timeout=20.0, file_mb=2)), Status.DISK)


def test_number_of_files(fresh: Callable[..., Sandbox]) -> None:
    source = "import os\nnumber = 0\nwhile True:\n    os.mkdir(f'd{number}'); number += 1"
    ended(fresh(inodes=300).run(source, timeout=20.0), Status.DISK)


def test_descriptors(sandbox: Sandbox) -> None:
    result = sandbox.run("held = []\nwhile True: held.append(open('/dev/null'))", limits=Limits(descriptors=64))
    ended(result, Status.ERROR, 1)
    assert b"Too many open files" in result.stderr


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_output(sandbox: Sandbox, stream: str) -> None:
    source = f"import sys\nwhile True: sys.{stream}.buffer.write(b'x' * 4000)"
    result = sandbox.run(source, limits=Limits(timeout=20.0, output_kb=64))
    ended(result, Status.OUTPUT)
    assert getattr(result, stream) == b"x" * (64 << 10)


def test_output_as_long_as_allowed(sandbox: Sandbox) -> None:
    source = "import sys; sys.stdout.write('x' * (64 << 10)); sys.stderr.write('y' * (64 << 10))"
    result = sandbox.run(source, limits=Limits(timeout=20.0, output_kb=64))
    ended(result, Status.OK)
    assert (len(result.stdout), len(result.stderr)) == (64 << 10, 64 << 10)


def test_close_kills_what_runs(fresh: Callable[..., Sandbox], backend: str) -> None:
    claims(backend, "processes")
    box, marker = fresh(workers=1), f"{uuid.uuid4().int % 10**9 + 10**9}.5"
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(box.run, argv=["sleep", marker], timeout=60.0)
        assert until(lambda: bool(living(marker)))
        box.close()
        ended(running.result(), Status.KILLED)
    assert not living(marker)


def test_a_closed_sandbox_runs_nothing(fresh: Callable[..., Sandbox]) -> None:
    box = fresh()
    box.close()
    box.close()
    with pytest.raises(LyditeError):
        box.run("print(1)")


@pytest.mark.parametrize(
    "source",
    [
        "import os, signal\nfor pid in range(1, 9):\n    try: os.kill(pid, signal.SIGKILL)\n    except OSError: pass",
        "import os\nos.closerange(0, 1000)\nos._exit(9)",
        "import os, signal\nos.kill(-1, signal.SIGKILL)",
        "import os, signal\nos.killpg(0, signal.SIGKILL)",
        "import os, signal\nos.kill(os.getppid() or 1, signal.SIGSTOP)\nos._exit(125)",
        'import os\nfor n in range(3, 64):\n    try: os.write(n, b\'{"failed": "x"}\\n\')\n    except OSError: pass',
        "import ctypes\nctypes.string_at(0)",
        "import sys\nsys.setrecursionlimit(10 ** 9)\ndef f(): f()\nf()",
        "import os, shutil\nfor n in os.listdir('/'): shutil.rmtree('/' + n, ignore_errors=True)",
        "import os\nos.chmod('.', 0)\nos.chdir('/')",
        "print('\\x00' * 100, '{\"status\": \"invalid\"}')",
    ],
)
def test_no_program_can_be_our_fault(sandbox: Sandbox, backend: str, source: str) -> None:
    claims(backend, "isolation")
    assert sandbox.run(source, timeout=10.0).status is not Status.INVALID
    ended(sandbox.run("print(1)"), Status.OK)


# Bytes in and out


@pytest.mark.parametrize(
    "data",
    [b"", b"\x00", b"\xff\xfe\x80", b"no newline", b"\r\n\r", bytes(range(256)) * 64, b"\x00\xff" * 500_000],
    ids=lambda data: f"{data[:6]!r}x{len(data)}",
)
def test_bytes_pass_through_unchanged(sandbox: Sandbox, data: bytes) -> None:
    source = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"
    result = sandbox.run(source, stdin=data)
    ended(result, Status.OK)
    assert result.stdout == data


def test_bytes_pass_through_a_command(sandbox: Sandbox) -> None:
    data = bytes(range(256)) * 2000
    result = sandbox.run(argv=["cat"], stdin=data)
    assert (result.status, result.stdout) == (Status.OK, data)


def test_error_output_is_apart(sandbox: Sandbox) -> None:
    result = sandbox.run("import sys; print('out'); print('err', file=sys.stderr)")
    assert (result.stdout, result.stderr) == (b"out\n", b"err\n")


def test_both_outputs_at_once_do_not_block(sandbox: Sandbox) -> None:
    source = "import sys\nfor _ in range(300): sys.stdout.write('o' * 1000); sys.stderr.write('e' * 1000)"
    result = sandbox.run(source)
    ended(result, Status.OK)
    assert (len(result.stdout), len(result.stderr)) == (300_000, 300_000)


def test_input_need_not_be_read(sandbox: Sandbox) -> None:
    ended(sandbox.run("print('done')", stdin=b"x" * 1_000_000), Status.OK)


def test_input_ends(sandbox: Sandbox) -> None:
    source = "lines = []\nwhile True:\n    try: lines.append(input())\n    except EOFError: break\nprint(lines)"
    assert sandbox.run(source, stdin="a\n\nb").stdout == b"['a', '', 'b']\n"


def test_text_is_utf8_both_ways(sandbox: Sandbox) -> None:
    result = sandbox.run("print(input()[::-1])", stdin="ä☃𝄞")
    assert result.stdout == "𝄞☃ä\n".encode()


def test_input_that_is_no_utf8_does_not_break_a_program(sandbox: Sandbox) -> None:
    result = sandbox.run("import sys; sys.stdout.write(sys.stdin.read())", stdin=b"a\xffb")
    assert (result.status, result.stdout) == (Status.OK, b"a\xffb")


# Python programs


def test_source_may_hold_any_character(sandbox: Sandbox) -> None:
    result = sandbox.run("größe = 'ä☃𝄞'\nprint(größe, len(größe))")
    assert result.stdout == "ä☃𝄞 3\n".encode()


def test_a_program_is_main(sandbox: Sandbox) -> None:
    source = "import __main__\nx = 5\nprint(__name__, __main__.x)\nif __name__ == '__main__': print('ran')"
    assert sandbox.run(source).stdout == b"__main__ 5\nran\n"


def test_a_syntax_error_is_the_programs(sandbox: Sandbox) -> None:
    result = sandbox.run("x = (\n1 +\n")
    ended(result, Status.ERROR, 1)
    assert b"SyntaxError" in result.stderr
    assert b"main.py" in result.stderr


def test_a_traceback_names_file_line_and_text(sandbox: Sandbox) -> None:
    result = sandbox.run("def f():\n    return 1 / 0\nf()\n")
    ended(result, Status.ERROR, 1)
    text = result.stderr.decode()
    assert text.startswith("Traceback (most recent call last):\n")
    assert 'main.py", line 2, in f' in text
    assert "return 1 / 0" in text
    assert text.endswith("ZeroDivisionError: division by zero\n")
    assert text.count("File ") == 2


@pytest.mark.parametrize(
    ("source", "code", "said"),
    [
        ("import sys; sys.exit()", 0, b""),
        ("import sys; sys.exit(None)", 0, b""),
        ("import sys; sys.exit(0)", 0, b""),
        ("import sys; sys.exit(256)", 0, b""),
        ("import sys; sys.exit(-1)", 255, b""),
        ("import sys; sys.exit('words')", 1, b"words\n"),
        ("raise SystemExit(4)", 4, b""),
        ("raise SystemExit(True)", 1, b""),
        ("exit(5)", 5, b""),
        ("quit()", 0, b""),
        ("import os; os._exit(6)", 6, b""),
        ("raise KeyboardInterrupt", None, None),
    ],
)
def test_ways_to_leave(sandbox: Sandbox, source: str, code: int | None, said: bytes | None) -> None:
    result = sandbox.run(source)
    ended(result, Status.OK if code == 0 else Status.ERROR, code)
    assert said is None or result.stderr == said


def test_what_is_not_flushed_is_written_at_the_end(sandbox: Sandbox) -> None:
    source = "import atexit, sys, threading\natexit.register(print, 'atexit')\n"
    source += "threading.Timer(0.2, print, ['thread']).start()\nsys.stdout.write('main ')"
    assert sandbox.run(source).stdout == b"main thread\natexit\n"


def test_a_program_sees_the_standard_library_only(sandbox: Sandbox, backend: str) -> None:
    claims(backend, "isolation")
    source = "import json, decimal, sqlite3\nfor name in ('lydite', 'msgspec', 'pytest'):\n"
    source += "    try: __import__(name)\n    except ImportError: print('no', name)"
    assert sandbox.run(source).stdout == b"no lydite\nno msgspec\nno pytest\n"


def test_multiprocessing_works(sandbox: Sandbox, backend: str) -> None:
    claims(backend, "own folders")
    source = "from multiprocessing import Pool\ndef square(x): return x * x\nif __name__ == '__main__':\n"
    source += "    with Pool(2) as pool: print(pool.map(square, range(5)))"
    result = sandbox.run(source)
    assert result.stdout == b"[0, 1, 4, 9, 16]\n", result


# Files, arguments, environment


def test_files_are_there(sandbox: Sandbox) -> None:
    files = {"a.txt": "text", "deep/er/b.bin": b"\x00\xff", "run.sh": "#!/bin/sh\necho ran\n"}
    source = "import os, subprocess\nprint(open('a.txt').read(), open('deep/er/b.bin', 'rb').read())\n"
    source += "print(subprocess.run(['./run.sh'], capture_output=True).stdout)"
    result = sandbox.run(source, files=files)
    assert result.stdout == b"text b'\\x00\\xff'\nb'ran\\n'\n", result


def test_a_file_can_be_imported(sandbox: Sandbox) -> None:
    result = sandbox.run("import helper; print(helper.X)", files={"helper.py": "X = 7"})
    assert result.stdout == b"7\n", result


def test_the_working_directory_holds_the_files_alone_and_is_writable(sandbox: Sandbox) -> None:
    source = "import os; print(sorted(os.listdir('.'))); open('new', 'w').write('x'); os.mkdir('d')"
    assert sandbox.run(source, files={"one": "1"}).stdout == b"['one']\n"


@pytest.mark.parametrize("path", ["../out", "/etc/passwd", "a/../../b", "", ".", "a\x00b"])
def test_a_path_that_leads_out_is_refused(sandbox: Sandbox, path: str) -> None:
    with pytest.raises(InputError):
        sandbox.run("pass", files={path: "x"})


@pytest.mark.parametrize("folder", [".", "/tmp", "/dev/shm"])
def test_nothing_passes_from_job_to_job(sandbox: Sandbox, backend: str, folder: str) -> None:
    claims(backend, "isolation")
    if folder != ".":
        claims(backend, "own folders")
    for _ in range(3):  # whichever worker it meets
        made = sandbox.run(f"import os; open('{folder}/left', 'w').write('x'); print(sorted(os.listdir('{folder}')))")
        assert made.stdout == b"['left']\n", made


def test_arguments_arrive_as_they_are(sandbox: Sandbox) -> None:
    words = ["", "two words", "new\nline", "$HOME", "'\"", "ä☃", "-x", "*"]
    result = sandbox.run(argv=["sh", "-c", 'for word in "$@"; do printf "<%s>" "$word"; done', "sh", *words])
    assert result.stdout.decode() == "".join(f"<{word}>" for word in words)


def test_a_program_that_is_not_there_is_the_jobs_fault(sandbox: Sandbox) -> None:
    ended(sandbox.run(argv=["no-such-program-anywhere"]), Status.ERROR, 127)


def test_a_file_that_cannot_be_executed_is_the_jobs_fault(sandbox: Sandbox) -> None:
    ended(sandbox.run(argv=["./plain"], files={"plain": "text"}), Status.ERROR, 126)


@pytest.mark.parametrize(
    ("tool", "argv"),
    [
        ("sh", ["sh", "-c", "echo $((6 * 7))"]),
        ("bash", ["bash", "-c", "words=(a b); echo $(( ${#words[@]} * 21 ))"]),
        ("node", ["node", "-e", "console.log([6, 7].reduce((a, b) => a * b))"]),
        ("perl", ["perl", "-e", 'print 6 * 7, "\\n"']),
        ("gcc", ["sh", "-c", "gcc -o prog prog.c && ./prog"]),
        ("python3", ["python3", "-c", "print(6 * 7)"]),
    ],
)
def test_any_language(sandbox: Sandbox, tool: str, argv: list[str]) -> None:
    available(sandbox, tool)
    files = {"prog.c": '#include <stdio.h>\nint main(void) { printf("%d\\n", 6 * 7); return 0; }\n'}
    result = sandbox.run(argv=argv, files=files, limits=Limits(timeout=60.0, memory_mb=1024))
    assert (result.status, result.stdout) == (Status.OK, b"42\n"), result


def test_the_environment_is_what_is_given(sandbox: Sandbox) -> None:
    result = sandbox.run("import os; print(os.environ['A'], os.environ.get('PATH') is not None)", env={"A": "b c"})
    assert result.stdout == b"b c True\n", result


def test_nothing_of_ours_is_in_the_environment(sandbox: Sandbox) -> None:
    source = f"import os; print('{SECRET}' in os.environ)"
    assert sandbox.run(source).stdout == b"False\n"
    assert SECRET.encode() not in sandbox.run(argv=["env"]).stdout


def test_nothing_of_ours_is_in_the_environment_of_any_process(sandbox: Sandbox, backend: str) -> None:
    claims(backend, "isolation")
    result = sandbox.run(argv=["sh", "-c", "cat /proc/*/environ /proc/*/task/*/environ 2>/dev/null; true"])
    ended(result, Status.OK)
    assert b"hunter2" not in result.stdout


# Many inputs of one program


def test_a_batch_equals_single_runs(sandbox: Sandbox) -> None:
    source = (
        "import sys\nn = int(input())\nprint(n * n)\nif n == 3: sys.exit(9)\nif n == 4: print('x', file=sys.stderr)"
    )
    inputs = [f"{n}\n" for n in range(6)]
    batch = sandbox.run_batch(source, inputs)
    single = [sandbox.run(source, stdin=data) for data in inputs]
    assert [(r.status, r.exit_code, r.stdout, r.stderr) for r in batch] == [
        (r.status, r.exit_code, r.stdout, r.stderr) for r in single
    ]


@pytest.mark.parametrize(
    "deed",
    [
        "import os; os._exit(7)",
        "import os; os.kill(os.getpid(), 9)",
        "while True: pass",
        "x = bytearray(1 << 40)",
        "1 / 0",
    ],
)
def test_one_input_that_fails_leaves_the_others_alone(sandbox: Sandbox, deed: str) -> None:
    source = f"n = input()\nif n == '2':\n    {deed}\nprint('got', n)"
    results = sandbox.run_batch(source, [str(n) for n in range(5)], timeout=2.0)
    assert [r.stdout for r in results if r.status is Status.OK] == [b"got 0\n", b"got 1\n", b"got 3\n", b"got 4\n"]
    assert results[2].status not in (Status.OK, Status.INVALID)


def test_a_batch_of_nothing_is_nothing(sandbox: Sandbox) -> None:
    assert sandbox.run_batch("print(1)", []) == []


def test_a_program_gives_the_same_twice(sandbox: Sandbox) -> None:
    source = "print(hash('word'), {w for w in 'some words in a set'.split()}, sorted(__import__('os').environ))"
    results = [sandbox.run(source) for _ in range(4)]
    assert len({(r.status, r.exit_code, r.stdout) for r in results}) == 1, results


# Sessions


def test_a_session_keeps_its_files(sandbox: Sandbox) -> None:
    with sandbox.session({"in/a.txt": "one"}) as work:
        ended(work.exec("cat in/a.txt > b.txt; echo two >> b.txt"), Status.OK, 0)
        assert work.exec(["cat", "b.txt"]).stdout == b"onetwo\n"
        assert work.list() == ["b.txt", "in/"]


def test_a_command_tells_how_it_ended(sandbox: Sandbox) -> None:
    with sandbox.session() as work:
        result = work.exec("echo out; echo err >&2; cat; exit 3", stdin=b"\x00in", env={"A": "b"})
        assert (result.status, result.exit_code) == (Status.ERROR, 3)
        assert (result.stdout, result.stderr, result.backend) == (b"out\n\x00in", b"err\n", sandbox.backend)
        ended(work.exec("kill -9 $$"), Status.ERROR, -9)
        assert work.exec('echo "$A"', env={"A": "b"}).stdout == b"b\n"
        assert work.exec('echo "$A"').stdout == b"\n"


def test_files_of_a_session(sandbox: Sandbox) -> None:
    data = bytes(range(256)) * 1000
    with sandbox.session() as work:
        work.write("deep/er/file", data)
        work.write("deep/er/file", data[::-1])
        work.write("go", "#!/bin/sh\necho went\n", executable=True)
        assert work.read("deep/er/file") == data[::-1]
        assert work.exec("./go; echo more >> deep/er/file").stdout == b"went\n"
        assert work.read("deep/er/file") == data[::-1] + b"more\n"
        assert work.list("deep") == ["er/"]
        work.remove("deep")
        work.remove("go")
        assert work.list() == []


def test_what_commands_made_can_be_replaced_and_removed(sandbox: Sandbox) -> None:
    with sandbox.session() as work:
        ended(work.exec("mkdir -p a/b; echo x > a/b/c; chmod 500 a/b; chmod 400 a/b/c; chmod 500 a"), Status.OK)
        assert work.read("a/b/c") == b"x\n"
        work.write("a/b/c", "new")
        assert work.exec("cat a/b/c").stdout == b"new"
        work.remove("a")
        assert work.list() == []


def test_what_is_written_belongs_to_the_commands(sandbox: Sandbox) -> None:
    with sandbox.session({"given/file": "1"}) as work:
        work.write("made/later/file", "2")
        ended(work.exec("echo 3 >> given/file && echo 3 >> made/later/file && rm -r given made"), Status.OK, 0)


def test_errors_of_file_operations(sandbox: Sandbox) -> None:
    with sandbox.session({"file": "x"}) as work:
        ended(work.exec("ln -s /etc/passwd link; ln -s /etc out"), Status.OK)
        for wrong in (lambda: work.read("none"), lambda: work.list("none"), lambda: work.remove("none")):
            with pytest.raises(FileNotFoundError):
                wrong()
        with pytest.raises(NotADirectoryError):
            work.list("file")
        for wrong in (lambda: work.read("link"), lambda: work.read("out/passwd"), lambda: work.list("out")):
            with pytest.raises(OSError, match=r"."):
                wrong()
        for path in ("../x", "/etc/passwd", "a/../../x"):
            with pytest.raises(InputError):
                work.read(path)
        with pytest.raises(OSError, match=r"."):
            work.read("file", limit=0)


def test_nothing_is_written_through_a_link(sandbox: Sandbox, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("safe")
    target.chmod(0o666)
    with sandbox.session() as work:
        ended(work.exec(f"ln -s {target} link; ln -s {tmp_path} folder"), Status.OK)
        work.write("link", "new")
        with pytest.raises(OSError, match=r"."):
            work.write("folder/target", "new")
        assert target.read_text() == "safe"
        assert work.read("link") == b"new"


def test_a_session_goes_on_after_a_limit(sandbox: Sandbox) -> None:
    with sandbox.session({"kept": "1"}) as work:
        ended(work.exec("echo 2 >> kept; sleep 1000", timeout=1.0), Status.TIMEOUT)
        ended(
            work.exec("while :; do echo xxxxxxxxxxxxxxxx; done", limits=Limits(timeout=20.0, output_kb=8)),
            Status.OUTPUT,
        )
        assert work.exec("cat kept").stdout == b"12\n"


def test_a_background_process_does_not_hold_up_a_command(sandbox: Sandbox) -> None:
    with sandbox.session() as work:
        result = work.exec("sleep 1000 & echo back", timeout=30.0)
        assert (result.status, result.stdout) == (Status.OK, b"back\n")


def test_a_background_process_goes_on(sandbox: Sandbox, backend: str) -> None:
    claims(backend, "background")
    with sandbox.session() as work:
        ended(work.exec("(while [ ! -e go ]; do sleep 0.05; done; echo seen > answer) > /dev/null 2>&1 &"), Status.OK)
        work.write("go", "")
        assert until(lambda: "answer" in work.list())


def test_nothing_runs_after_freeze(sandbox: Sandbox) -> None:
    marker = f"{uuid.uuid4().int % 10**9 + 10**9}.25"
    with sandbox.session({"file": "x"}) as work:
        ended(work.exec(f"sleep {marker} & (while :; do echo x >> file; done) & :"), Status.OK)
        work.freeze()
        work.freeze()
        assert work.digest() == work.digest()
        assert not living(marker)
        assert work.read("file")
        with pytest.raises(LyditeError):
            work.exec("true")


def test_a_digest_is_of_the_content_alone(sandbox: Sandbox) -> None:
    with sandbox.session({"a/b": "1", "c": "2"}) as one, sandbox.session({"c": "2"}) as two:
        ended(two.exec("mkdir a; echo -n 1 > a/b; touch -d 1999-01-01 c"), Status.OK)
        two.write("a/b", "1")
        assert one.digest() == two.digest() == one.digest()
        two.write("c", "3")
        assert one.digest() != two.digest()


def test_a_snapshot_starts_another_session(sandbox: Sandbox) -> None:
    with sandbox.session({"a/b": b"\x00\xff"}) as one:
        ended(one.exec("echo x > c"), Status.OK)
        kept = one.snapshot()
    with sandbox.session(kept) as two:
        assert (two.read("a/b"), two.read("c")) == (b"\x00\xff", b"x\n")


def test_export(sandbox: Sandbox, tmp_path: Path) -> None:
    with sandbox.session({"a/b": b"\x00\xff"}) as work:
        ended(work.exec("ln -s /etc/passwd out; ln -s a/b in; printf '#!/bin/sh' > p; chmod +x p"), Status.OK)
        work.freeze()
        left = work.export(tmp_path / "copy")
    assert (tmp_path / "copy/a/b").read_bytes() == b"\x00\xff"
    assert os.access(tmp_path / "copy/p", os.X_OK)
    assert not os.path.lexists(tmp_path / "copy/out")
    assert len(left) == 1


def test_sessions_are_apart(sandbox: Sandbox, backend: str) -> None:
    claims(backend, "isolation")
    claims(backend, "own folders")
    with sandbox.session({"mine": "1"}) as one, sandbox.session() as two:
        ended(one.exec("echo x > /tmp/mine"), Status.OK)
        assert two.list() == []
        ended(two.exec("test -e /tmp/mine"), Status.ERROR, 1)


def test_a_closed_session_does_nothing(sandbox: Sandbox) -> None:
    work = sandbox.session()
    work.close()
    work.close()
    with pytest.raises(LyditeError):
        work.exec("true")
    with pytest.raises(LyditeError):
        work.list()


# Many at once


def test_sixteen_threads_at_once(sandbox: Sandbox) -> None:
    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(lambda n: sandbox.run("print(int(input()) ** 2)", stdin=str(n)), range(32)))
    assert [r.stdout for r in results] == [b"%d\n" % n**2 for n in range(32)]


def test_sessions_in_threads(sandbox: Sandbox) -> None:
    def work(number: int) -> bytes:
        with sandbox.session({"n": str(number)}) as session:
            session.exec("cat n n > nn")
            return session.read("nn")

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == [f"{n}{n}".encode() for n in range(8)]


def test_the_clock_starts_with_the_program(fresh: Callable[..., Sandbox]) -> None:
    box = fresh(workers=1)
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(lambda _: box.run("import time; time.sleep(0.4)", timeout=1.5), range(6)))
    assert {r.status for r in results} == {Status.OK}


def test_a_fork_can_use_it_and_leaves_it_alone(sandbox: Sandbox) -> None:
    with sandbox.session({"a": "1"}) as work:
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                good = sandbox.run("print(2)").stdout == b"2\n"
                with sandbox.session() as own:
                    good = good and own.exec("echo x").stdout == b"x\n"
                sandbox.close()
                os._exit(7 if good else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        assert sandbox.run("print(3)").stdout == b"3\n"
        assert work.exec("cat a").stdout == b"1"


def test_asynchronous_calls(sandbox: Sandbox) -> None:
    async def all_of_them() -> list[ExecResult]:
        return await asyncio.gather(*(sandbox.arun(f"print({n})") for n in range(6)))

    assert [r.stdout for r in asyncio.run(all_of_them())] == [b"%d\n" % n for n in range(6)]


def test_an_honest_job_beside_a_hostile_one(sandbox: Sandbox) -> None:
    hostile = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
    with ThreadPoolExecutor(2) as pool:
        bad = pool.submit(sandbox.run, hostile, limits=Limits(timeout=2.0, processes=16))
        for n in range(3):
            assert sandbox.run(f"print({n})").stdout == b"%d\n" % n
        assert bad.result().status in (Status.TIMEOUT, Status.PROCESSES)


# Nothing is left


@pytest.fixture
def temp(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of temporary files for one test. Other users get through it, as through the usual one."""
    folder = Path(tempfile.mkdtemp(prefix="lydite-contract-"))
    folder.chmod(0o711)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_close_leaves_nothing(fresh: Callable[..., Sandbox], backend: str, temp: Path) -> None:
    marker = f"{uuid.uuid4().int % 10**9 + 10**9}.75"
    mounts = Path("/proc/self/mountinfo").read_text()
    descriptors, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
    box = fresh()
    box.run("print(1)")
    box.run("while True: print('x')")
    work = box.session({"a": "1"})
    work.exec(f"sleep {marker} &")
    escape = "" if backend == "unsafe" else "setsid "
    work.exec(f"{escape}sh -c 'sleep {marker} & sleep {marker}' > /dev/null 2>&1 &")
    work.exec("mkdir -p deep/er; chmod 0 deep; true")
    box.close()
    assert not living(marker)
    assert os.listdir(temp) == []
    assert Path("/proc/self/mountinfo").read_text() == mounts
    work.close()
    assert until(lambda: threading.active_count() <= threads)
    assert len(os.listdir("/proc/self/fd")) <= descriptors


_VICTIM = """
import faulthandler, signal, sys, tempfile
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may have it ignored
faulthandler.dump_traceback_later(15)
tempfile.tempdir = sys.argv[2]
from lydite.sandbox import Sandbox
box = Sandbox(sys.argv[1], workers=1)
work = box.session({"a": "1"})
work.exec(["sh", "-c", f"sleep {sys.argv[3]} &"])
print("ready", flush=True)
box.run(argv=["sleep", sys.argv[3]], timeout=60.0)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_killed_parent_leaves_nothing(sandbox: Sandbox, backend: str, temp: Path, number: int) -> None:
    marker = f"{uuid.uuid4().int % 10**9 + 10**9}.125"
    command = [sys.executable, "-c", _VICTIM, backend, str(temp), marker]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stderr is not None
        assert parent.stdout.readline() == b"ready\n", parent.stderr.read()
        text, few = shown(backend, marker, temp)
        assert until(lambda: len(living(text)) > few)
        parent.send_signal(number)
        if not until(lambda: parent.poll() is not None):
            parent.kill()
            pytest.fail(parent.stderr.read().decode())
    assert until(lambda: not living(text))
    assert until(lambda: os.listdir(temp) == [])

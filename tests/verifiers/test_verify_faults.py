"""``lydite verify`` where streams are closed, workers are killed, or a line says two things."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

COMMAND = [sys.executable, "-c", "from lydite.cli import main; main()", "verify"]
ROW = {"id": 23, "completion": "\\boxed{5}", "gold": "5"}


def run(*arguments: str, data: bytes | None = None, **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *arguments], input=data, capture_output=True, timeout=120, **options)


def lines(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


def jsonl(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


@pytest.mark.parametrize("line", [b"\0", b"\0\n", b"\0\r\n", b"\0\0\n"])
def test_a_line_of_nul_is_no_long_line(line: bytes) -> None:
    (row,) = lines(run("-", "--verifier", "math", data=line).stdout)
    assert row["reason"] == "unreadable_line"
    assert "MiB" not in row["detail"]


@pytest.mark.parametrize(
    ("line", "key"),
    [
        (b'{"completion": "1", "completion": "2", "gold": "2"}', "completion"),
        (b'{"completion": "2", "gold": "1", "gold": "2"}', "gold"),
        (b'{"completion": "2", "gold": "2", "gold": "\\ud800"}', "gold"),
        (b'{"completion": "2", "checker": {"type": "math", "config": {"answer": "1", "answer": "2"}}}', "answer"),
        (b'{"completion": "2", "checker": {"type": "exact", "type": "math", "config": {"answer": "2"}}}', "type"),
    ],
)
def test_a_key_that_stands_twice_is_named(line: bytes, key: str) -> None:
    (row,) = lines(run("-", "--verifier", "math", data=line).stdout)
    assert row["reason"] == "unreadable_line"
    assert f"{key}: stands twice" in row["detail"]


def test_words_that_read_like_keys_are_no_keys() -> None:
    rows = (
        {"id": "id", "completion": 'the "completion" of "gold": \\boxed{5}', "gold": "5", "prompt": "completion"},
        {"id": "gold", "completion": "\\boxed{5}", "gold": "5", "meta": {"gold": 1, "id": [{"id": 1}]}},
        {"id": 1, "checker": {"type": "exact", "config": {"answer": "type"}}, "completion": "type", "type": "answer"},
    )
    done = run("-", "--verifier", "math", data=jsonl(*rows))
    assert [row["outcome"] for row in lines(done.stdout)] == ["correct"] * 3, done.stdout


@pytest.mark.parametrize(
    "row", [{"id": 23, "gold": "12"}, {"id": 23, "completion": 5}, {"id": 23, "completion": "5", "checker": {}}]
)
def test_an_unusable_line_keeps_its_id(row: dict[str, Any]) -> None:
    (out,) = lines(run("-", "--verifier", "math", data=jsonl(row)).stdout)
    assert (out["id"], out["outcome"]) == (23, "invalid")


def test_an_unusable_line_is_told_by_file_and_number(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(jsonl(ROW) + b"{\n")
    done = run(str(source), "--verifier", "math")
    assert lines(done.stdout)[1]["detail"].startswith(f"{source}:2: ")


def test_no_folder_is_made_for_the_output(tmp_path: Path) -> None:
    target = tmp_path / "nowhere" / "out.jsonl"
    done = run("-", "-o", str(target), "--verifier", "math", data=jsonl(ROW))
    assert done.returncode == 2
    assert b"no such folder" in done.stderr
    assert not target.parent.exists()


def closed(stream: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """The command as a shell runs it with one of its streams closed."""
    script = f'exec "$0" "$@" {stream}'
    return subprocess.run(["/bin/sh", "-c", script, *COMMAND, *arguments], capture_output=True, timeout=120)


def test_closed_standard_input_and_output_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(jsonl(ROW))
    for done in (closed(">&-", str(source), "--verifier", "math"), closed("<&-", "-", "--verifier", "math")):
        assert done.returncode == 2
        assert b"is closed" in done.stderr
        assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("options", [(), ("--jobs", "2")])
@pytest.mark.parametrize("stream", ["2>&-", "<&- 2>&-", "<&- >&- 2>&-"])
def test_verdicts_are_whole_where_other_streams_are_closed(
    tmp_path: Path, stream: str, options: tuple[str, ...]
) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    own = tmp_path / "own.py"
    own.write_text("def check(submission, config):\n    print('printed', flush=True)\n    return 1.0\n")
    source.write_bytes(jsonl(ROW, ROW))
    done = closed(stream, str(source), "-o", str(target), "--verifier", f"{own}:check", *options)
    assert done.returncode == 0
    assert [row["outcome"] for row in lines(target.read_bytes())] == ["correct"] * 2
    if ">&- 2" not in stream:
        done = closed("2>&-", str(source), "--verifier", f"{own}:check", *options)
        assert [row["outcome"] for row in lines(done.stdout)] == ["correct"] * 2


def test_other_commands_say_that_there_is_no_standard_output() -> None:
    code = "from lydite.cli import main; main()"
    shell = ["/bin/sh", "-c", 'exec "$0" "$@" >&-', sys.executable, "-c", code, "verifiers", "list", "--json"]
    done = subprocess.run(shell, capture_output=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: standard output is closed")


@pytest.fixture
def killed(tmp_path: Path) -> str:
    """A verifier whose process is killed where the text says so: once, or whenever."""
    file = tmp_path / "killed.py"
    file.write_text(
        "import os, pathlib\n"
        "def killed(submission, config):\n"
        "    way, _, number = submission.text.partition(' ')\n"
        "    mark = pathlib.Path(__file__).with_name(submission.text)\n"
        "    if way == 'always' or (way == 'once' and not mark.exists()):\n"
        "        mark.touch()\n"
        "        os.kill(os.getpid(), int(number))\n"
        "    return 1.0\n"
    )
    return f"{file}:killed"


def test_a_line_whose_worker_was_killed_is_judged_once_more(killed: str) -> None:
    texts = ["a", "once 9", "b", "once 15", "always 9", "c", "once 11", "d"]
    data = jsonl(*({"id": n, "completion": text} for n, text in enumerate(texts)))
    done = run("-", "--verifier", killed, "--jobs", "2", data=data)
    out = lines(done.stdout)
    assert [row["id"] for row in out] == list(range(len(texts)))
    lost = [row for row in out if row["outcome"] != "correct"]
    assert [(row["id"], row["reason"], row["line"]) for row in lost] == [(4, "worker_died", 5), (6, "worker_died", 7)]
    assert {row["verifier"] for row in lost} == {"killed@1"}
    assert b"2 have no score" in done.stderr


@pytest.mark.parametrize("times", [1, 3])
def test_a_worker_that_is_killed_while_it_starts_is_started_again(tmp_path: Path, times: int) -> None:
    (tmp_path / "count").write_text("")
    (tmp_path / "slain.py").write_text(
        "import os, pathlib, signal\n"
        "from lydite.verifiers.run import make_judge\n"
        "count = pathlib.Path(__file__).with_name('count')\n"
        f"if len(count.read_text()) < {times}:\n"
        "    count.write_text(count.read_text() + 'x')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import msgspec\n"
        "from lydite.verifiers.pool import map_in_processes\n"
        "from lydite.verifiers.chunks import PACKED, Pace\n"
        "item = [{'type': 'exact', 'config': {'answer': 'x'}}, 'x']\n"
        "print(len(list(map_in_processes('slain:make_judge', [msgspec.msgpack.encode([item])], 1, PACKED, Pace()))))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert done.stdout == "1\n", done.stderr


def _below(pid: int) -> set[int]:
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found |= {child} | _below(child)
    return found


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("sandboxed", [False, True])
def test_workers_end_with_their_parent_whatever_they_are_at(
    tmp_path: Path, number: signal.Signals, sandboxed: bool
) -> None:
    source = tmp_path / "in.jsonl"
    if sandboxed:
        config = {"tests": [{"call": "f", "args": [], "expected": 1}], "timeout": 500}
        said = "```python\nimport time\ndef f():\n    time.sleep(400)\n    return 1\n```"
        source.write_bytes(20 * jsonl({"completion": said, "checker": {"type": "code", "config": config}}))
    else:
        own = tmp_path / "own.py"
        own.write_text("import time\ndef check(submission, config):\n    time.sleep(400)\n    return 1.0\n")
        source.write_bytes(20 * jsonl({"completion": "x", "checker": {"type": f"{own}:check", "config": {}}}))
    with subprocess.Popen(
        [*COMMAND, str(source), "--jobs", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        until = time.monotonic() + 60
        while len(_below(process.pid)) < (4 if sandboxed else 1) and time.monotonic() < until:
            time.sleep(0.1)
        time.sleep(1.0)  # into the work
        below = _below(process.pid)
        os.kill(process.pid, number)
    until = time.monotonic() + 30
    while any(map(_alive, below)) and time.monotonic() < until:
        time.sleep(0.1)
    left = {pid for pid in below if _alive(pid)}
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert below
    assert not left


def test_a_verifier_that_goes_to_another_folder_is_still_found(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "own.py").write_text(
        "import os\ndef check(submission, config):\n    os.chdir('/')\n    return submission.text == config['answer']\n"
    )
    rows = [{"completion": "x", "gold": f"{n}"} for n in range(3)]
    configs = [{"answer": "x"}, {"answer": "x", "more": 1}]  # each is compiled, so looked for
    own = [{"completion": "x", "checker": {"type": "own.py:check", "config": config}} for config in configs]
    done = run("-", "--verifier", "own.py:check", data=jsonl(*rows, *own), cwd=tmp_path)
    assert [row["outcome"] for row in lines(done.stdout)] == ["incorrect"] * 3 + ["correct"] * 2, done.stdout


def test_a_full_disk_is_told_while_there_is_more_to_judge(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text("import time\ndef check(submission, config):\n    time.sleep(0.3)\n    return 1.0\n")
    process = subprocess.Popen(
        [*COMMAND, "-", "-o", "/dev/full", "--verifier", f"{own}:check"],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stderr is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(jsonl(*({"completion": "x" * 9000} for _ in range(12))))
        process.stdin.flush()  # and more may come
    process.wait(timeout=60)
    assert b"No space left" in process.stderr.read()
    process.stderr.close()
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()

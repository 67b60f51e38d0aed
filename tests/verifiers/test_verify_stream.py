"""``lydite verify`` on odd lines, slow checks, long inputs, and when it is stopped."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

COMMAND = [sys.executable, "-c", "from lydite.cli import main; main()", "verify"]
GOOD = b'{"id": "good", "completion": "\\\\boxed{5}", "gold": "5"}'


def run(*arguments: str, data: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *arguments], input=data, capture_output=True, timeout=180)


def lines(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


def jsonl(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


ODD_LINES = {
    "NUL byte": (b'{"completion": "\0", "gold": "5"}', "invalid"),
    "NUL alone": (b"\0", "invalid"),
    "escaped NUL": (b'{"completion": "\\u0000 \\\\boxed{5}", "gold": "5"}', "correct"),
    "invalid UTF-8": (b'{"completion": "\xff\xfe", "gold": "5"}', "invalid"),
    "overlong UTF-8": (b'{"completion": "\xc0\xaf", "gold": "5"}', "invalid"),
    "surrogate in UTF-8": (b'{"completion": "\xed\xa0\x80", "gold": "5"}', "unparseable"),
    "lone surrogate escape": (b'{"completion": "\\ud800 \\\\boxed{5}", "gold": "5"}', "correct"),
    "lone surrogate in a key": (b'{"completion": "\\\\boxed{5}", "gold": "5", "\\udfff": 1}', "correct"),
    "lone surrogate in the gold": (b'{"completion": "5", "gold": "\\ud800"}', None),
    "carriage return": (b'{"completion": "\\\\boxed{5}", "gold": "5"}\r', "correct"),
    "carriage return between": (b'{"completion": "\\\\boxed{5}",\r"gold": "5"}', "correct"),
    "byte order mark": (b'\xef\xbb\xbf{"completion": "\\\\boxed{5}", "gold": "5"}', "correct"),
    "line separators": ('{"completion": "\u2028\x85 \\\\boxed{5}", "gold": "5"}'.encode(), "correct"),
    "nested gold": (b'{"completion": "5", "gold": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "invalid"),
    "nested id": (b'{"id": ' + b"[" * 100_000 + b"]" * 100_000 + b', "completion": "5", "gold": "5"}', "invalid"),
    "nested unknown field": (
        b'{"x": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b', "completion": ""}',
        "invalid",
    ),
    "nested checker": (
        b'{"completion": "5", "checker": {"type": "math", "config": {"answer": ' + b"[" * 400 + b"]" * 400 + b"}}}",
        "invalid",
    ),
    "unclosed nesting": (b"[" * 1_000_000, "invalid"),
    "number as completion": (b'{"completion": 5, "gold": "5"}', "invalid"),
    "object as completion": (b'{"completion": {"role": "assistant"}, "gold": "5"}', "invalid"),
    "numbers as messages": (b'{"completion": [1, 2], "gold": "5"}', "invalid"),
    "no object": (b'"\\\\boxed{5}"', "invalid"),
    "two objects": (b'{"completion": "5", "gold": "5"} {}', "invalid"),
    "duplicate keys": (b'{"completion": "\\\\boxed{6}", "gold": "5", "completion": "\\\\boxed{5}"}', "invalid"),
    "long number": (b'{"completion": "\\\\boxed{5}", "gold": ' + b"9" * 5000 + b"}", None),
    "not a number": (b'{"completion": "\\\\boxed{5}", "gold": NaN}', None),
    "infinite number": (b'{"completion": "\\\\boxed{5}", "gold": 1e999}', None),
    "gold is null": (b'{"completion": "\\\\boxed{5}", "gold": null}', "invalid"),
}
"""Label to a line and the outcome that it must have; ``None`` where any will do."""


@pytest.mark.parametrize("options", [(), ("--jobs", "2")])
def test_odd_lines_cost_themselves_alone(options: tuple[str, ...]) -> None:
    data = GOOD + b"\n" + b"".join(line + b"\n" + GOOD + b"\n" for line, _ in ODD_LINES.values())
    done = run("-", "--verifier", "math", *options, data=data)
    assert done.returncode == 2, done.stderr
    out = lines(done.stdout)
    assert len(out) == 2 * len(ODD_LINES) + 1
    assert [(row["id"], row["outcome"]) for row in out[::2]] == [("good", "correct")] * (len(ODD_LINES) + 1)
    told = {name: row["outcome"] for name, row in zip(ODD_LINES, out[1::2], strict=True)}
    assert told == {name: outcome or told[name] for name, (_, outcome) in ODD_LINES.items()}
    for number, row in enumerate(out, 1):
        if row["reason"] == "unreadable_line":
            assert row["line"] == number
            assert str(number) in row["detail"]


def test_empty_lines_count_and_the_last_line_needs_no_end() -> None:
    out = lines(run("-", "--verifier", "math", data=b"\n \r\n" + GOOD + b"\n\n{\n" + GOOD).stdout)
    assert [row["outcome"] for row in out] == ["correct", "invalid", "correct"]
    assert out[1]["line"] == 5


@pytest.mark.parametrize("last", [False, True])
def test_a_line_of_100_mb_is_refused_and_the_others_are_judged(tmp_path: Path, last: bool) -> None:
    source = tmp_path / "in.jsonl"
    with source.open("wb") as file:
        file.write(GOOD + b'\n{"completion": "')
        file.writelines(b"x" * 1_000_000 for _ in range(100))
        file.write(b'"}' if last else b'"}\n' + GOOD)
    done = run(str(source), "--verifier", "math")
    assert done.returncode == 2
    out = lines(done.stdout)
    assert [row["outcome"] for row in out] == ["correct", "invalid", "correct"][: 2 if last else 3]
    assert out[1]["line"] == 2
    assert "64 MiB" in out[1]["detail"]


def test_no_input_is_no_output() -> None:
    done = run("-", "--verifier", "math", "--jobs", "2", data=b"")
    assert (done.returncode, done.stdout) == (0, b"")


@pytest.mark.parametrize("options", [(), ("--jobs", "2")])
def test_what_a_verifier_prints_stays_out_of_the_data(tmp_path: Path, options: tuple[str, ...]) -> None:
    own = tmp_path / "own.py"
    own.write_text(
        "import os\ndef check(submission, config):\n    print('printed')\n    os.write(1, b'written')\n    return 1.0\n"
    )
    done = run("-", "--verifier", f"{own}:check", *options, data=jsonl(*({"completion": "x"} for _ in range(9))))
    assert [row["outcome"] for row in lines(done.stdout)] == ["correct"] * 9
    assert done.stderr.count(b"written") == 9


@pytest.mark.parametrize("options", [(), ("--jobs", "2")])
def test_a_verdict_that_cannot_be_written_is_invalid(tmp_path: Path, options: tuple[str, ...]) -> None:
    own = tmp_path / "own.py"
    own.write_text(
        "from lydite.verdict import Verdict\n"
        "odd = {'raw': object(), 'text': '\\ud800'}\n"
        "def check(submission, config):\n"
        "    return Verdict.of(1.0, 'odd', 'check@1', detail=odd[submission.text])\n"
    )
    data = jsonl({"completion": "raw"}, {"completion": "text"})
    done = run("-", "--verifier", f"{own}:check", *options, data=data)
    assert [row["reason"] for row in lines(done.stdout)] == ["unwritable_verdict"] * 2


@pytest.fixture
def slow(tmp_path: Path) -> str:
    """A verifier that compiles and judges in as many seconds as it is told."""
    file = tmp_path / "slow.py"
    file.write_text(
        "import time\n"
        "from lydite.verdict import Verdict\n"
        "class Slow:\n"
        "    name, version = 'slow', 1\n"
        "    def compile(self, config):\n"
        "        time.sleep(config.get('compile', 0))\n"
        "        def check(submission):\n"
        "            time.sleep(float(submission.text))\n"
        "            return Verdict.of(1.0, 'done', 'slow@1')\n"
        "        return check\n"
    )
    return f"{file}:Slow"


def test_a_time_limit_counts_from_the_check_not_from_the_queue(slow: str) -> None:
    data = jsonl(*({"id": n, "completion": "0.1"} for n in range(80)))
    done = run("-", "--verifier", slow, "--jobs", "2", "--timeout", "2", data=data)
    out = lines(done.stdout)  # 4 s of work for each worker, most of which an item spends waiting
    assert [(row["id"], row["outcome"]) for row in out] == [(n, "correct") for n in range(80)]


def test_a_time_limit_does_not_count_what_prepares_the_check(slow: str) -> None:
    checkers = [{"type": slow, "config": {"compile": 1.5, "n": n}} for n in range(3)]
    done = run("-", "--timeout", "1", data=jsonl(*({"completion": "0", "checker": checker} for checker in checkers)))
    assert [row["outcome"] for row in lines(done.stdout)] == ["correct"] * 3


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_check_that_is_too_slow_costs_its_line_alone(slow: str, jobs: str) -> None:
    texts = ["0"] * 20 + ["60"] + ["0"] * 20 + ["60", "60"] + ["0"] * 20
    data = jsonl(*({"id": n, "completion": text} for n, text in enumerate(texts)))
    out = lines(run("-", "--verifier", slow, "--jobs", jobs, "--timeout", "1.5", data=data).stdout)
    assert [row["id"] for row in out] == list(range(len(texts)))
    assert [row["reason"] for row in out] == ["timeout" if text == "60" else "done" for text in texts]
    assert {row["verifier"] for row in out} == {"slow@1"}
    assert {row["seconds"] for row in out if row["reason"] == "timeout"} == {1.5}


def _children(pid: int) -> list[int]:
    try:
        return [
            int(child)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    except OSError:
        return []


def test_an_interrupt_ends_it_with_its_workers(slow: str) -> None:
    process = subprocess.Popen(
        [*COMMAND, "-", "--verifier", slow, "--jobs", "2"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(jsonl(*({"completion": "60"} for _ in range(2000))))
    process.stdin.flush()
    while len(children := _children(process.pid)) < 2:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 3
    assert b"Traceback" not in told
    assert not any(Path(f"/proc/{child}").exists() for child in children)


def _resident(pid: int) -> int:
    """Bytes of resident memory of a process and all that it started."""
    total, todo = 0, [pid]
    while todo:
        one = todo.pop()
        todo += _children(one)
        statm = Path(f"/proc/{one}/statm")
        total += int(statm.read_text().split()[1]) * resource.getpagesize() if statm.exists() else 0
    return total


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_memory_is_flat_on_a_long_pipe(jobs: int) -> None:
    work = "First 3 + 4 = 7 apples are bought, then 2 more are eaten, so that we count what is left over of them all. "
    batch = 60 * jsonl({"completion": work * 150 + "\\boxed{6}", "gold": "5"})
    peaks = []
    for size in (10_000_000, 200_000_000):
        process = subprocess.Popen(
            [*COMMAND, "-", "-o", "/dev/null", "--verifier", "math", "--jobs", str(jobs)], stdin=subprocess.PIPE
        )
        assert process.stdin is not None
        peak = sent = 0
        while sent < size:
            process.stdin.write(batch)
            sent += len(batch)
            peak = max(peak, _resident(process.pid))
        process.stdin.close()
        assert process.wait() == 0
        peaks.append(peak)
    assert peaks[1] < peaks[0] + 60_000_000
    assert peaks[1] < 100_000_000 * (1 + jobs)

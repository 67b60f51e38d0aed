from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

WORK = (
    "First 3 + 4 = 7 apples are bought, then 2 more are eaten, so that in the end we have to count what is left over. "
)


def run(*arguments: str, data: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    code = "from lydite.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, "verify", *arguments], input=data, capture_output=True, timeout=120
    )


def lines(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


def jsonl(*rows: Any) -> bytes:
    return b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows)


ROWS = (
    {"id": "a", "completion": WORK + "\\boxed{5}", "gold": "5"},
    {"id": 2, "completion": "\\boxed{5}", "gold": "5"},
    b"{broken",
    {"id": [1, {"x": None}], "completion": "I don't know", "gold": 5},
    {"completion": "Paris", "checker": {"type": "exact", "config": {"answer": "Paris"}}},
    {"id": "f", "completion": [{"role": "assistant", "content": "\\boxed{6}"}], "gold": "5"},
    {"id": "g", "completion": "x", "checker": {"type": "nope"}},
    {"id": "h", "gold": "5"},
    b'{"id": "i", "completion": "bad \\ud800 \\\\boxed{5}", "gold": "5"}',
    {"id": "j", "completion": None, "gold": "5"},
    {"id": 12345678901234567890123, "completion": "\\boxed{5}", "gold": ""},
)


@pytest.mark.parametrize("options", [(), ("--jobs", "2"), ("--timeout", "20")])
def test_one_verdict_a_line_in_order(tmp_path: Path, options: tuple[str, ...]) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(jsonl(*ROWS) + b"\n")
    done = run(str(source), "-o", str(target), "--verifier", "math", *options)
    assert done.returncode == 2
    assert done.stdout == b""
    out = lines(target.read_bytes())
    assert [row["id"] for row in out] == [
        "a", 2, None, [1, {"x": None}], None, "f", "g", "h", "i", "j", 12345678901234567890123,
    ]  # fmt: skip
    assert [row["outcome"] for row in out] == [
        "correct", "correct", "invalid", "unparseable", "correct", "incorrect", "invalid", "invalid", "correct",
        "unparseable", "invalid",
    ]  # fmt: skip
    assert [row["reward"] for row in out] == [1.0, 1.0, None, -0.1, 1.0, -0.1, None, None, 1.0, -0.1, None]
    assert [row["flags"] for row in out][:5] == [[], ["no_visible_work"], [], [], []]
    assert [row["line"] for row in out if "line" in row] == [3, 7, 8]
    assert "line 3" in out[2]["detail"] or "3:" in out[2]["detail"]
    assert out[0]["verifier"] == "math@3"
    assert out[10]["reason"] == "unparseable_gold"
    keys = {"id", "outcome", "score", "reward", "reason", "extracted", "flags", "verifier", "seconds"}
    assert all(keys <= set(row) for row in out)


def test_standard_input_and_output() -> None:
    done = run(
        "-", "--verifier", "math", "--config", '{"extraction": "strict"}', data=jsonl({"completion": "5", "gold": 5})
    )
    assert done.returncode == 0
    assert lines(done.stdout)[0]["reason"] == "no_answer"
    assert b"1 judged: 1 unparseable" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("nowhere.jsonl", "--verifier", "math"),
        ("-", "--verifier", "mth"),
        ("-", "--verifier", "math", "--config", "{"),
        ("-", "--verifier", "math", "--config", "[]"),
        ("-", "--config", "{}"),
        ("-", "--jobs", "0"),
        ("-", "--timeout", "0"),
        (),
    ],
)
def test_unusable_arguments(arguments: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    from lydite.cli import _run

    assert _run(["verify", *arguments]) == 2
    told = capfd.readouterr()
    assert told.out == ""
    assert told.err


def test_input_is_never_overwritten(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(jsonl({"completion": "5", "gold": 5}))
    before = source.read_bytes()
    assert run(str(source), "-o", str(source), "--verifier", "math").returncode == 2
    assert source.read_bytes() == before


def test_jobs_change_nothing_but_the_time(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(jsonl(*({"id": n, "completion": f"{WORK}\\boxed{{{n % 7}}}", "gold": "5"} for n in range(3000))))
    outs = []
    for jobs in ("1", "2"):
        done = run(str(source), "--verifier", "math", "--jobs", jobs)
        assert done.returncode == 0, done.stderr
        rows = lines(done.stdout)
        for row in rows:
            row.pop("seconds")
        outs.append(rows)
    assert outs[0] == outs[1]
    assert [row["id"] for row in outs[0]] == list(range(3000))


def test_a_full_disk_stops_cleanly(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    source = tmp_path / "in.jsonl"
    source.write_bytes(jsonl({"completion": "5", "gold": 5}))
    done = run(str(source), "-o", "/dev/full", "--verifier", "math")
    assert done.returncode == 3
    assert b"No space left" in done.stderr


def test_output_that_hits_a_limit_ends_with_a_whole_line(tmp_path: Path) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(jsonl(*({"id": n, "completion": "5", "gold": 5} for n in range(3000))))
    code = (
        "import resource, sys; from lydite.cli import _run;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_001, 100_001));"
        "sys.exit(_run(['verify', sys.argv[1], '-o', sys.argv[2], '--verifier', 'math']))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(source), str(target)], capture_output=True)
    assert done.returncode == 3
    data = target.read_bytes()
    assert data.endswith(b"}\n")
    assert [row["id"] for row in lines(data)] == list(range(len(lines(data))))


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    code = (
        "import resource, sys; from lydite.cli import _run;"
        "_run(['verify', sys.argv[1], '-o', '/dev/null', '--verifier', 'math']);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peaks = []
    for count in (2_000, 100_000):
        source = tmp_path / f"{count}.jsonl"
        with source.open("wb") as file:
            for n in range(count):
                file.write(jsonl({"id": n, "completion": f"{WORK * 4}\\boxed{{{n}}}", "gold": str(n)}))
        done = subprocess.run([sys.executable, "-c", code, str(source)], capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout.splitlines()[-1]))
    assert peaks[1] < peaks[0] + 20_000


@pytest.mark.parametrize(
    ("verifier", "config", "told"),
    [
        ("math", {"extraction": "strickt"}, "extraction"),
        ("math", {"unit": "km"}, "unit"),
        ("math", {"tolerance": 2}, "tolerance"),
        ("math", {"answer": []}, "answer"),
        ("exact", {"normalise": ["upper"]}, "normalise"),
        ("choice", {"choices": []}, "choices"),
    ],
)
def test_a_wrong_config_is_refused_up_front(tmp_path: Path, verifier: str, config: dict[str, Any], told: str) -> None:
    target = tmp_path / "out.jsonl"
    data = jsonl({"completion": "5", "gold": "5"}, {"completion": "6", "gold": "5"})
    done = run("-", "-o", str(target), "--verifier", verifier, "--config", json.dumps(config), data=data)
    assert done.returncode == 2
    assert not target.exists()
    error = done.stderr.decode()
    assert "--config" in error
    assert told in error
    assert "judged" not in error


@pytest.mark.parametrize(
    ("verifier", "config", "gold"),
    [
        ("math", {"extraction": "strict", "units": "°C"}, "5"),
        ("choice", {"choices": ["x", "y"]}, "B"),
        ("exact", {"choices": ["x", "y"]}, "y"),
    ],
)
def test_a_good_config_needs_no_answer(verifier: str, config: dict[str, Any], gold: str) -> None:
    said = f"\\boxed{{{gold}}}" if verifier != "exact" else gold
    data = jsonl({"completion": said, "gold": gold})
    done = run("-", "--verifier", verifier, "--config", json.dumps(config), data=data)
    assert done.returncode == 0, done.stderr
    assert lines(done.stdout)[0]["outcome"] == "correct"


@pytest.mark.parametrize("options", [(), ("--jobs", "2")])
def test_a_verifier_that_breaks_is_warned_of(tmp_path: Path, options: tuple[str, ...]) -> None:
    own = tmp_path / "own.py"
    own.write_text(
        "def check(submission, config):\n"
        "    if 'bad' in submission.text:\n"
        "        raise KeyError('x' * 1000)\n"
        "    return 1.0\n"
    )
    data = jsonl(*({"completion": text, "gold": "5"} for text in ("fine", "bad", "bad")))
    done = run("-", "--verifier", f"{own}:check", *options, data=data)
    out = lines(done.stdout)
    assert [row["outcome"] for row in out] == ["correct", "invalid", "invalid"]
    assert out[1]["reason"] == "verifier_error"
    assert out[1]["detail"].startswith("KeyError: 'xxx")
    assert out[1]["detail"].endswith(f"({own}:3)")
    assert out[1]["detail"].count("x") == 299
    warned = [line for line in done.stderr.decode().splitlines() if line.startswith("warning:")]
    assert len(warned) == 1
    assert "broke on 2" in warned[0]
    assert "own.py:3" in warned[0]


def test_no_warning_where_nothing_broke() -> None:
    done = run("-", "--verifier", "math", data=jsonl({"completion": "5", "gold": "5"}))
    assert b"warning" not in done.stderr


def test_two_processes_cannot_write_one_output(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    target.write_text("kept\n")
    code = "import fcntl, sys; f = open(sys.argv[1], 'a'); fcntl.flock(f, 2); print('held', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(target)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        done = run("-", "-o", str(target), "--verifier", "math", data=jsonl({"completion": "5", "gold": "5"}))
        other.communicate(b"\n")
    assert done.returncode == 2
    assert b"another process" in done.stderr
    assert target.read_text() == "kept\n"


def test_a_full_standard_output_is_no_crash() -> None:
    code = "from lydite.cli import main; main()"
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", code, "verify", "-", "--verifier", "math"],
            input=jsonl({"completion": "5", "gold": "5"}), stdout=full, stderr=subprocess.PIPE, timeout=120,
        )  # fmt: skip
    assert done.returncode == 3
    assert b"Traceback" not in done.stderr


def test_absurdly_many_jobs_are_refused() -> None:
    done = run("-", "--verifier", "math", "--jobs", "999999", data=b"")
    assert done.returncode == 2
    assert b"jobs" in done.stderr

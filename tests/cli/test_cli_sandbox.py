"""``lydite sandbox``: what it prints, what it leaves with, what it refuses."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lydite.cli import sandbox, sandbox_doctor, sandbox_folder, sandbox_output
from lydite.cli.sandbox_output import as_json, harmless, hint, pour, sentence
from lydite.errors import InputError
from lydite.sandbox import Found, Sandbox, Snapshot
from lydite.sandbox.result import ExecResult, Limits, Status
from lydite.sandbox.threats import DIMENSIONS

if not sys.platform.startswith("linux"):
    pytest.skip("the sandbox is for Linux", allow_module_level=True)


def lydite(*words: str, stdin: bytes = b"", **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "lydite", "sandbox", *words], input=stdin, capture_output=True, timeout=120, **options
    )


@pytest.fixture(scope="module")
def doctor() -> dict[str, Any]:
    done = lydite("doctor", "--json")
    return dict(json.loads(done.stdout))


@pytest.fixture
def works(doctor: dict[str, Any]) -> None:
    if doctor["default"] is None:
        pytest.skip("no back end works here")


def program(folder: Path, text: str) -> str:
    path = folder / "program.py"
    path.write_text(text)
    return str(path)


def test_output_goes_to_output_and_the_end_is_told_in_one_line(works: None, tmp_path: Path) -> None:
    done = lydite("run", program(tmp_path, "import sys; print('out'); print('err', file=sys.stderr)"))
    assert done.returncode == 0
    assert done.stdout == b"out\n"
    lines = done.stderr.splitlines()
    assert lines[0] == b"err"
    assert len(lines) == 2
    assert lines[1].startswith(b"ok [")


def test_json_has_the_fields_of_the_contract(works: None, tmp_path: Path, doctor: dict[str, Any]) -> None:
    done = lydite("run", program(tmp_path, "print('out')"), "--json")
    told = json.loads(done.stdout)
    assert set(told) >= {"status", "exit_code", "stdout", "stderr", "wall_s", "cpu_s", "backend"}
    assert (told["status"], told["exit_code"], told["stdout"]) == ("ok", 0, "out\n")
    assert told["backend"] == doctor["default"]
    assert done.stderr == b""


@pytest.mark.parametrize(
    ("text", "options", "status"),
    [
        ("raise SystemExit(3)", [], "error"),
        ("while True: pass", ["--timeout", "0.3"], "timeout"),
        ("x = []\nwhile True: x.append(bytearray(1 << 24))", ["--memory-mb", "64"], "memory"),
    ],
)
def test_a_program_that_does_not_end_well_leaves_1(
    works: None, tmp_path: Path, text: str, options: list[str], status: str
) -> None:
    done = lydite("run", program(tmp_path, text), *options, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["status"] == status


def test_standard_input_is_a_file(works: None, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("21")
    done = lydite("run", program(tmp_path, "print(int(input()) * 2)"), "--stdin", str(tmp_path / "in.txt"))
    assert done.stdout == b"42\n"


def test_standard_input_is_ours(works: None, tmp_path: Path) -> None:
    done = lydite("run", program(tmp_path, "print(int(input()) * 2)"), "--stdin", "-", stdin=b"21")
    assert done.stdout == b"42\n"


def test_without_stdin_there_is_none(works: None, tmp_path: Path) -> None:
    done = lydite("run", program(tmp_path, "print(repr(open(0).read()))"), stdin=b"not for you")
    assert done.stdout == b"''\n"


def test_bytes_go_through_as_they_are(works: None, tmp_path: Path) -> None:
    text = "import sys; sys.stdout.buffer.write(bytes(range(256)))"
    assert lydite("run", program(tmp_path, text)).stdout == bytes(range(256))


def test_source_in_another_encoding_is_read_as_it_declares(works: None, tmp_path: Path) -> None:
    (tmp_path / "p.py").write_bytes("# coding: latin-1\nprint(len('é'))\n".encode("latin-1"))
    assert lydite("run", str(tmp_path / "p.py")).stdout == b"1\n"


def test_the_program_may_come_through_a_pipe(works: None) -> None:
    assert lydite("run", "/dev/stdin", stdin=b"print(7)").stdout == b"7\n"
    assert lydite("run", "-", stdin=b"print(8)").stdout == b"8\n"


def test_a_package_is_importable_when_asked_for(works: None, tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    path = program(tmp_path, "import numpy; print(numpy.arange(4).sum())")
    assert lydite("run", path).returncode == 1
    assert lydite("run", path, "--package", "numpy").stdout == b"6\n"


def test_an_interrupted_run_leaves_3_and_nothing_runs_on(works: None, tmp_path: Path) -> None:
    path = program(tmp_path, "import time\nprint('started', flush=True)\ntime.sleep(60)")
    command = [sys.executable, "-m", "lydite", "sandbox", "run", path, "--timeout", "50"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while len(below := descendants(running.pid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=60)
    assert running.returncode == 3
    assert b"interrupted" in told
    while any(Path(f"/proc/{pid}").exists() for pid in below) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in below if Path(f"/proc/{pid}").exists()]


def descendants(pid: int) -> list[int]:
    below: list[int] = []
    with contextlib.suppress(OSError):  # it may end meanwhile
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in map(int, task.read_text().split()):
                below += [child, *descendants(child)]
    return below


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["missing.py"], "missing.py: FILE.py: cannot be read: No such file"),
        (["."], ".: FILE.py: cannot be read: Is a directory"),
        (["good.py", "--stdin", "missing"], "missing: --stdin: cannot be read"),
        (["bad.py"], "bad.py: is no Python source"),
        (["cookie.py"], "cookie.py: is no Python source"),
        (["good.py", "--timeout", "-1"], "timeout: -1.0 is no limit (give a number above 0"),
        (["good.py", "--timeout", "nan"], "timeout: nan is no limit"),
        (["good.py", "--memory-mb", "0"], "memory_mb: 0 is no limit"),
        (["good.py", "--backend", "namespace"], "namespaces"),
        (["good.py", "--package", "lydite"], "graders"),
        (["good.py", "--package", "no-such-package"], "pip install no-such-package"),
        (["-", "--stdin", "-"], "standard input is the program already"),
        (["/dev/zero"], "/dev/zero: FILE.py: is larger than 64 MiB"),
    ],
)
def test_unusable_input_leaves_2_and_says_what_to_do(tmp_path: Path, words: list[str], told: str) -> None:
    (tmp_path / "good.py").write_text("print(1)")
    (tmp_path / "bad.py").write_bytes(b"print('\xff')")
    (tmp_path / "cookie.py").write_bytes(b"# coding: no-such-code\n")
    done = lydite("run", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert told in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_an_unreadable_file_leaves_2(tmp_path: Path) -> None:
    path = program(tmp_path, "print(1)")
    os.chmod(path, 0)
    assert lydite("run", path).returncode == 2


def test_one_word_is_a_line_for_the_shell(works: None, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("b\na\n")
    done = lydite("exec", str(tmp_path), "--", "sort a.txt | head -1")
    assert (done.returncode, done.stdout) == (0, b"a\n")


def test_several_words_are_a_program_and_its_arguments(works: None, tmp_path: Path) -> None:
    done = lydite("exec", str(tmp_path), "--", "echo", "$HOME", "*")
    assert done.stdout == b"$HOME *\n"


def test_the_folder_itself_is_never_changed(works: None, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    done = lydite("exec", str(tmp_path), "--", "echo b > a.txt; echo c > c.txt; cat a.txt")
    assert done.stdout == b"b\n"
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.txt": "a"}


def test_export_writes_what_the_command_left(works: None, tmp_path: Path) -> None:
    (tmp_path / "work" / "below").mkdir(parents=True)
    (tmp_path / "work" / "below" / "a.txt").write_text("a")
    new = tmp_path / "new"
    line = "echo b > b.txt; rm below/a.txt"
    done = lydite("exec", str(tmp_path / "work"), "--export", str(new), "--", line)
    assert done.returncode == 0, done.stderr
    assert sorted(str(path.relative_to(new)) for path in new.rglob("*")) == ["b.txt", "below"]


def test_permissions_links_and_empty_folders_come_along(works: None, tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("#!/bin/sh\necho ran\n")
    (tmp_path / "run.sh").chmod(0o755)
    (tmp_path / "link").symlink_to("run.sh")
    (tmp_path / "empty").mkdir()
    done = lydite("exec", str(tmp_path), "--", "./link && ls -d empty")
    assert done.stdout == b"ran\nempty\n"


def test_a_failing_command_leaves_1_and_its_code_is_told(works: None, tmp_path: Path) -> None:
    done = lydite("exec", str(tmp_path), "--", "exit 5")
    assert done.returncode == 1
    assert b"error: exit code 5" in done.stderr


def test_json_has_the_same_fields_as_run(works: None, tmp_path: Path) -> None:
    told = json.loads(lydite("exec", str(tmp_path), "--json", "--", "echo out; echo err >&2; exit 4").stdout)
    assert (told["status"], told["exit_code"], told["stdout"], told["stderr"]) == ("error", 4, "out\n", "err\n")


def test_a_folder_larger_than_a_workspace_gets_room(works: None, tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(bytes(80 << 20))
    done = lydite("exec", str(tmp_path), "--", "wc -c < large; head -c 1000000 large > copy && echo fits")
    assert done.stdout.split() == [str(80 << 20).encode(), b"fits"]


def test_a_folder_of_hundreds_of_megabytes_goes_in_and_comes_out(works: None, tmp_path: Path) -> None:
    folder, new = tmp_path / "work", tmp_path / "new"
    folder.mkdir()
    for number in range(3):
        with open(folder / str(number), "wb") as file:
            file.truncate(100 << 20)
    done = lydite("exec", str(folder), "--export", str(new), "--", "rm 0; wc -c < 1")
    assert (done.returncode, done.stdout) == (0, b"104857600\n"), done.stderr
    assert sum(path.stat().st_size for path in new.iterdir()) == 200 << 20


def test_a_folder_of_many_small_files_gets_room(works: None, tmp_path: Path) -> None:
    for number in range(18_000):  # more pages than a workspace has
        (tmp_path / str(number)).write_bytes(b"x")
    done = lydite("exec", str(tmp_path), "--", "ls | wc -l")
    assert (done.returncode, done.stdout) == (0, b"18000\n"), done.stderr


def test_a_folder_beyond_the_limit_is_refused_and_what_is_large_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for name, size in (("data/a", 300), ("data/b", 200), ("model.bin", 100), ("notes", 0)):
        with open(tmp_path / name, "wb") as file:
            file.truncate(size << 20)
    done = lydite("exec", str(tmp_path), "--", "true")
    assert done.returncode == 2
    told = "holds 600 MiB, and at most 512 can be copied; most is in data/ 500 MiB, model.bin 100 MiB"
    assert told in done.stderr.decode()


def test_a_folder_of_too_many_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_folder, "MAX_ENTRIES", 3)
    for number in range(4):
        (tmp_path / str(number)).touch()
    with pytest.raises(InputError, match="more than 3 files"):
        sandbox_folder.read(tmp_path)


def test_an_export_has_room_for_what_a_command_may_write() -> None:
    given = Limits(memory_mb=64, disk_mb=100)
    assert sandbox_folder.room(Snapshot(), given, export=False).memory_mb == 64
    assert sandbox_folder.room(Snapshot(), given, export=True).memory_mb >= 300


def test_a_command_has_standard_input(works: None, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("from a file")
    assert lydite("exec", str(tmp_path), "--stdin", str(tmp_path / "in.txt"), "--", "cat").stdout == b"from a file"
    assert lydite("exec", str(tmp_path), "--stdin", "-", "--", "cat", stdin=b"ours").stdout == b"ours"
    assert lydite("exec", str(tmp_path), "--", "cat", stdin=b"not for you").stdout == b""


def test_an_empty_command_is_refused(tmp_path: Path) -> None:
    for word in ("", " "):
        done = lydite("exec", str(tmp_path), "--", word)
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"there is no command" in done.stderr


def test_limits_and_the_interpreter_are_options_of_both(works: None, tmp_path: Path) -> None:
    forks = "import os, time\nfor _ in range(9):\n    if not os.fork(): time.sleep(9)\n"
    done = lydite("run", program(tmp_path, forks), "--processes", "4", "--json")
    assert json.loads(done.stdout)["limit"] == "processes"
    write = "open('large', 'wb').write(bytes(3 << 20))"
    done = lydite("run", program(tmp_path, write), "--disk-mb", "2", "--json")
    assert json.loads(done.stdout)["limit"] == "disk_mb"
    done = lydite("exec", str(tmp_path), "--disk-mb", "2", "--json", "--", "head -c 4000000 /dev/zero > large")
    assert json.loads(done.stdout)["limit"] == "disk_mb"
    done = lydite("exec", str(tmp_path), "--python", sys.executable, "--", "python3 -c 'print(7)'")
    assert done.stdout == b"7\n", done.stderr


def test_another_interpreter_is_named(works: None, tmp_path: Path) -> None:
    done = lydite("run", program(tmp_path, "print(8)"), "--python", str(tmp_path / "none"))
    assert done.returncode == 2
    assert b"none is not an executable" in done.stderr


def test_loopback_is_asked_for(works: None, tmp_path: Path, doctor: dict[str, Any]) -> None:
    if doctor["default"] == "landlock":
        pytest.skip("landlock has no network of its own")
    text = "import socket; s = socket.create_server(('127.0.0.1', 0)); print('open')"
    path = program(tmp_path, text)
    assert lydite("run", path).returncode == 1
    assert lydite("run", path, "--network", "loopback").stdout == b"open\n"


def test_exec_refuses_what_is_no_folder(tmp_path: Path) -> None:
    done = lydite("exec", str(tmp_path / "missing"), "--", "true")
    assert done.returncode == 2
    assert b"cannot be read as a folder" in done.stderr


def test_export_never_overwrites(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "mine").write_text("mine")
    done = lydite("exec", str(tmp_path), "--export", str(tmp_path / "new"), "--", "true")
    assert done.returncode == 2
    assert b"exists already" in done.stderr
    assert (tmp_path / "new" / "mine").read_text() == "mine"


@pytest.mark.parametrize(
    ("new", "told"),
    [
        ("missing/new", "missing/new: --export: cannot be written: No such file"),
        ("/proc/new", "/proc/new: --export: cannot be written"),
        ("file", "file: --export: exists already"),
        ("file/new", "file/new: --export: cannot be written: Not a directory"),
        ("n" * 300, "cannot be written: File name too long"),
    ],
)
def test_an_impossible_export_is_refused_before_the_command_runs(tmp_path: Path, new: str, told: str) -> None:
    (tmp_path / "file").touch()
    done = lydite("exec", str(tmp_path), "--export", new, "--", "echo ran", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert told in done.stderr.decode()
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write everywhere")
def test_an_export_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    for new in ("locked", "locked/new"):
        done = lydite("exec", str(tmp_path), "--export", str(tmp_path / new), "--", "true")
        assert done.returncode == 2
        assert b"Permission denied" in done.stderr


def test_an_export_into_an_empty_folder_is_fine(works: None, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "new").mkdir()
    done = lydite("exec", str(tmp_path / "work"), "--export", str(tmp_path / "new"), "--", "echo a > a.txt")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["a.txt"]


def test_no_empty_folder_stays_behind_where_no_command_ran(tmp_path: Path) -> None:
    new = tmp_path / "new"
    assert lydite("exec", str(tmp_path), "--export", str(new), "--backend", "none", "--", "true").returncode == 2
    assert not new.exists()


def test_an_export_that_fails_in_the_end_names_the_folder(works: None, tmp_path: Path) -> None:
    (tmp_path / "taken").touch()  # since the target was looked at
    with Sandbox(workers=1) as box, box.session(files={"a": b"a"}) as workspace:
        failed = sandbox._exported(workspace, tmp_path / "taken")
    assert isinstance(failed, InputError)
    assert failed.exit_code == 2
    assert str(failed).startswith(f"{tmp_path / 'taken'}: --export: cannot be written: File exists (name a new folder")


def test_doctor_tells_every_dimension_of_every_back_end(doctor: dict[str, Any]) -> None:
    names = [row["name"] for row in doctor["backends"]]
    assert {"namespaces", "namespaces-nocgroup", "landlock", "unsafe"} <= set(names)
    for row in doctor["backends"]:
        assert set(row["threats"]) == set(DIMENSIONS), row["name"]
        assert set(row["contains"]) <= set(DIMENSIONS)
        assert row["available"] or row["reason"]


def test_doctor_never_makes_the_unsafe_one_the_default(doctor: dict[str, Any]) -> None:
    assert doctor["default"] in (None, "namespaces", "namespaces-nocgroup", "landlock")
    assert [row["name"] for row in doctor["backends"] if row["default"]] == [doctor["default"]] * bool(
        doctor["default"]
    )


def test_doctor_for_people_says_the_same(doctor: dict[str, Any]) -> None:
    done = lydite("doctor")
    assert done.returncode == (0 if doctor["default"] else 1)
    assert all(row["name"].encode() in done.stderr for row in doctor["backends"])


def test_doctor_says_whether_the_helper_is_in_use(tmp_path: Path) -> None:
    told = json.loads(lydite("doctor", "--json", env={**os.environ, "LYDITE_SANDBOX_HELPER": "off"}).stdout)
    assert told["helper"] is False
    assert "LYDITE_SANDBOX_HELPER" in told["helper_reason"]


FOUND = [
    Found("namespaces", True, ""),
    Found("bwrap", True, ""),
    Found("nsjail", False, "nsjail is not installed"),
    Found("crun", True, ""),
]


def test_a_back_end_that_does_not_work_contains_nothing() -> None:
    table = sandbox_doctor.table(FOUND)
    assert [column.header for column in table.columns] == ["back end", "works here", "contains", "remark"]
    assert list(table.columns[2].cells) == ["11 of 11", "8 of 11", "-", "8 of 11"]


def test_what_is_true_of_several_back_ends_is_said_once_in_lines_that_fit() -> None:
    lines = sandbox_doctor.sentences(FOUND, 60)
    assert all(len(line) <= 60 for line in lines)
    said = " ".join(line.strip() for line in lines)
    assert said.count("the job's total is looked at every 30 ms, so it can be exceeded briefly") == 1
    assert "bwrap, crun: memory: partly:" in said
    assert "nsjail" not in said


@pytest.mark.usefixtures("works")
def test_bench_gives_ratios_to_the_bare_interpreter() -> None:
    done = lydite("bench", "--seconds", "1", "--backend", "auto", "--json")
    assert done.returncode == 0, done.stderr
    speeds = {row["name"]: row for row in json.loads(done.stdout)["speeds"]}
    assert speeds["bare"]["jobs_ratio"] == speeds["bare"]["p50_ratio"] == 1
    assert speeds["auto"]["jobs_per_s"] > 0


def test_bench_refuses_a_back_end_that_is_none() -> None:
    done = lydite("bench", "--backend", "namespace")
    assert done.returncode == 2
    assert b"did you mean namespaces?" in done.stderr


def test_bench_refuses_a_time_that_is_none() -> None:
    assert lydite("bench", "--seconds", "0").returncode == 2


def result(**fields: Any) -> ExecResult:
    return ExecResult(**{"status": Status.OK, "exit_code": 0, "backend": "namespaces", **fields})


def test_output_that_is_no_text_stands_beside_in_base64() -> None:
    told = as_json(result(stdout=b"a\xff", stderr=b"plain"))
    assert told["stdout"] == "a�"
    assert base64.b64decode(told["stdout_base64"]) == b"a\xff"
    assert "stderr_base64" not in told


@pytest.mark.parametrize(
    ("status", "code"), [(status, {"ok": 0, "invalid": 3}.get(status, 1)) for status in Status], ids=list(Status)
)
def test_exit_codes_tell_the_program_s_fault_from_ours(status: Status, code: int) -> None:
    assert sandbox_output.exit_code(result(status=status)) == code


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, "ok ["),
        ({"status": Status.ERROR, "exit_code": 3}, "error: exit code 3 ["),
        ({"status": Status.ERROR, "exit_code": -11}, "error: ended by SIGSEGV ["),
        ({"status": Status.TIMEOUT, "exit_code": -9, "limit": "timeout"}, "over its limit (timeout); --timeout allows"),
        ({"status": Status.MEMORY, "exit_code": -9, "limit": "memory_mb"}, "--memory-mb allows more"),
        ({"status": Status.INVALID, "exit_code": None, "detail": "lost"}, "invalid: the sandbox failed, not"),
    ],
)  # fmt: skip
def test_one_line_says_how_it_ended(fields: dict[str, Any], told: str) -> None:
    said = sentence(result(**fields))
    assert told in said
    assert "\n" not in said


def lacking(module: str) -> ExecResult:
    said = f"Traceback (most recent call last):\n  ...\nModuleNotFoundError: No module named '{module}'\n"
    return result(status=Status.ERROR, exit_code=1, stderr=said.encode())


def test_a_package_that_could_be_given_is_named() -> None:
    assert hint(lacking("msgspec")) == "--package msgspec makes msgspec importable"
    assert hint(lacking("msgspec.json")) == "--package msgspec makes msgspec importable"
    assert "exit code 1; --package msgspec" in sentence(lacking("msgspec"), hint(lacking("msgspec")))


@pytest.mark.parametrize("module", ["no_such_module", "lydite", "math", "../x", "a b"])
def test_no_package_is_named_that_could_not_be_given(module: str) -> None:
    assert hint(lacking(module)) == ""


def test_no_package_is_named_that_was_given_already() -> None:
    assert hint(lacking("msgspec"), ["msgspec"]) == ""


class Screen(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def test_a_terminal_is_not_driven_by_what_a_program_prints() -> None:
    behind = io.BytesIO()
    screen = Screen(behind, encoding="utf-8")
    pour(b"ok\x1b]0;title\x07\tsee \xe2\x80\xae\xff\r\nnext", screen)
    assert behind.getvalue() == b"ok\\x1b]0;title\\x07\tsee \\u202e\\xff\nnext\n"


def test_a_pipe_gets_the_bytes_as_they_are() -> None:
    behind = io.BytesIO()
    pipe = io.TextIOWrapper(behind, encoding="utf-8")
    pour(b"\x1b[31m\xff\r\n", pipe)
    assert behind.getvalue() == b"\x1b[31m\xff\r\n"


def test_readable_text_of_any_language_is_shown_as_it_is() -> None:
    text = "naïve 数 😀 ok\n\tline"
    assert harmless(text) == text

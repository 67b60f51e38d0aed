"""``exit_code``, ``file_exists`` and ``script``: what they say of a state, of cheats, and of their configurations."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lydite
from lydite.errors import InputError
from lydite.sandbox import Snapshot
from lydite.sandbox.jail.packing import Entry, Kind
from lydite.sandbox.snapshot import closed
from lydite.task import Checker, Task
from lydite.verdict import Outcome, Verdict
from lydite.verifiers import Submission, build, checker_of
from lydite.verifiers.archive import state_of
from lydite.verifiers.workspace import box


def state(files: dict[str, str]) -> Snapshot:
    """Files; a text that begins with ``-> `` is a link."""
    found = []
    for path, text in files.items():
        link = text.startswith("-> ")
        kind = Kind.LINK if link else Kind.PROGRAM if text.startswith("#!") else Kind.FILE
        found.append(Entry(path, kind, text[3:].encode() if link else text.encode()))
    return Snapshot(closed(found))


def judged(kind: str, config: dict[str, Any], files: dict[str, str]) -> Verdict:
    return build({"type": kind, "config": config})(Submission(text="done", state=state(files)))


def ran(command: str, files: dict[str, str] | None = None, **more: Any) -> Verdict:
    return judged("exit_code", {"command": command, **more}, files or {})


def scripted(script: str, files: dict[str, str] | None = None, **more: Any) -> Verdict:
    return judged("script", {"script": script, **more}, files or {})


# exit_code


@pytest.mark.parametrize(
    ("command", "expected", "correct"),
    [
        ("true", 0, True),
        ("false", 0, False),
        ("exit 7", 7, True),
        ("exit 0", 7, False),
        ("no_such_program", 127, True),
        ("kill -9 $$", 137, True),
        ("grep -q x a.txt && test -x run.sh && ./run.sh", 5, True),
        ('test -z "$(cat)"', 0, True),
    ],
)
def test_exit_code(command: str, expected: int, correct: bool) -> None:
    said = ran(command, {"a.txt": "x\n", "run.sh": "#!/bin/sh\nexit 5\n"}, expected_code=expected)
    assert said.correct is correct, said


def test_the_state_is_as_it_was_left() -> None:
    files = {"d/a.txt": "a", "link": "-> d/a.txt", "prog": "#!/bin/sh\n", "out": "-> /etc/passwd"}
    command = (
        'test "$(cat link)" = a && test -L link && test -x prog && test ! -x d/a.txt && test -L out'
        ' && test "$(ls -A | tr "\\n" " ")" = "d link out prog "'
    )
    assert ran(command, files).correct


def test_a_check_never_changes_the_state_and_starts_afresh() -> None:
    left = state({"a.txt": "a"})
    check = build({"type": "exit_code", "config": {"command": "rm a.txt && touch b.txt /tmp/was"}})
    again = build(
        {"type": "exit_code", "config": {"command": "test -e a.txt && test ! -e b.txt && test ! -e /tmp/was"}}
    )
    digest = left.digest
    for _ in range(3):
        assert check(Submission(text="", state=left)).correct
        assert again(Submission(text="", state=left)).correct
    assert Snapshot(left.entries).digest == digest


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("sleep 60", "timeout"),
        ("while :; do :; done", "timeout"),
        ("head -c 10000000 /dev/zero", "output"),
        ("python3 -c 'x = bytearray(1 << 30)'", "memory"),
    ],
)
def test_limits_are_the_attempts_fault(command: str, reason: str) -> None:
    said = ran(command, timeout=1.0, memory_mb=128)
    assert (said.outcome, said.reason) == (Outcome.INCORRECT, reason)


def test_programs_and_settings_of_the_workspace_gain_nothing() -> None:
    wrapper = "#!/bin/sh\nexit 0\n"
    files = dict.fromkeys(("grep", "test", "python3", "bin/grep", ".local/bin/python3", ".profile", ".bashrc"), wrapper)
    customize = {"sitecustomize.py": "import os; os._exit(0)\n", "python.pth": "import os; os._exit(0)\n"}
    assert not ran("grep -q wanted out.txt", {**files, "out.txt": "x"}).correct
    assert not ran("python3 -c 'raise SystemExit(3)'", {**files, **customize}).correct


def test_no_network_and_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-trainer")
    assert ran("! env | grep -q sk-of").correct
    connects = "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 80), 1)'"
    assert not ran(connects).correct


# file_exists


def test_only_regular_files_count() -> None:
    config = {"paths": ["a.txt", "b.txt", "c/d.txt", "e"]}
    said = judged("file_exists", config, {"a.txt": "", "b.txt": "-> a.txt", "c": "-> f", "f/d.txt": "x", "e/x": ""})
    assert said.score == 0.25
    assert [part.reason for part in said.parts] == ["present", "link", "missing", "folder"]


def test_paths_have_many_spellings() -> None:
    assert judged("file_exists", {"paths": ["./a//b.txt"]}, {"a/b.txt": "x"}).correct


# script


@pytest.mark.parametrize(
    ("script", "score", "reason"),
    [
        ("print(0.25)", 0.25, "score"),
        ("print('details'); print('1')", 1.0, "correct"),
        ("print(1.0); print('done')", 1.0, "correct"),
        ("pass", 1.0, "correct"),
        ("raise SystemExit", 1.0, "correct"),
        ("raise SystemExit(0)", 1.0, "correct"),
        ("import sys; sys.exit(2)", 0.0, "failed"),
        ("import sys; sys.exit('no')", 0.0, "failed"),
        ("print(1.0); raise SystemExit(1)", 0.0, "failed"),
        ("print(1.0); assert False, 'no'", 0.0, "failed"),
        ("print(1.0); open('missing')", 0.0, "failed"),
        ("print(1.5)", 0.0, "score_out_of_range"),
        ("print(-0.01)", 0.0, "score_out_of_range"),
        ("print(float('nan'))", 0.0, "score_out_of_range"),
        ("print('inf')", 0.0, "score_out_of_range"),
        ("print('1e-3\\n\\n')", 0.001, "score"),
        ("print(0)", 0.0, "score"),
        ("import os; os._exit(0)", 0.0, "ended_early"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 0.0, "ended_early"),
        ("while True: pass", 0.0, "timeout"),
        ("x = 'x' * (1 << 30)", 0.0, "memory"),
    ],
)
def test_script(script: str, score: float, reason: str) -> None:
    said = scripted(script, timeout=1.5, memory_mb=128)
    assert (said.score, said.reason) == (score, reason), said


def test_unittest_in_a_script() -> None:
    script = """\
import unittest

class Case(unittest.TestCase):
    def test(self):
        self.assertTrue(open("a"))

unittest.main()
"""
    assert scripted(script, {"a": "1"}).correct
    assert scripted(script).reason == "failed"


CHEATS = {
    "prints a score": {"solution.py": "print(1.0)\n"},
    "prints a score later": {
        "solution.py": "import os, time\nif os.fork() == 0:\n    time.sleep(0.3)\n    print(1.0, flush=True)\n"
    },
    "leaves": {"solution.py": "import os\nos._exit(0)\n"},
    "ends the script": {"solution.py": "import os\nos.kill(os.getppid(), 15)\n"},
    "writes to the script": {
        "solution.py": "import os\n"
        "for fd in range(64):\n"
        "    try: os.write(os.open(f'/proc/{os.getppid()}/fd/{fd}', os.O_WRONLY), b'1.0\\n')\n"
        "    except OSError: pass\n"
    },
    "modules of the script's": dict.fromkeys(
        ("json.py", "subprocess.py", "sitecustomize.py", "os.py"), "import os\nprint(1.0)\nos._exit(0)\n"
    ),
}


@pytest.mark.parametrize("name", CHEATS)
def test_cheats_on_a_script_that_runs_the_program(name: str) -> None:
    script = """\
import json, subprocess, sys, time
done = subprocess.run([sys.executable, "solution.py"], stdout=subprocess.PIPE if SHOWN else None)
time.sleep(0.6)
result = json.loads(done.stdout or b"0")
print(float(result == 42))
"""
    for shown in (True, False):
        said = scripted(f"SHOWN = {shown}\n{script}", CHEATS[name])
        assert said.outcome is Outcome.INCORRECT, said


@pytest.mark.parametrize(
    "source",
    [
        "import os\nos._exit(0)\n",
        "import sys\nsys.exit(0)\n",
        "raise SystemExit\n",
        "import atexit\natexit.register(print, 1.0)\nanswer = 0\n",
        "import builtins\nbuiltins.print = lambda *a, **k: None\nanswer = 0\n",
        "print(1.0)\nanswer = 0\n",
    ],
)
def test_cheats_on_a_script_that_imports_the_module(source: str) -> None:
    script = "import sys\nsys.path.insert(0, '.')\nimport solution\nassert solution.answer == 42\n"
    assert scripted(script, {"solution.py": source}).outcome is Outcome.INCORRECT
    assert scripted(script, {"solution.py": "answer = 42\n"}).correct


def test_random_numbers_of_a_script_depend_on_the_state_alone() -> None:
    script = "import random\nprint(random.random())"
    assert scripted(script, {"a": "1"}).score == scripted(script, {"a": "1"}).score
    assert scripted(script, {"a": "1"}).score != scripted(script, {"a": "2"}).score


# All of them


@pytest.mark.parametrize(
    ("kind", "config", "field"),
    [
        ("exit_code", {"command": " "}, "command"),
        ("exit_code", {"command": "true\0"}, "command"),
        ("exit_code", {"command": "true", "expected_code": 256}, "expected_code"),
        ("exit_code", {"command": "true", "expected_code": True}, "expected_code"),
        ("exit_code", {"command": "true", "expected": 0}, "expected"),
        ("exit_code", {}, "command"),
        ("script", {"script": ""}, "script"),
        ("script", {"script": "if True print(1)"}, "script"),
        ("script", {"script": "(" * 5000}, "script"),
        ("script", {"script": "pass", "timeout": -1}, "timeout"),
        ("file_exists", {"paths": []}, "paths"),
        ("file_exists", {"paths": ["a", "../b"]}, "paths.1"),
        ("file_exists", {"paths": ["a", "a/"]}, "paths.1"),
        ("file_exists", {"paths": ["/etc/passwd"]}, "paths.0"),
    ],
)
def test_configurations(kind: str, config: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        build({"type": kind, "config": config})
    assert caught.value.field == f"checker.config.{field}"


CHECKERS = [
    {"type": "exit_code", "config": {"command": "true"}},
    {"type": "script", "config": {"script": "pass"}},
    {"type": "file_exists", "config": {"paths": ["a"]}},
]


@pytest.mark.parametrize("checker", CHECKERS, ids=lambda checker: checker["type"])
def test_no_state(checker: dict[str, Any]) -> None:
    said = lydite.verify(checker, "done")
    assert (said.outcome, said.reason) == (Outcome.INVALID, "no_workspace")


def test_a_sandbox_that_fails_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(*_: Any) -> Any:
        raise box.LostError("gone")

    checks = [build(checker) for checker in CHECKERS[:2]]
    monkeypatch.setattr(box, "run", lose)
    for check in checks:
        said = check(Submission(text="", state=Snapshot()))
        assert (said.outcome, said.reason) == (Outcome.INVALID, "sandbox_lost")


def test_composites_judge_the_state() -> None:
    parts = {"there": CHECKERS[2], "runs": CHECKERS[0]}
    for kind in ("all_of", "weighted"):
        checker = {"type": kind, "config": {"checkers": parts}}
        assert lydite.verify(checker, "done", state=state({"a": ""})).correct
        assert not lydite.verify(checker, "done", state=state({})).correct


def task(checker: dict[str, Any], **fields: Any) -> Task:
    return Task(id="t", prompt=(), checker=Checker(**checker), env="workspace", **fields)


TESTS = {"tests/test_a.py": "from a import one\n\ndef test_one():\n    assert one == 1\n", "a.py": "one = 0\n"}


def test_tests_of_the_set_up_are_the_graders() -> None:
    checker = {"type": "pytest", "config": {"test_paths": ["tests"]}}
    one = task(checker, setup_files=TESTS)
    assert checker_of(one).config["files"] == {"tests/test_a.py": TESTS["tests/test_a.py"]}
    cheat = {"a.py": "one = 0\n", "tests/test_a.py": "def test_one(): pass\n"}
    assert lydite.verify(one, "done", state=state({"a.py": "one = 1\n"})).correct
    assert not lydite.verify(one, "done", state=state(cheat)).correct


def test_tests_of_the_set_up_within_composites() -> None:
    inner = {"type": "pytest", "config": {"test_paths": ["tests/test_a.py::test_one"]}}
    middle = {"type": "all_of", "config": {"checkers": {"tests": inner}}}
    one = task({"type": "weighted", "config": {"checkers": {"m": middle, "f": CHECKERS[2]}}}, setup_files=TESTS)
    found = checker_of(one).config["checkers"]["m"]["config"]["checkers"]["tests"]["config"]
    assert list(found["files"]) == ["tests/test_a.py"]
    assert checker_of(one).config["checkers"]["f"] == CHECKERS[2]
    assert "files" not in inner["config"]


def test_checkers_that_need_nothing_stay_as_they_are() -> None:
    hidden = {
        "type": "pytest",
        "config": {"test_paths": ["tests"], "files": {"tests/test_b.py": "def test_b(): pass\n"}},
    }
    for checker in (*CHECKERS, hidden):
        one = task(checker, setup_files=TESTS)
        assert checker_of(one) is one.checker


def test_a_conftest_of_the_set_up_above_the_tests_is_the_graders() -> None:
    files = {**TESTS, "conftest.py": "x = 1\n", "other/conftest.py": "x = 2\n"}
    one = task({"type": "pytest", "config": {"test_paths": ["tests"]}}, setup_files=files)
    assert sorted(checker_of(one).config["files"]) == ["conftest.py", "tests/test_a.py"]


@given(
    st.lists(
        st.sampled_from(["-- a --", "-- a/b --", "-- ../c --", "-- a -> b --", "#!x", "\udcff", "-- a", ""]) | st.text()
    )
)
def test_any_text_is_some_state(lines: list[str]) -> None:
    found = state_of("\n".join(lines), {"a": "kept", "d/e": ""})
    assert Snapshot.from_pack(found.to_pack()) == found
    assert "d/e" in found.files


def test_an_archive_of_files() -> None:
    found = state_of("words\n-- a.txt --\none\n\n-- b/run --\n#!/bin/sh\n-- l -> a.txt --\n", {"a.txt": "", "c": "c"})
    assert dict(found.files) == {"a.txt": b"one\n", "b/run": b"#!/bin/sh", "c": b"c"}
    assert found.links == {"l": "a.txt"}
    assert [str(entry.kind) for entry in found.entries if entry.path == "b/run"] == ["x"]


def test_nothing_that_a_check_starts_lives_on() -> None:
    seconds = str(10**6 + os.getpid())
    assert ran(f"sleep {seconds} & nohup sleep {seconds} >/dev/null 2>&1 & exit 0").correct
    assert scripted(f"import subprocess\nsubprocess.Popen(['sleep', '{seconds}'], start_new_session=True)").correct
    assert f"sleep\0{seconds}\0".encode() not in _running()


def _running() -> list[bytes]:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            found.append(Path(f"/proc/{pid}/cmdline").read_bytes())
    return found

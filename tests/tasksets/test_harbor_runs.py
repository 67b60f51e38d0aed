"""Harbor tasks, set up, solved and judged in the sandbox; tasks written as folders, and read again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lydite import verify
from lydite.errors import InputError
from lydite.probes.bench import Bench, bench
from lydite.sandbox import Snapshot
from lydite.task import Task
from lydite.tasksets import load_tasks, parse_task
from lydite.tasksets.harbor_write import harbor_files, write_harbor
from lydite.tasksets.starters import write_starter

BASE = {
    "instruction.md": "Write hi to /app/hello.txt.\n",
    "task.toml": "[verifier]\ntimeout_sec = 20.0\nenv = { WANT = 'hi' }\n[solution]\nenv = { SAY = 'h i' }\n",
    "environment/Dockerfile": "FROM a\nWORKDIR /app\nRUN echo made > /app/made.txt\n",
    "tests/test.sh": "#!/bin/bash\npytest --ctrf /logs/verifier/ctrf.json /tests/test_it.py -rA"
    " && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n",
    "tests/test_it.py": "import os\n\n\ndef test_it():\n"
    "    assert open('/app/hello.txt').read() == os.environ['WANT']\n    assert open('made.txt').read() == 'made\\n'\n",
    "solution/solve.sh": '#!/bin/bash\ncd /tmp\n[ "$SAY" = "h i" ] && cp /solution/hi.txt /app/hello.txt\n',
    "solution/hi.txt": "hi",
}


@pytest.fixture(scope="module")
def own() -> Iterator[Bench]:
    with bench() as made:
        yield made


def harbor(tmp_path: Path, changes: Mapping[str, str] = {}) -> Task:
    for name, text in {**BASE, **changes}.items():
        (tmp_path / "task" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "task" / name).write_text(text)
    (task,) = load_tasks(tmp_path / "task")
    return task


def score(task: Task, files: Mapping[str, str]) -> tuple[float | None, str]:
    verdict = verify(task, "", state=Snapshot.from_files({path: text.encode() for path, text in files.items()}))
    return verdict.score, verdict.reason


def test_the_reference_solves_it_and_nothing_else_does(tmp_path: Path, own: Bench) -> None:
    task = harbor(tmp_path)
    state = own.untouched(task)
    assert state is not None
    assert state.files == {"made.txt": b"made\n"}
    assert verify(task, "", state=state).score == 0
    solved = own.solved(task, state)
    assert solved.files == {"made.txt": b"made\n", "hello.txt": b"hi"}
    assert verify(task, "", state=solved).score == 1


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("echo 0.25 > /logs/verifier/reward.txt", (0.25, "score")),
        ('echo \'{"reward": 1.0, "style": 0}\' > /logs/verifier/reward.json', (1.0, "correct")),
        ('echo \'{"a": 1, "b": 0.5}\' > /logs/verifier/reward.json', (0.5, "score")),
        ("echo 0.5 > /logs/verifier/reward.json; echo 1 > /logs/verifier/reward.txt", (0.5, "score")),
        ("echo 7 > /logs/verifier/reward.txt", (0.0, "score_out_of_range")),
        ("echo nan > /logs/verifier/reward.txt", (0.0, "failed")),
        ("echo yes > /logs/verifier/reward.txt", (0.0, "failed")),
        ('echo \'{"a": "1"}\' > /logs/verifier/reward.json', (0.0, "failed")),
        ("echo '{\"a\": true}' > /logs/verifier/reward.json", (0.0, "failed")),
        ("echo '{}' > /logs/verifier/reward.json", (0.0, "failed")),
        ("echo 1", (0.0, "failed")),
        ("echo 1 > /logs/verifier/reward.txt; exit 3", (1.0, "correct")),
    ],
)
def test_rewards(tmp_path: Path, test: str, expected: tuple[float, str]) -> None:
    assert score(harbor(tmp_path, {"tests/test.sh": f"#!/bin/bash\n{test}\n"}), {}) == expected


def test_a_test_that_never_ends_is_a_wrong_attempt(tmp_path: Path) -> None:
    config = BASE["task.toml"].replace("20.0", "1.0")
    assert score(harbor(tmp_path, {"task.toml": config, "tests/test.sh": "sleep 60\n"}), {}) == (0.0, "timeout")


@pytest.mark.parametrize(
    "files",
    [
        {"reward.txt": "1", "logs/verifier/reward.txt": "1", "tests/test.sh": "echo 1"},
        {"pytest.py": "import sys; sys.exit(0)", "pytest": "#!/bin/sh\nexit 0\n", "bin/pytest": "#!/bin/sh\nexit 0\n"},
        {"conftest.py": "import os; os._exit(0)", "pytest.ini": "[pytest]\naddopts = --collect-only\n"},
        {"sitecustomize.py": "import os; os._exit(0)", "os.py": "environ = {'WANT': 'hi'}"},
    ],
)
def test_files_of_the_workspace_have_no_say(tmp_path: Path, files: dict[str, str]) -> None:
    assert score(harbor(tmp_path), {**files, "made.txt": "made\n"})[0] == 0


def test_tests_of_any_size_travel_in_the_script(tmp_path: Path) -> None:
    tests = {
        "tests/test.sh": "cmp big.txt /tests/big.txt && echo 1 > /logs/verifier/reward.txt\n",
        "tests/big.txt": "a line of many\n" * 30_000,
    }
    task = harbor(tmp_path, tests)
    assert score(task, {"big.txt": tests["tests/big.txt"]})[0] == 1
    assert score(task, {"big.txt": tests["tests/big.txt"] + "x"})[0] == 0
    (place,) = write_harbor(tmp_path / "out", [task])
    assert load_tasks(place) == [task]


def test_a_relative_and_an_absolute_path_are_one_place(tmp_path: Path) -> None:
    tests = {
        "tests/test.sh": "#!/bin/sh\ncd /tests && . /tests/more.sh\n",
        "tests/more.sh": "cmp /app/made.txt expected.txt && echo 1 > /logs/verifier/reward.txt\n",
        "tests/expected.txt": "made\n",
    }
    assert score(harbor(tmp_path, tests), {"made.txt": "made\n"})[0] == 1


DOCUMENTS: dict[str, dict[str, Any]] = {
    "exit_code": {
        "setup_files": {"a/b.txt": "1\n", "run.sh": "#!/bin/sh\ncat a/b.txt\n"},
        "setup_commands": ["sh run.sh > c.txt", "printf 'x\\n'\\\n'y' > d.txt"],
        "checker": {"type": "exit_code", "config": {"command": "cat e.txt && exit 3", "expected_code": 3}},
        "solution": {"commands": ["cp a/b.txt e.txt"]},
    },
    "file_exists": {
        "checker": {"type": "file_exists", "config": {"paths": ["a b.txt", "c/d.txt"]}},
        "solution": {"files": {"a b.txt": "", "c/d.txt": ""}},
    },
    "script": {
        "checker": {"type": "script", "config": {"script": "print(len(open('n.txt').read()) / 2)"}},
        "solution": {"files": {"n.txt": "ab"}},
        "max_steps": 5,
        "split": "train",
        "difficulty": "level-2",
        "metadata": {"a b": [1, 2.5, 'x\\"\x7f\n'], "c": {"d": True}},
    },
    "pytest": {
        "checker": {
            "type": "pytest",
            "config": {
                "test_paths": ["t"],
                "files": {
                    "t/test_a.py": "from m import f\n\n\ndef test_a():\n    assert f() == 1\n\n\ndef test_b():\n"
                    "    assert f() == 2\n"
                },
            },
        },
        "solution": {"files": {"m.py": "n = 0\n\n\ndef f():\n    global n\n    n += 1\n    return n\n"}},
    },
}


@pytest.mark.parametrize("kind", sorted(DOCUMENTS))
def test_a_task_written_as_a_folder_judges_as_before(kind: str, tmp_path: Path, own: Bench) -> None:
    task = parse_task({"id": f"org/{kind}", "prompt": f"Do {kind}.", **DOCUMENTS[kind]})
    (place,) = write_harbor(tmp_path / "out", [task])
    (again,) = load_tasks(place)
    assert (again.id, again.prompt, again.max_steps, again.split) == (task.id, task.prompt, task.max_steps, task.split)
    assert again.difficulty == task.difficulty
    assert {name: value for name, value in again.metadata.items() if name != "harbor"} == task.metadata
    before, after = own.untouched(task), own.untouched(again)
    assert before is not None
    assert after is not None
    assert before == after
    assert verify(again, "", state=after).score == verify(task, "", state=before).score != 1
    verdict = own.judged(again, after)
    assert verdict is not None
    assert verdict.score == 1
    if kind in ("file_exists", "script"):
        half = {"a b.txt": "", "n.txt": "a"}
        assert score(again, half)[0] == score(task, half)[0] == 0.5


def test_a_starter_survives_the_way_there_and_back(tmp_path: Path) -> None:
    (task,) = load_tasks(write_starter("harbor", tmp_path / "h"))
    assert load_tasks(write_harbor(tmp_path / "out", [task])[0]) == [task]


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"checker": {"type": "math", "config": {"answer": "4"}}}, "env"),
        ({"env": "workspace", "checker": {"type": "math", "config": {"answer": "4"}}}, "checker.type"),
        ({"prompt": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]}, "prompt"),
        ({"metadata": {"a": {"b": None}}}, "metadata.a"),
    ],
)
def test_what_harbor_has_no_place_for(document: dict[str, Any], field: str) -> None:
    state = {"type": "exit_code", "config": {"command": "cat x"}}
    with pytest.raises(InputError) as caught:
        harbor_files(parse_task({"prompt": "p", "checker": state, **document}))
    assert caught.value.field == field


def test_names_of_folders(tmp_path: Path) -> None:
    state = {"type": "exit_code", "config": {"command": "cat x"}}
    tasks = [parse_task({"id": name, "prompt": name, "checker": state}) for name in ("a/b", "c/b", "..", "é x")]
    written = write_harbor(tmp_path / "out", tasks)
    assert [place.name for place in written] == ["b", "b-1", "task", "é-x"]
    assert [task.id for task in load_tasks(tmp_path / "out")] == ["a/b", "c/b", "..", "é x"]
    with pytest.raises(InputError, match="already"):
        write_harbor(tmp_path / "out", tasks)

"""Harbor task folders as task documents, and what cannot be honoured."""

from __future__ import annotations

from pathlib import Path

import pytest

from lydite.errors import InputError
from lydite.task import Task
from lydite.tasksets import load_tasks
from lydite.tasksets.harbor import tests_of as carried_by
from lydite.tasksets.harbor_write import write_harbor

FILES = {
    "instruction.md": "<!-- canary 1 -->\n# canary 2\n\nWrite hi to /app/hello.txt, in /app. Leave /app/data/ alone.\n",
    "task.toml": """schema_version = "1.4"

[task]
name = "me/hello"
description = "a greeting"

[metadata]
difficulty = "easy"
written = 2024-01-02

[verifier]
timeout_sec = 30.0

[agent]
timeout_sec = 60.0

[environment]
network_mode = "no-network"
""",
    "environment/Dockerfile": "FROM ubuntu:24.04\nWORKDIR /app\nCOPY data ./data\nRUN echo made > /app/made.txt\n",
    "environment/data/x.csv": "a,b\n",
    "tests/test.sh": "#!/bin/bash\npython3 /tests/check.py && echo 1 > /logs/verifier/reward.txt\n",
    "tests/check.py": "assert open('/app/hello.txt').read().strip() == 'hi'\n",
    "solution/solve.sh": "#!/bin/bash\necho hi > /app/hello.txt\n",
}


def folder(tmp_path: Path, **changes: str | None) -> Path:
    """A task folder; a change of None leaves the file out. ``__`` in a name stands for a slash, ``_dot_`` for a dot."""
    place = tmp_path / "hello"
    named = {name.replace("__", "/").replace("_dot_", "."): text for name, text in changes.items()}
    for name, text in {**FILES, **named}.items():
        if text is not None:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
    return place


def failure(place: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        load_tasks(place)
    assert caught.value.remedy
    return caught.value


def dockerfile(tmp_path: Path, text: str) -> Task:
    (task,) = load_tasks(folder(tmp_path, environment__Dockerfile=text))
    return task


def test_a_folder_is_a_task(tmp_path: Path) -> None:
    (task,) = load_tasks(folder(tmp_path))
    assert (task.id, task.env, task.difficulty) == ("me/hello", "workspace", "easy")
    assert task.prompt_text == "Write hi to hello.txt, in ./. Leave data/ alone."
    assert task.setup_files == {"data/x.csv": "a,b\n"}
    assert task.setup_commands == ("echo made > made.txt",)
    assert task.checker.type == "script"
    assert task.metadata["written"] == "2024-01-02"
    assert task.metadata["harbor"] == {
        "description": "a greeting",
        "image": "ubuntu:24.04",
        "workdir": "/app",
        "agent_timeout_sec": 60.0,
    }


def test_the_checker_carries_the_tests(tmp_path: Path) -> None:
    (task,) = load_tasks(folder(tmp_path))
    carried = carried_by(task.checker.config["script"])
    assert carried is not None
    assert carried["files"] == {name[6:]: text for name, text in FILES.items() if name.startswith("tests/")}
    assert (carried["workdir"], task.checker.config["timeout"]) == ("/app", 30.0)


def test_no_test_reaches_the_set_up_or_the_prompt(tmp_path: Path) -> None:
    (task,) = load_tasks(folder(tmp_path))
    readable = task.prompt_text + "".join(task.setup_files.values())
    assert "hello.txt').read()" not in readable
    assert not any(path.startswith(("tests", "solution")) for path in task.setup_files)


def test_a_folder_of_folders_is_a_set_of_tasks(tmp_path: Path) -> None:
    folder(tmp_path)
    folder(tmp_path / "more", task_dot_toml='version = "1.0"\n[verifier]\n').rename(tmp_path / "other")
    (tmp_path / "t.jsonl").write_text('{"question": "q", "answer": "#### 1"}\n')
    (tmp_path / "more").rmdir()
    assert [task.id for task in load_tasks(tmp_path)][:2] == ["me/hello", "other"]


def test_a_task_without_a_solution_has_none(tmp_path: Path) -> None:
    (task,) = load_tasks(folder(tmp_path, solution__solve_dot_sh=None))
    assert task.solution is None


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("[environment]\ndocker_image = 'me/image:1'", "environment.docker_image"),
        ("[environment]\ngpus = 1", "environment.gpus"),
        ("[environment]\nos = 'windows'", "environment.os"),
        ("[environment]\nmemory_mb = 4096", "environment.memory_mb"),
        ("[environment]\nmemory = '2G'", "environment.memory"),
        ("[environment]\nstorage_mb = 10240", "environment.storage_mb"),
        ("[environment]\ncpus = 4096", "environment.cpus"),
        ("[environment]\nnetwork_mode = 'public'", "environment.network_mode"),
        ("[environment]\nallow_internet = true", "environment.allow_internet"),
        ("[environment.env]\nA = 'b'", "environment.env"),
        ("[[environment.mcp_servers]]\nname = 'x'", "environment.mcp_servers"),
        ("[environment.healthcheck]\ncommand = 'x'", "environment.healthcheck"),
        ("[agent]\nuser = 'root'", "agent.user"),
        ("[verifier]\nenvironment_mode = 'separate'", "verifier.environment_mode"),
        ("[verifier.environment]\ncpus = 1", "verifier.environment"),
        ("[verifier]\ntimeout_sec = 9999", "verifier.timeout_sec"),
        ("[verifier]\nenv = { KEY = '${KEY}' }", "verifier.env"),
        ("[solution]\nenv = { KEY = '${KEY:-x}' }", "solution.env"),
        ("[[steps]]\nname = 'one'", "steps"),
        ("artifacts = ['/app/x']", "artifacts"),
        ("[environment]\ngpu = 1", "environment.gpu"),
        ("[enviroment]\ngpus = 1", "enviroment"),
        ("schema_version = '2.0'", "schema_version"),
        ("[metadata.lydite]\nmax_step = 3", "metadata.lydite.max_step"),
        ("[metadata.lydite]\nmax_steps = 99", "max_steps"),
    ],
)
def test_what_task_toml_asks_for_in_vain(tmp_path: Path, line: str, field: str) -> None:
    text = f"# one\n{line}\n"
    error = failure(folder(tmp_path, task_dot_toml=text))
    assert (Path(str(error.path)).name, error.field) == ("task.toml", field)
    if field != "max_steps":  # of the document that is made of it
        name = field.rpartition(".")[2]
        assert error.line == next(number for number, it in enumerate(text.splitlines(), 1) if name in it)


def test_what_is_no_toml(tmp_path: Path) -> None:
    assert failure(folder(tmp_path, task_dot_toml="[task\n")).line == 1


@pytest.mark.parametrize(
    ("text", "line", "field"),
    [
        ("WORKDIR /app\n", 1, None),
        ("FROM a\n", None, "WORKDIR"),
        ("FROM a\nWORKDIR /\n", None, "WORKDIR"),
        ("FROM a AS b\nWORKDIR /app\nFROM c\n", 3, "FROM"),
        ("FROM a\nWORKDIR /app\n\nRUN apt-get update && \\\n  apt-get install -y gcc\n", 4, "RUN"),
        ("FROM a\nWORKDIR /app\nRUN echo x; pip install -q numpy\n", 3, "RUN"),
        ("FROM a\nRUN ls\nWORKDIR /app\n", 2, "RUN"),
        ("FROM a\nWORKDIR /app\nRUN --mount=type=cache ls\n", 3, "RUN"),
        ("FROM a\nWORKDIR /app\nCOPY data /data\n", 3, "COPY"),
        ("FROM a\nWORKDIR /app\nCOPY nothing .\n", 3, "COPY"),
        ("FROM a\nWORKDIR /app\nCOPY *.none .\n", 3, "COPY"),
        ("FROM a\nWORKDIR /app\nCOPY --from=b x .\n", 3, "COPY"),
        ("FROM a\nWORKDIR /app\nCOPY $X .\n", 3, "COPY"),
        ("FROM a\nWORKDIR /app\nRUN ls\nCOPY data .\n", 4, "COPY"),
        ("FROM a\nWORKDIR /app\nENV A=b\n", 3, "ENV"),
        ("FROM a\nWORKDIR /app\nADD http://x/y .\n", 3, "ADD"),
        ("FROM a\nWORKDIR /app\nUSER me\n", 3, "USER"),
        ("FROM a\nWORKDIR /app\nCMD [\"bash\"]\n", 3, "CMD"),
    ],
)  # fmt: skip
def test_what_a_dockerfile_asks_for_in_vain(tmp_path: Path, text: str, line: int | None, field: str | None) -> None:
    error = failure(folder(tmp_path, environment__Dockerfile=text))
    assert Path(str(error.path)).name == "Dockerfile"
    assert (error.line or 1, error.field) == (line or 1, field)


@pytest.mark.parametrize(
    ("copies", "paths"),
    [
        ("COPY data/ /app/data/", {"data/x.csv"}),
        ("COPY data .", {"x.csv"}),
        ("COPY data/x.csv /app", {"x.csv"}),
        ("COPY data/x.csv y.csv", {"y.csv"}),
        ("COPY data/x.csv sub/", {"sub/x.csv"}),
        ('COPY ["data/x.csv", "y.csv"]', {"y.csv"}),
        ("COPY . .", {"Dockerfile", "data/x.csv"}),
        ("COPY data/*.csv in/", {"in/x.csv"}),
        ("WORKDIR sub\nWORKDIR ..\nCOPY data/x.csv \\\n # between\n y.csv", {"y.csv"}),
        ("copy data/x.csv y.csv\nRUN pip install --no-cache-dir pytest==8.4.1", {"y.csv"}),
    ],
)
def test_where_copies_land(tmp_path: Path, copies: str, paths: set[str]) -> None:
    task = dockerfile(tmp_path, f"# syntax=docker/dockerfile:1\nFROM a\nWORKDIR /app\n{copies}\n")
    assert task.setup_files.keys() == paths
    assert task.setup_commands == ()


def test_the_working_directory_of_task_toml_counts(tmp_path: Path) -> None:
    config = FILES["task.toml"] + 'workdir = "/app/data"\n'
    place = folder(tmp_path, task_dot_toml=config, environment__Dockerfile="FROM a\nWORKDIR /app\nCOPY data data\n")
    (task,) = load_tasks(place)
    assert task.setup_files == {"x.csv": "a,b\n"}


@pytest.mark.parametrize(
    "name",
    ["environment/docker-compose.yaml", "environment/.dockerignore", "trajectory.json", "steps/one/instruction.md"],
)
def test_files_that_cannot_be_honoured(tmp_path: Path, name: str) -> None:
    place = folder(tmp_path)
    (place / name).parent.mkdir(parents=True, exist_ok=True)
    (place / name).write_text("x")
    assert name.startswith(str(Path(str(failure(place).path)).relative_to(place)))


@pytest.mark.parametrize("name", ["instruction.md", "tests/test.sh", "environment/Dockerfile"])
def test_files_that_must_be_there(tmp_path: Path, name: str) -> None:
    place = folder(tmp_path)
    (place / name).unlink()
    assert Path(str(failure(place).path)) == place / name


@pytest.mark.parametrize("name", ["tests/test.sh", "solution/solve.sh", "tests/more.sh"])
@pytest.mark.parametrize(
    "line",
    [
        "apt-get update",
        "if true; then curl -LsSf https://example.org | sh; fi",
        "uvx --with pytest pytest /tests",
        "python3 -m pip install x",
        "A=b /usr/bin/wget x",
        "x=$(git clone y)",
        "true && npm ci",
    ],
)
def test_scripts_that_need_a_network(tmp_path: Path, name: str, line: str) -> None:
    place = folder(tmp_path)
    (place / name).write_text(f"#!/bin/bash\n# apt-get is only named here\necho 'curly' pip\n{line}\n")
    error = failure(place)
    assert (Path(str(error.path)), error.line) == (place / name, 4)


def test_what_is_no_text(tmp_path: Path) -> None:
    place = folder(tmp_path)
    (place / "environment/data/x.csv").write_bytes(b"\xff")
    assert Path(str(failure(place).path)) == place / "environment/data/x.csv"
    (place / "environment/data/x.csv").write_bytes(b"")
    (place / "tests/x.bin").write_bytes(b"\xff")
    (task,) = load_tasks(place)
    assert "x.bin" in (carried_by(task.checker.config["script"]) or {})["binary"]


def test_a_task_read_from_a_folder_is_written_as_it_was(tmp_path: Path) -> None:
    place = folder(tmp_path, solution__more_dot_txt="x")
    (place / "tests/x.bin").write_bytes(b"\xff")
    (task,) = load_tasks(place)
    (written,) = write_harbor(tmp_path / "out", [task])
    assert load_tasks(written) == [task]
    for name in FILES:
        if name.startswith(("tests/", "solution/")):
            assert (written / name).read_text() == FILES[name]

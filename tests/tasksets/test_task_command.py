"""``lydite tasks`` as a process: exit codes, and data apart from messages."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lydite.tasksets import load_tasks


def run(*args: object) -> subprocess.CompletedProcess[str]:
    code = "from lydite.cli import main; main()"
    command = [sys.executable, "-c", code, "tasks", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def write(path: Path, *documents: object) -> Path:
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return path


def row(question: str, gold: str = "1") -> dict[str, str]:
    return {"question": question, "answer": f"#### {gold}"}


def test_generate_split_overlap_lint(tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    assert run("generate", "arithmetic", "--levels", "1,2", "-n", 40, "--seed", 3, "-o", file).returncode == 0
    again = run("generate", "arithmetic", "--levels", "1,2", "-n", 40, "--seed", 3, "-o", tmp_path / "again.jsonl")
    assert (again.returncode, again.stdout) == (0, "")
    assert file.read_bytes() == (tmp_path / "again.jsonl").read_bytes()
    assert run("split", file, "--eval-fraction", 0.25, "-o", tmp_path / "s").returncode == 0
    train, held = (load_tasks(tmp_path / "s" / f"{name}.jsonl") for name in ("train", "eval"))
    assert {task.id for task in [*train, *held]} == {task.id for task in load_tasks(file)}
    apart = run("overlap", tmp_path / "s/train.jsonl", tmp_path / "s/eval.jsonl", "--json")
    assert (apart.returncode, json.loads(apart.stdout)["duplicate"]) == (0, 0)
    whole = run("overlap", file, tmp_path / "s/eval.jsonl", "--json")
    assert (whole.returncode, json.loads(whole.stdout)["duplicate"]) == (1, len(held))
    lint = run("lint", file, "--json")
    assert (lint.returncode, json.loads(lint.stdout)) == (0, {"findings": [], "count": 0})


def test_lint_leaves_with_1_for_findings_and_2_for_unusable_documents(tmp_path: Path) -> None:
    twice = write(tmp_path / "twice.jsonl", {"id": "a", **row("q")}, {"id": "a", **row("r")})
    result = run("lint", twice)
    assert (result.returncode, "[duplicate_id]" in result.stdout) == (1, True)
    broken = write(tmp_path / "broken.jsonl", row("q"), {"question": "q"})
    result = run("lint", broken, "--json")
    (finding,) = json.loads(result.stdout)["findings"]
    assert (result.returncode, finding["rule"], finding["line"], finding["field"]) == (2, "malformed", 2, "answer")


def test_overlap_tells_in_words(tmp_path: Path) -> None:
    train = write(tmp_path / "a.jsonl", row("What is it?", "2"), row("Other"))
    held = write(tmp_path / "b.jsonl", row("what  is it ?"))
    result = run("overlap", train, held)
    assert result.returncode == 1
    assert result.stdout.startswith("duplicate\t")
    assert "1 duplicate, 0 near, 0 template" in result.stderr


def test_a_starter_is_written_linted_and_solved(tmp_path: Path) -> None:
    shown = run("new", "script")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith("# ")
    path = tmp_path / "t.yaml"
    assert run("new", "script", "-o", path).returncode == 0
    assert path.read_text() == shown.stdout
    assert run("lint", path).returncode == 0
    result = run("run-solution", path, "--json")
    assert result.returncode == 0
    told = json.loads(result.stdout)
    assert (told["ok"], told["count"], told["tasks"][0]["outcome"]) == (1, 1, "correct")


def test_run_solution_leaves_with_1_where_one_does_not_score_1(tmp_path: Path) -> None:
    math = {"type": "math", "config": {"answer": "1"}}
    state = {"type": "exit_code", "config": {"command": "grep -q x a"}}
    documents: list[dict[str, object]] = [
        {"id": "good", "prompt": "a", "checker": math, "solution": "\\boxed{1}"},
        {"id": "bad", "prompt": "b", "checker": math, "solution": "\\boxed{2}"},
        {"id": "none", "prompt": "c", "checker": math},
        {"id": "fails", "prompt": "d", "checker": state, "solution": {"commands": ["false"]}},
        {
            "id": "set-up",
            "prompt": "e",
            "checker": state,
            "setup_commands": ["false"],
            "solution": {"files": {"a": "x"}},
        },
        {"id": "state", "prompt": "f", "checker": state, "solution": {"files": {"a": "x"}}},
    ]
    path = write(tmp_path / "t.jsonl", *documents)
    result = run("run-solution", path, "--json")
    assert result.returncode == 1
    told = {item["id"]: (item["ok"], item["reason"]) for item in json.loads(result.stdout)["tasks"]}
    assert told == {
        "good": (True, "correct"),
        "bad": (False, "incorrect"),
        "none": (False, "no_solution"),
        "fails": (False, "failed"),
        "set-up": (False, "failed"),
        "state": (True, "correct"),
    }
    assert "2 of 6" in result.stderr
    lines = run("run-solution", path).stdout.splitlines()
    assert [line.split("\t")[:2] for line in lines][:2] == [["ok", "good"], ["NO", "bad"]]
    assert "setup_commands.0" in lines[4]


def test_convert_to_folders_and_back(tmp_path: Path) -> None:
    assert run("new", "harbor", "-o", tmp_path / "h").returncode == 0
    assert run("convert", tmp_path / "h", "-o", tmp_path / "t.jsonl").returncode == 0
    assert run("convert", tmp_path / "t.jsonl", "-o", tmp_path / "out").returncode == 0
    assert load_tasks(tmp_path / "out") == load_tasks(tmp_path / "h") == load_tasks(tmp_path / "t.jsonl")
    again = run("convert", tmp_path / "t.jsonl", "-o", tmp_path / "out")
    assert (again.returncode, "already" in again.stderr) == (2, True)


def test_generate_takes_ranges_and_prints(tmp_path: Path) -> None:
    file = tmp_path / "f.jsonl"
    shown = run("generate", "files", "--levels", "1-2", "--count", 10, "--seed", 5)
    assert run("generate", "files", "--levels", "1,2", "-n", 10, "--seed", 5, "-o", file).returncode == 0
    assert (shown.returncode, shown.stdout) == (0, file.read_text())


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("new", "mth"), "did you mean 'math'?"),
        (("generate", "files", "--levels", "-1", "-n", 1), "levels"),
        (("generate", "files", "--levels", "2-", "-n", 1), "levels"),
        (("generate", "arithmetc", "--levels", "1", "-n", 1, "-o", "x.jsonl"), "did you mean 'arithmetic'?"),
        (("generate", "arithmetic", "--levels", "one", "-n", 1, "-o", "x.jsonl"), "levels"),
        (("generate", "arithmetic", "--levels", "1", "-n", 1, "-o", "x.txt"), ".jsonl"),
        (("lint", "none.jsonl"), "none.jsonl: no such file"),
        (("split", "none.jsonl", "-o", "d"), "no such file"),
        (("overlap", "none.jsonl", "none.jsonl"), "no such file"),
    ],
)
def test_unusable_input_leaves_with_2(args: tuple[object, ...], words: str) -> None:
    result = run(*args)
    assert (result.returncode, result.stdout) == (2, "")
    assert words in result.stderr


@pytest.mark.parametrize("seed", [0, 1])
def test_split_says_where_a_share_is_not_met(tmp_path: Path, seed: int) -> None:
    file = write(tmp_path / "all.jsonl", *(row(f"question {number}") for number in range(10)))
    result = run("split", file, "--eval-fraction", 0.5, "--seed", seed, "-o", tmp_path / "d")
    held = len(load_tasks(tmp_path / "d" / "eval.jsonl"))
    assert ("falls on its side by a hash" in " ".join(result.stderr.split())) == (held != 5), held


def test_split_never_overwrites_its_input_and_leaves_no_empty_side(tmp_path: Path) -> None:
    file = write(tmp_path / "train.jsonl", row("q"), row("r"))
    before = file.read_bytes()
    result = run("split", file, "-o", tmp_path)
    assert (result.returncode, "overwrite" in result.stderr) == (2, True)
    result = run("split", file, "--eval-fraction", 0, "-o", tmp_path / "d")
    assert (result.returncode, "eval side" in result.stderr) == (2, True)
    assert file.read_bytes() == before
    assert not (tmp_path / "d").exists()


def task(kind: str, config: dict[str, object], **more: object) -> dict[str, object]:
    return {"checker": {"type": kind, "config": config}, **more}


def test_lint_compiles_checkers_and_judges_solutions(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text("def same(submission, config):\n    return submission.text == config['text']\n")
    (tmp_path / "bad.py").write_text("raise RuntimeError('no')\n")
    negative = {"type": "math", "config": {"answer": "1", "tolerance": -1}}
    expected: list[tuple[dict[str, object], list[tuple[str, str]]]] = [
        (task("math", {"answer": "1"}, solution="so \\boxed{1}"), []),
        (task("math", {"answer": "1"}, solution="so \\boxed{2}"), [("solution", "solution")]),
        (task("math", {"answer": "1"}, solution="so \\boxed{2}", env="workspace"), [("solution", "solution")]),
        (task("exact", {"answer": "a", "normalise": ["lower"]}), [("checker", "checker.config.normalise")]),
        (task("choice", {"answer": "D", "choices": ["x", "y"]}), [("checker", "checker.config.answer")]),
        (task("math", {"answer": "1", "tolerance": -1}), [("checker", "checker.config.tolerance")]),
        (task("math", {"answer": "1", "tolerence": 0.1}), [("checker", "checker.config.tolerence")]),
        (task("math", {"answer": "{{{"}), [("checker", "checker.config.answer")]),
        (task("code", {"tests": ["assert f()"]}, solution="def f(): return 0"), [("solution", "solution")]),
        (
            task("pytest", {"test_paths": ["t"]}),
            [("checker", "checker.config.files")],
        ),
        (task(f"{own}:same", {"text": "hi"}, solution="hi"), []),
        (task(f"{own}:same", {"text": "hi"}, solution="ho"), [("solution", "solution")]),
        (task(f"{own}:other", {}), [("checker", "checker.type")]),
        (task(f"{tmp_path}/bad.py:x", {}), [("checker", "checker.type")]),
        (
            task("all_of", {"checkers": {"x": negative}}),
            [("checker", "checker.config.checkers.x.config.tolerance")],
        ),
        (
            task("math", {"answer": "1"}, metadata={"flags": {"no_visible_work": {"min_wrds": 1}}}),
            [("flags", "metadata.flags.no_visible_work.min_wrds")],
        ),
    ]
    documents = [{"id": f"t{i}", "prompt": f"ask q{i}", **given} for i, (given, _) in enumerate(expected)]
    path = write(tmp_path / "t.jsonl", *documents)
    result = run("lint", path, "--json")
    assert result.returncode == 1, result.stderr
    found = [(item["line"], item["rule"], item["field"]) for item in json.loads(result.stdout)["findings"]]
    assert found == [(line, *pair) for line, (_, pairs) in enumerate(expected, 1) for pair in pairs]

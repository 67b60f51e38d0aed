from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lydite.errors import InputError
from lydite.task import Checker, Task
from lydite.verdict import Outcome
from lydite.verifiers import Submission, build, find, names, verify


def test_unknown_name_tells_the_nearest_and_the_list() -> None:
    with pytest.raises(InputError) as caught:
        build({"type": "mth"})
    assert caught.value.field == "checker.type"
    assert "'math'" in str(caught.value)
    assert all(name in str(caught.value) for name in names())


def test_a_function_in_a_file_is_a_verifier(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def longer(submission, config):\n    return len(submission.text) > config['than']\n")
    checker = {"type": f"{file}:longer", "config": {"than": 3}}
    assert verify(checker, "four").correct
    assert verify(checker, "thr").outcome is Outcome.INCORRECT
    assert build(checker).id == "longer@1"


def test_a_class_in_a_file_is_a_verifier(tmp_path: Path) -> None:
    file = tmp_path / "mine_too.py"
    file.write_text(
        "from lydite.errors import InputError\n"
        "from lydite.verdict import Verdict\n"
        "class Half:\n"
        "    name, version = 'half', 3\n"
        "    def compile(self, config):\n"
        "        if 'x' not in config:\n"
        "            raise InputError('missing', field='x', remedy='give it')\n"
        "        return lambda submission: Verdict.of(0.5, 'half', 'half@3')\n"
    )
    assert verify({"type": f"{file}:Half", "config": {"x": 1}}, "").outcome is Outcome.PARTIAL
    with pytest.raises(InputError) as caught:
        build({"type": f"{file}:Half", "config": {}})
    assert caught.value.field == "checker.config.x"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def f(submission, config):\n    raise RuntimeError('ours')\n", "RuntimeError"),
        ("def f(submission, config):\n    return 7\n", "ValueError"),
        ("class f:\n    name, version = 'f', 1\n    def compile(self, config):\n        return lambda s: 1\n", "int"),
        (
            "class f:\n    name, version = 'f', 1\n    def compile(self, config):\n        return 1 / 0\n",
            "ZeroDivision",
        ),
        ("def f(submission, config):\n    return f(submission, config)\n", "RecursionError"),
    ],
)
def test_a_fault_of_the_verifier_is_invalid_and_never_raises(tmp_path: Path, source: str, said: str) -> None:
    file = tmp_path / "faulty.py"
    file.write_text(source)
    verdict = verify({"type": f"{file}:f"}, "text")
    assert (verdict.outcome, verdict.reason) == (Outcome.INVALID, "verifier_error")
    assert said in (verdict.detail or "")


@pytest.mark.parametrize("name", ["nowhere.py:f", "empty.py:f", "broken.py:f", "number.py:f"])
def test_files_that_hold_no_verifier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "broken.py").write_text("1 +\n")
    (tmp_path / "number.py").write_text("f = 7\n")
    with pytest.raises(InputError):
        find(name)


@pytest.mark.parametrize(
    "checker", [{}, {"type": 7}, {"type": "math", "config": []}, {"type": "math", "extra": 1}, "math", {"config": {}}]
)
def test_what_is_no_checker(checker: object) -> None:
    with pytest.raises(InputError):
        build(checker)  # type: ignore[arg-type]


def test_equal_checkers_share_one_compiled_check() -> None:
    one = build({"type": "math", "config": {"answer": "7", "extraction": "strict"}})
    other = build(Checker(type="math", config={"extraction": "strict", "answer": "7"}))
    assert one is other


def test_later_changes_to_a_config_do_not_reach_the_check() -> None:
    config = {"answer": "7"}
    checker = {"type": "math", "config": config}
    check = build(checker)
    config["answer"] = "8"
    assert check(Submission(text="\\boxed{7}")).correct
    assert verify(checker, "\\boxed{8}").correct


def test_a_task_brings_its_checker_and_its_prompt() -> None:
    from lydite.rollout import Message

    task = Task(
        id="t",
        prompt=(Message(role="user", content="Expand $(x+1)^2$."),),
        checker=Checker(type="math", config={"answer": "x^2+2x+1"}),
    )
    assert verify(task, "\\boxed{x^2+2x+1}").correct
    assert verify(task, "\\boxed{(x+1)^2}").reason == "restated_question"


def test_importing_the_room_is_light() -> None:
    code = "import sys, lydite.verifiers; print(sorted({'torch', 'typer', 'sympy', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"

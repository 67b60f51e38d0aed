"""Checkers of the author's own in task documents, and configurations with typing errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lydite.errors import InputError
from lydite.tasksets import parse_task
from lydite.tasksets.documents import task_document


def document(kind: str, config: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"id": "a", "prompt": "q", "checker": {"type": kind, "config": config or {}}}


def refused(value: dict[str, Any]) -> InputError:
    with pytest.raises(InputError) as caught:
        parse_task(value)
    return caught.value


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package on the import path that offers a kind, whose module would fail if it were imported."""
    (tmp_path / "palindrome.py").write_text("raise RuntimeError")
    info = tmp_path / "palindrome-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: palindrome\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[lydite.verifiers]\npalindrome = palindrome:Palindrome\n")
    monkeypatch.syspath_prepend(tmp_path)
    return "palindrome"


@pytest.mark.parametrize("kind", ["path.py:Name", "/some/where/mine.py:check", "../a b.py:C"])
@pytest.mark.parametrize("config", [{}, {"answer": "", "tests": 3}])
def test_a_checker_by_path_is_valid_with_any_configuration(kind: str, config: dict[str, Any]) -> None:
    task = parse_task(document(kind, config))
    assert (task.checker.type, task.checker.config, task.env) == (kind, config, "none")
    assert parse_task(task_document(task)) == task


def test_a_checker_of_an_installed_package_is_valid_and_not_imported(installed: str) -> None:
    assert parse_task(document(installed, {"x": 1})).checker.type == installed


def test_a_name_near_that_of_an_installed_package_is_told(installed: str) -> None:
    assert refused(document("palindrom")).remedy == "did you mean 'palindrome'?; or path.py:name"


@pytest.mark.parametrize("composite", ["all_of", "weighted", "gate"])
def test_own_checkers_stand_in_composites(installed: str, composite: str) -> None:
    parts = {"p": {"type": "mine.py:V"}, "q": {"type": "all_of", "config": {"checkers": {"r": {"type": installed}}}}}
    config = {"checkers": parts, **({"gate": "p"} if composite == "gate" else {})}
    assert parse_task(document(composite, config)).env == "none"
    parts["q"]["config"]["checkers"]["r"]["type"] = "palindrom"  # type: ignore[index]
    error = refused(document(composite, config))
    assert error.field == "checker.config.checkers.q.config.checkers.r.type"


@pytest.mark.parametrize("kind", ["mine.py", "mine:V", "palindrome", "mine.pyc:V"])
def test_another_unknown_name_stays_an_error(kind: str) -> None:
    assert "unknown checker" in refused(document(kind)).message


@pytest.mark.parametrize(
    ("kind", "config", "key", "meant"),
    [
        ("math", {"anwser": "1"}, "anwser", "answer"),
        ("exact", {"Answer": "x"}, "Answer", "answer"),
        ("choice", {"answers": "A", "choices": ["x"]}, "answers", "answer"),
        ("code", {"test": ["assert f()"]}, "test", "tests"),
        ("exit_code", {"comand": "true"}, "comand", "command"),
        ("json_schema", {"shema": {}}, "shema", "schema"),
    ],
)
def test_a_misspelt_key_is_named(kind: str, config: dict[str, Any], key: str, meant: str) -> None:
    error = refused(document(kind, config))
    assert (error.field, error.message) == (f"checker.config.{key}", "unknown key")
    assert error.remedy == f"did you mean {meant!r}?"


def test_a_key_that_looks_like_nothing_known_is_told_with_what_is_missing() -> None:
    error = refused(document("math", {"gold": "1"}))
    assert (error.field, error.message) == ("checker.config.answer", "is missing")
    assert "'gold'" in (error.remedy or "")


@pytest.mark.parametrize(("text", "column"), [('{"id": "a",', 12), ('{"id": "a", "prompt": "x', 23), ('{"id"', 6)])
def test_a_line_that_is_cut_off_tells_its_column(tmp_path: Path, text: str, column: int) -> None:
    from lydite.tasksets import load_tasks

    for end in ("", "\n", "\r\n"):
        path = tmp_path / "t.jsonl"
        path.write_text(text + end)
        with pytest.raises(InputError, match=rf"t.jsonl:1: .*\(column {column}\)"):
            load_tasks(path)


@pytest.mark.parametrize("name", ["mine.py:World", "../a b.py:make"])
def test_an_environment_by_path_is_valid(name: str) -> None:
    value = {**document("math", {"answer": "4"}), "env": name, "setup_files": {"a": "x"}}
    task = parse_task(value)
    assert (task.env, task.setup_files) == (name, {"a": "x"})
    assert parse_task(task_document(task)) == task


def test_an_environment_of_an_installed_package_is_valid_and_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = document("math", {"answer": "4"})
    assert refused({**value, "env": "browser"}).field == "env"
    info = tmp_path / "worlds-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: worlds\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[lydite.environments]\nbrowser = worlds:Browser\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert parse_task({**value, "env": "browser"}).env == "browser"
    assert refused({**value, "env": "browsr"}).remedy == "did you mean 'browser'?"

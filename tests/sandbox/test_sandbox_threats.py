"""The table of what each back end contains: complete, and the same in the documentation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lydite.errors import UnavailableError
from lydite.sandbox import Limits, Status, choose
from lydite.sandbox.threats import DIMENSIONS, THREATS, Containment, contained, markdown

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sandbox.md"


def test_the_dimensions_are_eleven() -> None:
    assert len(DIMENSIONS) == 11


def test_every_back_end_says_something_of_every_dimension() -> None:
    assert set(THREATS) == {*choose.NATIVE, *choose.EXTERNAL, choose.UNSAFE}
    for name, rows in THREATS.items():
        assert list(rows) == list(DIMENSIONS), name


def test_every_reason_is_one_line() -> None:
    for rows in THREATS.values():
        for threat in rows.values():
            assert 10 < len(threat.reason) < 110
            assert "\n" not in threat.reason


def test_without_namespaces_the_open_ones_are_stated() -> None:
    assert {"memory", "disk", "file system"}.isdisjoint(contained("landlock"))


def test_without_a_control_group_memory_is_not_called_contained() -> None:
    assert "memory" in contained("namespaces")
    assert "memory" not in contained("namespaces-nocgroup")


def test_the_unsafe_one_contains_nothing_of_the_host() -> None:
    for dimension in ("file system", "network", "credentials", "kernel surface", "persistence"):
        assert THREATS["unsafe"][dimension].contained is Containment.OPEN


def test_the_page_has_the_same_table() -> None:
    if not PAGE.is_file():
        pytest.skip("no documentation beside the tests")
    text = PAGE.read_text()
    shown = text.partition("<!-- threats -->\n")[2].partition("<!-- /threats -->")[0]
    assert shown == markdown(), "python -c 'from lydite.sandbox.threats import markdown; print(markdown())'"


def test_the_programs_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not PAGE.is_file():
        pytest.skip("no documentation beside the tests")
    try:
        choose.make(
            "auto", workers=1, preload="plain", packages=(), network="none", python=None, limits=Limits()
        ).close()
    except UnavailableError as error:
        pytest.skip(str(error))
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    space: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), space)
    assert len(blocks) >= 2
    assert (tmp_path / "left-behind" / "b.txt").read_text() == "a\nb\n"


def test_the_page_explains_every_status() -> None:
    if not PAGE.is_file():
        pytest.skip("no documentation beside the tests")
    text = PAGE.read_text()
    for status in Status:
        assert f"| `{status}` |" in text

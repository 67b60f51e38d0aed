"""Paths of a document: what the sandbox takes, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.sandbox import Snapshot
from lydite.sandbox.jail.packing import check_path
from lydite.tasksets import parse_task
from lydite.tasksets.paths import clash, normal, normal_file

NAMES = st.text(st.sampled_from("ab./\0é\udcff\ud800 \n"), max_size=12)


@given(NAMES)
@example("a//b/./c")
@example("/a")
@example("a/../b")
@example("." * 300)
@example("x/" * 257 + "x")
def test_a_path_is_normal_here_exactly_where_the_sandbox_takes_it(path: str) -> None:
    try:
        expected = check_path(path)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011 - its words differ
            normal(path)
        return
    if any(len(name.encode("utf-8", "surrogateescape")) > 255 for name in expected.split("/")):
        return  # no file system of ours takes it, which the sandbox says only when it writes
    assert normal(path) == expected


@given(st.dictionaries(st.text(st.sampled_from("ab./"), max_size=5), st.just("x"), max_size=4))
def test_files_of_a_document_are_files_that_a_workspace_can_hold(files: dict[str, str]) -> None:
    document = {"prompt": "p", "setup_files": files, "checker": {"type": "exit_code", "config": {"command": "ls"}}}
    try:
        task = parse_task(document)
    except InputError:
        return
    held = Snapshot.from_files({path: text.encode() for path, text in task.setup_files.items()})
    assert held.files.keys() == {normal(path) for path in files}


@pytest.mark.parametrize("path", ["a/", "a/.", ".", "", "/", "./"])
def test_a_folder_is_no_file(path: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - its words are the next test's
        normal_file(path)


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        (["a", "b", "c"], None),
        (["a", "b/c", "b/d"], None),
        (["ab", "a"], None),
        (["a", "a"], ("a", "a")),
        (["b/c/d", "b"], ("b", "b/c/d")),
    ],
)
def test_two_files_that_cannot_both_be(paths: list[str], found: tuple[str, str] | None) -> None:
    assert clash(paths) == found

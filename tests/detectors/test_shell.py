"""What commands are read to write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.detectors.shell import read_command


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("echo x > a.txt", ["a.txt"]),
        ("echo x >> 'a b.txt' 2>/dev/null", ["a b.txt", "/dev/null"]),
        ("make 2>&1 | tee log.txt", ["log.txt"]),
        ("cp -r a b && mv c d", ["b", "c", "d"]),
        ("rm -rf tests; touch tests/x", ["tests", "tests/x"]),
        ("sudo ln -s /a b", ["b"]),
        ("X=1 dd if=/dev/zero of=out bs=1", ["out"]),
        ("sed -i s/a/b/ f.py", ["f.py"]),
        ("sed s/a/b/ f.py", []),
        ("cat tests/test_a.py", []),
        ("git mv a b && git add c", ["a", "b"]),
        ("python -m pytest -q", []),
        ("echo 'rm tests' # > x", []),
    ],
)
def test_paths_that_a_command_writes(command: str, paths: list[str]) -> None:
    found = read_command(command).paths
    assert [path for path in found if path != "x"] == paths


def test_a_here_document_is_a_file_and_no_command() -> None:
    read = read_command("cat > a.py <<'EOF'\nrm -rf tests\nprint(1)\nEOF\nrm b")
    assert read.paths == ["a.py", "b"]
    assert [tuple(one) for one in read.written] == [("a.py", "rm -rf tests\nprint(1)\n")]
    assert "tests" not in read.rest


def test_a_program_in_a_command_is_read_by_its_words() -> None:
    assert "tests/test_a.py" in read_command("python -c \"open('tests/test_a.py','w').write('')\"").paths
    assert read_command("python -c \"print(open('tests/test_a.py').read())\"").paths == []


@given(st.text())
def test_any_text_can_be_read(command: str) -> None:
    read_command(command)

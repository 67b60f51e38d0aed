"""Gold in the history of a workspace is found, however git keeps it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from lydite.probes.buried import buried

GOLD = "def add(a, b):\n    return a + b\n"
OTHER = "def add(a, b):\n    return a - b\n"


def git(folder: Path, *arguments: str) -> None:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "gc.auto=0", *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def held(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(params=["sha1", "sha256"])
def history(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A repository in which the gold was committed and then changed."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    git(tmp_path, "init", "-q", f"--object-format={request.param}")
    for text in (GOLD, OTHER):
        (tmp_path / "add.py").write_text(text)
        git(tmp_path, "add", "add.py")
        git(tmp_path, "commit", "-qm", "x")
    return tmp_path


@pytest.mark.parametrize("text", [GOLD, GOLD.strip(), GOLD + "\n"], ids=["as it is", "no end", "more end"])
@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_an_earlier_commit_is_seen(history: Path, text: str, packed: bool) -> None:
    if packed:
        git(history, "repack", "-adq")
        assert list(history.glob(".git/objects/pack/*.idx"))
    assert list(buried(held(history), {"add.py": text})) == ["add.py is in the history of git"]
    assert not list(buried(held(history), {"add.py": "def add(a, b): ...  # something else"}))


def test_a_commit_that_no_branch_leads_to_is_seen(history: Path) -> None:
    git(history, "checkout", "-q", "--orphan", "fresh")
    git(history, "commit", "-qm", "y")
    assert list(buried(held(history), {"add.py": GOLD}))


def test_a_history_that_never_had_it_is_clean(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "add.py").write_text(OTHER)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "x")
    assert not list(buried(held(tmp_path), {"add.py": GOLD}))


@pytest.mark.parametrize(
    "place", ["__pycache__/add.cpython-311.pyc", "add.pyc", "x/__pycache__/add.cpython-311.opt-1.pyc"]
)
def test_a_compiled_solution_without_its_source_is_seen(place: str) -> None:
    assert list(buried({place: b"\x00"}, {"add.py": GOLD})) == [f"{place} is add.py, compiled"]
    assert not list(buried({place: b"\x00", "add.py": b"x"}, {"add.py": GOLD}))


@pytest.mark.parametrize("data", [b"", b"\xfftOc\x00\x00\x00\x02", b"\xfftOc\x00\x00\x00\x02" + b"\xff" * 1100])
def test_an_index_that_is_none_harms_nobody(data: bytes) -> None:
    assert not list(buried({".git/objects/pack/a.idx": data}, {"add.py": GOLD}))

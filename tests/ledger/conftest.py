from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from ledger_making import make_run


@pytest.fixture
def run_path(tmp_path: Path) -> Path:
    """A complete run of eight records."""
    return make_run(tmp_path / "run")


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete run that tests copy and never change."""
    return make_run(tmp_path_factory.mktemp("pristine") / "run")


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for tests that make many examples; in memory where possible."""
    yield from _folder(tmp_path_factory)


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in memory where there is one: a sync takes no time there, and it outlives a process that dies."""
    yield from _folder(tmp_path_factory)


def _folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path_factory.mktemp("folder")
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="lydite-test-") as folder:
        yield Path(folder)

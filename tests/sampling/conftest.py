from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in memory where there is one: a sync takes no time there, and it outlives a process that dies."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path_factory.mktemp("folder")
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="lydite-test-") as folder:
        yield Path(folder)

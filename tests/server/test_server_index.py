"""The index over SQLite."""

import pytest
from server_index_contract import *  # noqa: F403


@pytest.fixture
def url() -> str:
    """The home's own file."""
    return ""


@pytest.fixture(scope="module")
def kept_url() -> str:
    return ""

"""The index over SQLite."""

import pytest

pytest.register_assert_rewrite("server_index_contract")

from server_index_contract import *  # noqa: E402, F403


@pytest.fixture
def url() -> str:
    """The home's own file."""
    return ""


@pytest.fixture(scope="module")
def kept_url() -> str:
    return ""

"""The contract against the tools that are installed here; and what is special to them."""

from __future__ import annotations

import os

import pytest
from backend_contract import *  # noqa: F403

IMAGE = os.environ.get("LYDITE_TEST_IMAGE", "podman:lydite-test")  # with python3 and a shell


@pytest.fixture(
    scope="module",
    params=[
        "bwrap",
        "nsjail",
        pytest.param("runc", marks=pytest.mark.slow),
        pytest.param("crun", marks=pytest.mark.slow),
        pytest.param("runsc", marks=pytest.mark.slow),
        pytest.param(IMAGE, marks=pytest.mark.slow),
        "unsafe",
    ],
)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)

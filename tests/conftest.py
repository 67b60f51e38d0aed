"""Fixtures that every room's tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A property either holds or does not; how long an example takes depends on what else the machine does.
settings.register_profile("lydite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("lydite")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of data sets and labelled cases beside the checkout; tests that need it skip where it is absent."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("no folder of shared data beside the checkout")
    return folder

"""A home, a service over it, and a client that asks it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from lydite.server.app import create_app
from lydite.server.service import Service
from lydite.server.settings import Settings

pytest.register_assert_rewrite("server_index_contract")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def service(home: Path) -> Iterator[Service]:
    made = Service(Settings(home=home, poll_seconds=0.05))
    yield made
    made.close()


@pytest.fixture
def client(service: Service) -> Iterator[TestClient]:
    with TestClient(create_app(service), base_url="http://127.0.0.1:7799") as client:
        yield client

"""No path of a request reaches the file system: hostile names in every parameter of every route."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from server_making import sampled

from lydite.server.app import ROUTES, create_app
from lydite.server.service import Service
from lydite.server.settings import Settings

CANARY = "canary-7f3a9c"
NAMES = (
    "..",
    "%2e%2e",
    "..%2f..%2fcanary",
    "%2e%2e%2f%2e%2e%2fcanary",
    "..%5c..%5ccanary",
    "%2e%2e%5ccanary",
    "..%252f..%252fcanary",
    "..%c0%af..%c0%afcanary",
    "..%ef%bc%8fcanary",
    "....%2f%2fcanary",
    "%2fetc%2fpasswd",
    "%2f%2fetc%2fpasswd",
    "~..~..~canary",
    "..~canary",
    "a~..~..~canary",
    "a~%2e%2e~canary",
    ".lydite",
    "a~.lydite",
    "link",
    "link~canary",
    "canary%00",
    "%00",
    "a%00b",
    "a%0d%0ab",
    "a%0a",
    "%ff%fe",
    "%ed%a0%80",
    "%e2%80%ae",
    "a" * 3000,
    "-1",
    "0",
    "99999999999999999999999999",
    "1e9",
    "NaN",
    "%20",
    "a;b",
    "a%3fb",
    "a%23b",
    "file:%2f%2f%2fetc%2fpasswd",
    "run:..%2f..%2fcanary",
    "run:a@..%2f..%2fcanary",
    "run:a@0-x%2f..",
    "hf:%2fetc",
    "replay:%2fetc%2fpasswd",
    "C:%5cwindows",
    "CON",
    "$(id)",
    "%27%20OR%201=1--",
    "{{7*7}}",
    "%F0%9F%92%A9",
)


def _flat(routes: Iterable[Any], prefix: str = "") -> Iterator[tuple[APIRoute, str]]:
    """Routes and their whole paths, those of routers within routers too."""
    for route in routes:
        if isinstance(route, APIRoute):
            yield route, prefix + route.path
        elif (inner := getattr(route, "original_router", None)) is not None:
            yield from _flat(inner.routes, prefix + route.include_context.prefix)
        else:
            raise TypeError(f"a route of a kind that is not looked into: {route!r}")


def _routes() -> list[tuple[str, str]]:
    found = set()
    for module in ROUTES:
        for route, path in _flat(module.router.routes):
            if "{" in path:
                found |= {(method, path) for method in route.methods - {"HEAD"}}
    return sorted(found)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a home in it, and canaries where a path that escapes would find them."""
    place = tmp_path_factory.mktemp("paths")
    home = place / "home"
    sampled(home, "a", tasks=1)
    outside = sampled(place / "other", "outside", tasks=1)
    for folder in (place, home, home / "runs", home / "runs" / "a"):
        (folder / "canary").write_text(CANARY)
    (home / "runs" / "link").symlink_to(outside)
    return place


@pytest.fixture(scope="module")
def client(place: Path) -> Iterator[TestClient]:
    service = Service(Settings(home=place / "home", jobs=0, poll_seconds=60))
    (service.home.private / "canary").write_text(CANARY)
    service.index.refresh()
    client = TestClient(create_app(service), base_url="http://127.0.0.1:7799", follow_redirects=False)
    yield client
    service.close()


def _state(place: Path) -> set[str]:
    return {str(path) for path in place.rglob("*") if not path.name.startswith("index.sqlite3")}


@pytest.mark.parametrize(("method", "path"), _routes(), ids=lambda part: part.strip("/").replace("/", "."))
def test_no_name_is_a_path(client: TestClient, place: Path, method: str, path: str) -> None:
    before = _state(place)
    for parameter in re.findall(r"{[^}]+}", path):
        for name in NAMES:
            filled = re.sub(r"{[^}]+}", "a", path.replace(parameter, name))
            options: dict[str, object] = {"json": {}} if method in ("POST", "PUT", "PATCH") else {}
            answer = client.request(method, filled, **options)  # type: ignore[arg-type]
            told = f"{method} {filled[:200]}: {answer.status_code} {answer.text[:300]}"
            assert answer.status_code < 500, told
            assert CANARY not in answer.text, told
            assert "root:" not in answer.text, told
            assert str(place) not in answer.text, told
            assert "Traceback" not in answer.text, told
    assert _state(place) == before


def test_a_link_below_runs_is_not_followed(client: TestClient) -> None:
    assert [run["id"] for run in client.get("/v1/rlvr/runs").json()["data"]] == ["a"]
    assert client.get("/v1/rlvr/runs/link").status_code == 404

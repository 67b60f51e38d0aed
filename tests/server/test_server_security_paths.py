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
    "..%2f..%2fcanary",
    "%2e%2e%2f%2e%2e%2fcanary",
    "..%5c..%5ccanary",
    "%2fetc%2fpasswd",
    "~..~..~canary",
    "a%00b",
    "link",
    "99999999999999999999999999",
    "..",
    "..%252f..%252fcanary",
    "..%c0%af..%c0%afcanary",
    "..%ef%bc%8fcanary",
    "..~canary",
    "a~%2e%2e~canary",
    ".lydite",
    "a%0d%0ab",
    "%ff%fe",
    "%ed%a0%80",
    "a" * 3000,
    "-1",
    "NaN",
    "file:%2f%2f%2fetc%2fpasswd",
    "run:..%2f..%2fcanary",
    "run:a@..%2f..%2fcanary",
    "replay:%2fetc%2fpasswd",
    "$(id)",
    "%27%20OR%201=1--",
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
    app = create_app(service)
    with TestClient(app, base_url="http://127.0.0.1:7799", follow_redirects=False) as client:
        yield client
    service.close()


def _state(place: Path) -> set[str]:
    private = place / "home" / ".lydite"  # its own folders are made when they are first asked for
    return {str(path) for path in place.rglob("*") if path.parent != private}


def _ask(client: TestClient, place: Path, names: Iterable[str], method: str, path: str) -> None:
    before = _state(place)
    for parameter in re.findall(r"{[^}]+}", path):
        for name in names:
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


@pytest.mark.parametrize(("method", "path"), _routes(), ids=lambda part: part.strip("/").replace("/", "."))
def test_no_name_is_a_path(client: TestClient, place: Path, method: str, path: str) -> None:
    _ask(client, place, NAMES[:8], method, path)


@pytest.mark.slow
def test_no_other_name_is_a_path(client: TestClient, place: Path) -> None:
    for method, path in _routes():
        _ask(client, place, NAMES[8:], method, path)


def test_a_link_below_runs_is_not_followed(client: TestClient) -> None:
    assert [run["id"] for run in client.get("/v1/rlvr/runs").json()["data"]] == ["a"]
    assert client.get("/v1/rlvr/runs/link").status_code == 404


QUERIES = (
    "-1",
    "99999999999999999999999999",
    "NaN",
    "NaN..inf",
    "5..1",
    "1...2",
    "%ff",
    "%ED%A0%80",
    "a" * 3000,
    "a:1",
    "a:99999999999999999999",
    "b:1:2",
    "::",
    "%25_%25",
    "-reward",
    "--",
    ",",
    "%3Cscript%3E",
)
HERE = {"run": "a", "seq": "1", "number": "1"}


def _views() -> list[tuple[str, tuple[str, ...]]]:
    found = {}
    for module in ROUTES:
        for route, path in _flat(module.router.routes):
            if not route.include_in_schema and "GET" in route.methods:
                found[re.sub(r"{(\w+)[^}]*}", lambda part: HERE.get(part[1], "x"), path)] = _parameters(route.dependant)
    return sorted(found.items())


def _parameters(dependant: Any) -> tuple[str, ...]:
    own = [field.alias for field in dependant.query_params]
    return tuple(sorted({*own, *(name for inner in dependant.dependencies for name in _parameters(inner))}))


@pytest.mark.parametrize(("path", "names"), _views(), ids=lambda part: part if isinstance(part, str) else "")
def test_no_query_makes_a_view_fail(client: TestClient, path: str, names: tuple[str, ...]) -> None:
    for place, value in enumerate(QUERIES):
        for chosen in {names, *((name,) for name in names if place < 4)}:
            query = "&".join(f"{name}={value}" for name in chosen)
            answer = client.get(f"{path}?{query}", headers={"Accept": "text/html"})
            assert answer.status_code < 500, (path, query[:300], answer.text[-500:])
            assert "<script>" not in answer.text, (path, query[:300])

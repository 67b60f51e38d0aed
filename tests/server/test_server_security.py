"""The guard: names, origins, content types, tokens, headers, errors."""

from __future__ import annotations

import json
import logging
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from lydite.errors import InputError
from lydite.server.app import create_app
from lydite.server.errors import ApiError
from lydite.server.security import HEADERS, Hosts, check_site, check_type
from lydite.server.service import Service
from lydite.server.settings import Settings
from lydite.server.tokens import PREFIX, Tokens

BASE = "http://127.0.0.1:7799"
ELSEWHERE = "http://192.0.2.7:7799"


@pytest.fixture
def open_client(home: Path) -> Iterator[Callable[..., TestClient]]:
    """Makes clients of services that are set up otherwise."""
    services: list[Service] = []

    def make(**settings: object) -> TestClient:
        service = Service(Settings(home=home, **settings))  # type: ignore[arg-type]
        services.append(service)
        address = BASE if service.settings.loopback else ELSEWHERE
        return TestClient(create_app(service), base_url=address, follow_redirects=False)

    yield make
    for service in services:
        service.close()


@pytest.fixture
def guarded(open_client: Callable[..., TestClient]) -> TestClient:
    """A client of a service that can be reached from elsewhere."""
    return open_client(host="0.0.0.0")


def _tokens(home: Path) -> Tokens:
    (home / ".lydite").mkdir(parents=True, exist_ok=True, mode=0o700)
    return Tokens(home / ".lydite")


# Names


@pytest.mark.parametrize("host", ["127.0.0.1:7799", "localhost:7799", "LOCALHOST.:7799", "[::1]:1", "localhost"])
def test_a_service_on_loopback_is_known_by_its_names(client: TestClient, host: str) -> None:
    assert client.get("/healthz", headers={"Host": host}).json()["ok"] is True


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "192.0.2.7",
        "",
        "a@127.0.0.1",
        "[::1",
        "127.1",
    ],
)
def test_a_name_that_only_resolves_to_it_is_refused(client: TestClient, host: str) -> None:
    answer = client.get("/healthz", headers={"Host": host})
    assert answer.status_code == 421
    assert answer.json()["error"]["code"] == "unknown_host"


@pytest.mark.parametrize(
    ("settings", "host", "known"),
    [
        ({"host": "0.0.0.0"}, "192.0.2.7:7799", True),
        ({"host": "0.0.0.0"}, "[2001:db8::1]", True),
        ({"host": "0.0.0.0"}, "evil.example", False),
        ({"host": "::"}, "localhost:7799", True),
        ({"host": "192.0.2.7"}, "192.0.2.7:7799", True),
        ({"host": "192.0.2.7"}, "localhost", False),
        ({"host": "2001:db8::1"}, "[2001:db8::1]:7799", True),
        ({"host": "::1"}, "[::1]:7799", True),
        ({"allowed_hosts": ("rl.example.org",)}, "RL.example.org:443", True),
        ({"allowed_hosts": ("rl.example.org",)}, "x.rl.example.org", False),
    ],
)
def test_names_follow_the_address(tmp_path: Path, settings: dict, host: str, known: bool) -> None:
    hosts = Hosts(Settings(home=tmp_path, **settings))
    if known:
        hosts.check(host)
    else:
        with pytest.raises(ApiError, match="not known"):
            hosts.check(host)


# Pages of other sites


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("POST", {"origin": "https://evil.example"}),
        ("POST", {"origin": "null"}),
        ("POST", {"origin": "http://localhost:3000"}),
        ("POST", {"origin": "http://localhost:7799, http://evil.example"}),
        ("POST", {"origin": "file://localhost:7799"}),
        ("POST", {"origin": "null", "sec-fetch-site": "none"}),
        ("POST", {"sec-fetch-site": "same-origin, cross-site"}),
        ("DELETE", {"sec-fetch-site": "cross-site"}),
        ("POST", {"sec-fetch-site": "same-site"}),
        ("POST", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}),
        ("GET", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}),
        ("GET", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}),
    ],
)
def test_what_another_site_asks_for_is_refused(method: str, headers: dict[str, str]) -> None:
    with pytest.raises(ApiError, match="another site") as caught:
        check_site(method, headers, "localhost:7799")
    assert caught.value.status == 403


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("POST", {}),
        ("POST", {"origin": "http://localhost:7799", "sec-fetch-site": "same-origin"}),
        ("POST", {"origin": "https://LOCALHOST:7799"}),
        ("POST", {"origin": "null", "sec-fetch-site": "same-origin"}),
        ("GET", {"sec-fetch-site": "none"}),
        ("GET", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}),
        ("GET", {"origin": "https://evil.example"}),
    ],
)
def test_clients_own_pages_and_links_pass(method: str, headers: dict[str, str]) -> None:
    check_site(method, headers, "localhost:7799")


@pytest.mark.parametrize(
    "kind", ["text/plain", "", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_the_api_takes_no_type_that_browsers_send_unasked(kind: str) -> None:
    with pytest.raises(ApiError) as caught:
        check_type("/v1/fine_tuning/jobs", {"content-length": "2", "content-type": kind})
    assert caught.value.status == 415


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/v1/fine_tuning/jobs", {"content-length": "2", "content-type": "application/json; charset=utf-8"}),
        ("/v1/fine_tuning/jobs", {"transfer-encoding": "chunked", "content-type": "application/x+json"}),
        ("/v1/fine_tuning/jobs/x/cancel", {"content-length": "0"}),
        ("/v1/fine_tuning/jobs/x/cancel", {}),
        ("/v1/files", {"content-length": "2", "content-type": "multipart/form-data; boundary=x"}),
        ("/login", {"content-length": "2", "content-type": "application/x-www-form-urlencoded"}),
    ],
)
def test_bodies_of_the_right_type_pass(path: str, headers: dict[str, str]) -> None:
    check_type(path, headers)


# Tokens


def test_a_service_on_loopback_asks_for_no_token_and_takes_any(client: TestClient) -> None:
    assert client.get("/v1/files").status_code == 200
    assert client.get("/v1/files", headers={"Authorization": "Bearer wrong"}).status_code == 200


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"])
def test_what_comes_through_a_proxy_needs_a_token_on_loopback_too(client: TestClient, home: Path, header: str) -> None:
    through = {header: "192.0.2.9"}
    assert client.get("/v1/files", headers=through).status_code == 401
    token = _tokens(home).new("proxy")
    assert client.get("/v1/files", headers={**through, "x-api-key": token}).status_code == 200


def test_a_token_can_be_asked_for_on_loopback(open_client: Callable[..., TestClient], home: Path) -> None:
    client = open_client(require_token=True)
    assert client.get("/v1/files").status_code == 401
    assert client.get("/v1/files", headers={"x-api-key": _tokens(home).new("me")}).status_code == 200


def test_both_headers_carry_a_token(guarded: TestClient, home: Path) -> None:
    token = _tokens(home).new("ci")
    assert guarded.get("/v1/files").status_code == 401
    for headers in ({"Authorization": f"Bearer {token}"}, {"authorization": f"bearer  {token} "}, {"x-api-key": token}):
        assert guarded.get("/v1/files", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "value", ["Bearer", "Bearer ", "Bearer x", "Basic {token}", "{token}", "Bearer {token}x", "Bearer {hash}"]
)
def test_what_is_no_token_is_refused(guarded: TestClient, home: Path, value: str) -> None:
    tokens = _tokens(home)
    token = tokens.new("ci")
    answer = guarded.get("/v1/files", headers={"Authorization": value.format(token=token, hash=tokens.all()[0].hash)})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["error"]["type"] == "authentication_error"
    assert token not in answer.text


def test_a_token_that_is_revoked_is_refused_at_once(guarded: TestClient, home: Path) -> None:
    tokens = _tokens(home)
    kept, gone = tokens.new("kept"), tokens.new("gone")
    assert guarded.get("/v1/files", headers={"x-api-key": gone}).status_code == 200
    tokens.revoke("gone")
    assert guarded.get("/v1/files", headers={"x-api-key": gone}).status_code == 401
    assert guarded.get("/v1/files", headers={"x-api-key": kept}).status_code == 200


def test_tokens_that_are_no_file_let_nobody_in_and_hold_nobody_up(guarded: TestClient, home: Path) -> None:
    token = _tokens(home).new("a")
    path = home / ".lydite" / "tokens.json"
    path.unlink()
    os.mkfifo(path)
    assert guarded.get("/v1/files", headers={"x-api-key": token}).status_code == 401
    assert guarded.get("/healthz").status_code == 200


def test_the_token_of_the_environment_is_good(
    open_client: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LYDITE_TOKEN", "a-token-of-the-environment")
    client = open_client(host="0.0.0.0")
    assert client.get("/v1/files", headers={"x-api-key": "a-token-of-the-environment"}).status_code == 200
    assert client.get("/v1/files", headers={"x-api-key": "a-token-of-the-environmen"}).status_code == 401


def test_a_short_token_of_the_environment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="shorter than 16"):
        Tokens(tmp_path, "secret")


def test_paths_without_secrets_are_open(guarded: TestClient) -> None:
    assert guarded.get("/healthz").status_code == 200
    assert guarded.head("/healthz").status_code == 200
    assert guarded.get("/login").status_code == 200
    assert guarded.get("/favicon.ico").status_code == 200


@pytest.mark.parametrize(
    "path", ["/", "/v1/models", "/openapi.json", "/healthz/", "/login/x", "/static", "//healthz", "/nothing"]
)
def test_every_other_path_is_not(guarded: TestClient, path: str) -> None:
    assert guarded.get(ELSEWHERE + path).status_code == 401


def test_the_file_of_tokens_tells_none(home: Path) -> None:
    token = _tokens(home).new("ci")
    path = home / ".lydite" / "tokens.json"
    assert token.startswith(PREFIX)
    assert len(token) > 40
    assert token.removeprefix(PREFIX) not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [kept["name"] for kept in json.loads(path.read_text())] == ["ci"]


def test_a_damaged_file_of_tokens_lets_nobody_in(guarded: TestClient, home: Path) -> None:
    token = _tokens(home).new("ci")
    (home / ".lydite" / "tokens.json").write_text('[{"name": "ci"')
    assert guarded.get("/v1/files", headers={"x-api-key": token}).status_code == 401
    with pytest.raises(InputError, match="damaged"):
        _tokens(home).all()


@pytest.mark.parametrize("name", ["", "../x", "a b", "a" * 65, "-"])
def test_a_token_has_a_plain_name(home: Path, name: str) -> None:
    with pytest.raises(InputError):
        _tokens(home).new(name)


def test_two_tokens_of_one_name_are_refused(home: Path) -> None:
    _tokens(home).new("ci")
    with pytest.raises(InputError, match="there is a token 'ci'"):
        _tokens(home).new("ci")


# Sessions


def _enter(client: TestClient, token: str, target: str = "/v1/files") -> object:
    return client.post("/login", data={"token": token, "next": target})


def test_a_browser_is_sent_to_the_login_and_back(guarded: TestClient, home: Path) -> None:
    token = _tokens(home).new("me")
    asked = guarded.get("/flags?run=a&detector=b", headers={"Accept": "text/html"})
    assert asked.status_code == 303
    assert asked.headers["location"] == "/login?next=%2Fflags%3Frun%3Da%26detector%3Db"
    page = guarded.get(asked.headers["location"])
    assert 'value="/flags?run=a&amp;detector=b"' in page.text
    entered = _enter(guarded, token, "/flags?run=a&detector=b")
    assert entered.headers["location"] == "/flags?run=a&detector=b"
    assert guarded.get("/v1/files").status_code == 200


def test_the_cookie_is_no_token_and_no_script_reads_it(guarded: TestClient, home: Path) -> None:
    token = _tokens(home).new("me")
    cookie = _enter(guarded, token).headers["set-cookie"]
    assert token not in cookie
    for word in ("HttpOnly", "SameSite=strict", "Path=/"):
        assert word in cookie


def test_a_wrong_token_opens_no_session(guarded: TestClient, home: Path) -> None:
    _tokens(home).new("me")
    answer = _enter(guarded, "lyd_wrong")
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert "not known" in answer.text


def test_a_session_ends_with_its_token_and_at_the_logout(guarded: TestClient, home: Path) -> None:
    tokens = _tokens(home)
    _enter(guarded, tokens.new("a"))
    assert guarded.get("/v1/files").status_code == 200
    tokens.revoke("a")
    assert guarded.get("/v1/files").status_code == 401
    _enter(guarded, tokens.new("b"))
    kept = dict(guarded.cookies)
    assert guarded.post("/logout").headers["location"] == "/login"
    guarded.cookies.update(kept)
    assert guarded.get("/v1/files").status_code == 401


def test_no_form_of_another_site_logs_in(guarded: TestClient, home: Path) -> None:
    token = _tokens(home).new("me")
    answer = guarded.post("/login", data={"token": token}, headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403


@pytest.mark.parametrize(
    "target",
    [
        "//evil.example",
        "https://evil.example/",
        "/\\evil.example",
        "javascript:alert(1)",
        "//[",
        "",
        "/a\r\nb",
        "/login",
    ],
)
def test_the_login_leads_nowhere_else(guarded: TestClient, home: Path, target: str) -> None:
    assert _enter(guarded, _tokens(home).new("me"), target).headers["location"] == "/"


def test_parts_of_a_page_are_told_to_go_to_the_login(guarded: TestClient) -> None:
    answer = guarded.get("/", headers={"Accept": "text/html", "HX-Request": "true"})
    assert answer.status_code == 401
    assert answer.headers["hx-redirect"] == "/login"


# Answers


def _boom() -> None:
    raise ValueError("/secret/path and a secret")


@pytest.fixture
def broken(open_client: Callable[..., TestClient]) -> TestClient:
    client = open_client()
    client.app.add_api_route("/v1/boom", _boom)  # type: ignore[attr-defined]
    client.app.add_api_route("/boom", _boom)  # type: ignore[attr-defined]
    return client


def test_what_nobody_foresaw_is_told_by_an_id_that_the_log_knows(
    broken: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        answer = broken.get("/v1/boom")
    error = answer.json()["error"]
    assert (answer.status_code, error["type"], error["code"]) == (500, "server_error", "internal_error")
    assert "secret" not in answer.text
    record = next(one for one in caplog.records if one.name == "lydite.server")
    assert error["message"].split()[-1] in record.getMessage()
    assert record.exc_info is not None


def test_a_browser_sees_it_as_a_page(broken: TestClient) -> None:
    answer = broken.get("/boom", headers={"Accept": "text/html,*/*"})
    assert answer.status_code == 500
    assert answer.headers["content-type"].startswith("text/html")
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/healthz", {}, 200),
        ("GET", "/v1/nothing", {}, 404),
        ("DELETE", "/healthz", {}, 405),
        ("GET", "/nothing", {"Accept": "text/html"}, 404),
        ("GET", "/healthz", {"Host": "evil.example"}, 421),
        ("POST", "/v1/files", {"Origin": "null"}, 403),
        ("GET", "/v1/boom", {}, 500),
        ("GET", "/login", {}, 303),
        ("GET", "/favicon.ico", {}, 200),
    ],
)
def test_every_answer_has_the_headers(
    broken: TestClient, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    answer = broken.request(method, path, headers=headers)
    assert answer.status_code == status
    for name, value in HEADERS:
        if name != b"cache-control":
            assert answer.headers[name.decode()] == value.decode()
    assert "cache-control" in answer.headers
    assert "server" not in answer.headers


def test_static_files_are_kept_and_the_rest_is_not(client: TestClient) -> None:
    page = client.get("/nothing", headers={"Accept": "text/html"}).text
    style = page.split('rel="stylesheet" href="')[1].split('"')[0]
    assert "immutable" in client.get(style).headers["cache-control"]
    assert client.get("/v1/files").headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/v1/nothing", 404), ("PATCH", "/v1/files", 405), ("GET", "/verify", 405)]
)
def test_errors_of_the_framework_have_the_shape(client: TestClient, method: str, path: str, status: int) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status
    assert set(answer.json()["error"]) == {"message", "type", "param", "code"}


def test_long_addresses_and_headers_are_refused(client: TestClient) -> None:
    assert client.get("/healthz?" + "a" * 20_000).status_code == 414
    assert client.get("/healthz", headers={"x-a": "a" * 40_000}).status_code == 431
    assert client.get("/healthz?a=%00").status_code == 400

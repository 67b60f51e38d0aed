"""Who may ask: the guard in front of every route.

What is covered: pages of other sites that reach for a service on this machine, by a name of theirs that resolves to it
(``Host``), by forms and scripts (``Origin``, Fetch Metadata, content types that need no preflight), by frames and
images (the headers of every answer); whoever can reach the address without a token; paths that are not plain.

What is not covered: transport (put TLS in front of it), other users of this machine where the service listens on
loopback without ``--require-token``, what one token's owner does to another's runs.
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import quote, urlsplit

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lydite.server.answers import failure, for_api, for_page
from lydite.server.errors import ApiError
from lydite.server.limits import UPLOADS
from lydite.server.settings import Settings
from lydite.server.tokens import Sessions, Tokens

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
"""Of every answer that does not say otherwise itself."""

OPEN = ("/healthz", "/login", "/favicon.ico")
"""Paths that need no token; and what lies below ``/static/``."""
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via")
"""Headers that a proxy adds: the request does not come from this machine, whatever address it comes from."""
URL_BYTES = 16 << 10
"""Of a path with its query."""
HEAD_BYTES = 32 << 10
"""Of all headers of a request."""
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\s:\[\]/@?#\\]+)(?::[0-9]{1,5})?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class Headers:
    """Outermost: puts what is missing of ``HEADERS`` on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", ()))
                names = {name.lower() for name, _ in given}
                message["headers"] = given + [pair for pair in HEADERS if pair[0] not in names]
            await send(message)

        await self.app(scope, receive, sending)


class Guard:
    """Answers what may not pass.

    Args:
        app: what lies behind it.
        settings: where the service listens, and under which names.
        tokens, sessions: who is let in where that is asked.
    """

    def __init__(self, app: ASGIApp, *, settings: Settings, tokens: Tokens, sessions: Sessions) -> None:
        self.app, self.tokens, self.sessions = app, tokens, sessions
        self.hosts = Hosts(settings)
        self.guarded = settings.guarded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        try:
            turned = self.check(scope)
        except ApiError as error:
            turned = failure(scope, error)
        await (turned or self.app)(scope, receive, send)

    def check(self, scope: Scope) -> Response | None:
        """``None`` where a request may pass, else another answer.

        Raises:
            ApiError: it may not.
        """
        state = scope.setdefault("state", {})
        state["guarded"] = self.guarded
        check_size(scope)
        headers = joined(scope)
        if "content-length" in headers and "transfer-encoding" in headers:  # RFC 9112, 6.1: where does the body end?
            error = ApiError(400, "both Content-Length and Transfer-Encoding are given", code="invalid_request")
            return failure(scope, error, {"Connection": "close"})
        host = headers.get("host", "")
        self.hosts.check(host)
        check_path(scope)
        check_site(scope["method"], headers, host)
        if scope["method"] not in SAFE:
            check_type(scope["path"], headers)
        guarded = self.guarded or any(name in headers for name in FORWARDED)
        state["guarded"] = guarded
        if not guarded or scope["path"] in OPEN or scope["path"].startswith("/static/"):
            return None
        if self.known(scope, headers):
            state["still_known"] = lambda: self.known(scope, headers)  # asked again while a stream goes on
            return None
        if for_page(scope) and scope["method"] in ("GET", "HEAD") and "hx-request" not in headers:
            query = scope["query_string"].decode("latin-1")
            return RedirectResponse(
                "/login?next=" + quote(scope["path"] + (f"?{query}" if query else ""), safe=""), 303
            )
        message = "a token is needed: 'Authorization: Bearer …' or 'x-api-key: …' (lydite tokens new NAME makes one)"
        error = ApiError(401, message, code="invalid_api_key")
        return failure(scope, error, {"HX-Redirect": "/login"} if "hx-request" in headers else None)

    def known(self, scope: Scope, headers: dict[str, str]) -> bool:
        """Whether a good token, or the cookie of an open session, comes with a request."""
        kind, _, bearer = headers.get("authorization", "").partition(" ")
        for token in (bearer.strip() if kind.lower() == "bearer" else "", headers.get("x-api-key", "").strip()):
            if token and self.tokens.find(token) is not None:
                return True
        word = cookie(scope, headers)
        return bool(word) and self.sessions.good(word)


class Hosts:
    """The names under which the service may be asked for."""

    def __init__(self, settings: Settings) -> None:
        own = settings.host.lower()
        self.names = {f"[{own}]" if ":" in own else own, *(host_name(name) or "" for name in settings.allowed_hosts)}
        if settings.loopback:
            self.names |= LOOPBACK
        try:
            self.everywhere = ip_address(own).is_unspecified
        except ValueError:
            self.everywhere = False

    def check(self, host: str) -> None:
        """Refuse a name of somebody else's that resolves to this machine.

        Raises:
            ApiError: 421.
        """
        name = host_name(host) or ""
        if (name and name in self.names) or (self.everywhere and (name == "localhost" or _is_address(name))):
            return
        message = f"the service is not known as {host[:200]!r} (lydite serve --allow-host NAME makes it so)"
        raise ApiError(421, message, param="Host", code="unknown_host")


def host_name(text: str) -> str | None:
    """The name of ``NAME``, ``NAME:PORT`` or ``[ADDRESS]:PORT``, in lower case; ``None`` where it is none."""
    found = _HOST.fullmatch(text.lower())
    return (found[1].rstrip(".") or None) if found else None


def _is_address(name: str) -> bool:
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True  # nobody can make an address resolve to another machine


def joined(scope: Scope) -> dict[str, str]:
    """Headers by lower-case name; several of one name are put together, and so are no single value any more."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def check_size(scope: Scope) -> None:
    """Refuse addresses and headers that no client has a reason to send."""
    if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > URL_BYTES:
        raise ApiError(414, f"the address is longer than {URL_BYTES} bytes", code="too_large")
    if sum(len(name) + len(value) for name, value in scope["headers"]) > HEAD_BYTES:
        raise ApiError(431, f"the headers are longer than {HEAD_BYTES} bytes", code="too_large")


def check_path(scope: Scope) -> None:
    """Paths are names in tables here, never files; what could be read as another place all the same is nowhere."""
    path: str = scope["path"]
    if _CONTROL.search(path) or "\\" in path or any(part in (".", "..") for part in path.split("/")):
        raise ApiError(404, "there is nothing at this address", code="not_found")
    if b"%00" in scope["query_string"]:
        raise ApiError(400, "the query holds a NUL character", param="query", code="invalid_value")


def check_site(method: str, headers: dict[str, str], host: str) -> None:
    """Refuse what another site's page asks for; following a link to here is fine."""
    site = headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        linked = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
        if method != "GET" or not linked:
            raise ApiError(403, "the request comes from a page of another site", code="cross_site")
    if site == "same-origin":
        return  # no script can say so; a page without a referrer has the origin "null"
    origin = headers.get("origin")
    if origin is not None and method not in SAFE and not _same(origin, host):
        raise ApiError(403, "the request comes from a page of another site", param="Origin", code="cross_site")


def _same(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    # The scheme is not compared: behind a proxy the browser speaks https and the service does not know it.
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()


def check_type(path: str, headers: dict[str, str]) -> None:
    """A body is JSON, or a form where one is taken. The types that a browser sends across sites unasked are refused by
    the API, whatever is in them."""
    if headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers:
        return
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json")):
        return
    if kind == "multipart/form-data" and (path in UPLOADS or not for_api(path)):
        return
    if kind == "application/x-www-form-urlencoded" and not for_api(path):
        return
    wanted = "multipart/form-data" if path in UPLOADS else "application/json"
    message = f"the body's Content-Type is {kind[:100] or 'missing'!r}; send {wanted}"
    raise ApiError(415, message, param="Content-Type", code="unsupported_media_type")


def cookie_name(scope: Scope) -> str:
    """Browsers keep cookies by host without the port: two services on one host must not overwrite each other's."""
    server = scope.get("server")
    return f"lydite_{server[1] if server else 0}"


def cookie(scope: Scope, headers: dict[str, str] | None = None) -> str:
    """The session's word that a browser sent, or nothing."""
    name = cookie_name(scope)
    for part in (headers if headers is not None else joined(scope)).get("cookie", "").replace(",", ";").split(";"):
        key, _, value = part.strip().partition("=")
        if key == name:
            return value
    return ""

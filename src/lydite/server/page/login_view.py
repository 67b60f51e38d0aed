"""The view of login: a token in, a session's cookie out."""

from __future__ import annotations

from urllib.parse import urlsplit

from fastapi import Request
from fastapi.responses import RedirectResponse, Response

from lydite.server.page.render import page_router, show
from lydite.server.security import cookie, cookie_name
from lydite.server.tokens import SESSION_SECONDS, Sessions

router = page_router()


@router.get("/login")
def login(request: Request, next: str = "/") -> Response:
    """Ask for a token; where none is needed, go on."""
    if not request.state.guarded:
        return RedirectResponse(_own(next), 303)
    return show(request, "login.html", next=_own(next), wrong=False)


@router.post("/login")
async def enter(request: Request) -> Response:
    """Begin a session."""
    async with request.form(max_files=0, max_fields=10, max_part_size=4096) as form:
        token, target = str(form.get("token") or "").strip(), _own(str(form.get("next") or "/"))
    sessions: Sessions = request.app.state.sessions
    word = sessions.begin(token)
    if word is None:
        return show(request, "login.html", status=401, next=target, wrong=True)
    response = RedirectResponse(target, 303)
    response.set_cookie(
        cookie_name(request.scope), word, max_age=int(SESSION_SECONDS), path="/", httponly=True, samesite="strict"
    )
    return response


@router.post("/logout")
def leave(request: Request) -> Response:
    """End the session."""
    sessions: Sessions = request.app.state.sessions
    sessions.end(cookie(request.scope))
    response = RedirectResponse("/login", 303)
    response.delete_cookie(cookie_name(request.scope), path="/", httponly=True, samesite="strict")
    return response


def _own(target: str) -> str:
    """An address of this service's own; ``/`` for any other, so that no link here leads elsewhere."""
    try:
        parts = urlsplit(target)
    except ValueError:
        return "/"
    plain = target.isprintable() and "\\" not in target and target[:1] == "/" and target[:2] != "//"
    return target if plain and not parts.scheme and not parts.netloc and parts.path != "/login" else "/"

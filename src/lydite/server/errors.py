"""What a request is answered with where it cannot be served: one shape for all, that of OpenAI's API.

{"error": {"message": "...", "type": "invalid_request_error", "param": "field" or null, "code": "word" or null}}
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lydite.errors import InputError, LyditeError


class ApiError(LyditeError):
    """An answer other than 2xx.

    Args:
        status: of HTTP. 400 for everything that the caller must change, a state that does not allow it included:
            clients of OpenAI's repeat 408, 409, 429 and 5xx by themselves.
        message: what is wrong and what to do.
        param: dotted name of the field.
        code: a word for programs.
    """

    def __init__(self, status: int, message: str, *, param: str | None = None, code: str | None = None) -> None:
        self.status, self.message, self.param, self.code = status, message, param, code
        super().__init__(message)


class NotFoundError(ApiError):
    """There is no such thing."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(404, f"there is no {kind} {name[:200]!r}", param="id", code=f"{kind}_not_found")

    def at(self, field: str, remedy: str) -> NotFoundError:
        """The same about a field of a body that names it."""
        self.param, self.message = field, f"{self.message} ({remedy})"
        return self


class RefusedError(ApiError):
    """Unusable input: 400."""

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(400, message, param=param, code=code)


def refused(error: InputError) -> RefusedError:
    """An error about input, as an answer. Paths of this machine are left out."""
    message = error.message + (f" ({error.remedy})" if error.remedy else "")
    if error.path is not None:
        path = Path(error.path)
        for place in (path, path.parent):
            if place.is_absolute() and place.name:
                message = message.replace(str(place), place.name)
    if error.line is not None:
        message = f"line {error.line}: {message}"
    return RefusedError(message, param=error.field)


def body(error: ApiError) -> dict[str, Any]:
    """The JSON of an answer. Clients of OpenAI's show the message alone, so that it names the field of a 400 too."""
    kind = {401: "authentication_error", 403: "permission_error"}.get(error.status, "invalid_request_error")
    if error.status >= 500:
        kind = "server_error"
    message = error.message
    if error.status == 400 and error.param and error.param not in message:
        message = f"{error.param}: {message}"
    return {"error": {"message": message, "type": kind, "param": error.param, "code": error.code}}

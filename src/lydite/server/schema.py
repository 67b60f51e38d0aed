"""The OpenAPI document: what FastAPI makes of the routes, with what holds for all of them."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

DESCRIPTION = """Runs, jobs and verdicts of one home, and models that it trained.

`/v1` takes what OpenAI's clients send (`base_url=".../v1"`), `/v1/rlvr` is Lydite's own, `/doc` and `/finetuning` are
task documents and jobs over them, `/verify` and `/get_reward` are reward servers for other trainers. Errors have one
shape. Lists are in pages: `after` is the last id of the page before (or `next`, where the answer has it)."""

TAGS = {
    "files": "Files that jobs are made of.",
    "fine-tuning": "Jobs: training runs that the service starts, watches and stops.",
    "graders": "Try a grader out.",
    "models": "Models that can be talked to.",
    "chat": "Talk to them.",
    "documents": "Task documents of workspaces.",
    "finetuning": "Jobs over the published tasks of a workspace.",
    "runs": "What run folders hold.",
    "flags": "Suspicions, and what people say of them.",
    "events": "What happens, as it happens.",
    "ledger": "Heads, proofs, exports.",
    "tasks": "Look at a task before a policy does.",
    "verify": "Judge completions.",
    "compat": "Reward servers in the shapes of other trainers.",
    "service": "The service itself.",
}

ERROR = {
    "type": "object",
    "title": "Error",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {
                "message": {"type": "string", "description": "What is wrong and what to do."},
                "type": {
                    "type": "string",
                    "enum": ["invalid_request_error", "authentication_error", "permission_error", "server_error"],
                },
                "param": {"type": ["string", "null"], "description": "Dotted name of the field."},
                "code": {"type": ["string", "null"], "description": "A word for programs."},
            },
        }
    },
}

SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "A token of `lydite tokens new NAME`."},
    "key": {"type": "apiKey", "in": "header", "name": "x-api-key", "description": "The same, as another header."},
}
SECURITY: list[dict[str, list[str]]] = [{}, {"bearer": []}, {"key": []}]
"""On loopback none is asked for."""

REFUSALS = {
    "400": "The request is unusable: the message names the field and what to do.",
    "401": "A token is needed; on loopback none is.",
    "403": "The request comes from a page of another site.",
    "404": "There is no such thing.",
    "408": "The body came too slowly.",
    "413": "The body is too long.",
    "414": "The address is too long.",
    "415": "The body is not of a type that is taken here.",
    "421": "The service is not known under this name.",
    "431": "The headers are too long.",
    "503": "Not now: too much at once, or a part that this needs is not there.",
}
WITH_BODY = frozenset({"408", "413", "415"})
OPEN = frozenset({"/healthz"})


def document(app: FastAPI) -> dict[str, Any]:
    """The document; made once."""
    if app.openapi_schema is None:
        app.openapi_schema = completed(FastAPI.openapi(app))
    return app.openapi_schema


def completed(schema: dict[str, Any]) -> dict[str, Any]:
    """Errors, security and tags of every operation."""
    schema["info"]["description"] = DESCRIPTION
    schema["info"]["license"] = {"name": "Apache-2.0", "identifier": "Apache-2.0"}
    components = schema.setdefault("components", {})
    components["securitySchemes"] = SCHEMES
    schemas = components.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["Error"] = ERROR
    schema["security"] = SECURITY
    used: set[str] = set()
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            _complete(path, operation)
            used.update(operation["tags"])
    schema["tags"] = [{"name": name, "description": text} for name, text in TAGS.items() if name in used]
    schema["tags"] += [{"name": name} for name in sorted(used - set(TAGS))]
    return schema


def _complete(path: str, operation: dict[str, Any]) -> None:
    operation.setdefault("tags", ["service"])
    responses: dict[str, Any] = operation.setdefault("responses", {})
    responses.pop("422", None)  # 400 here
    takes_body = "requestBody" in operation
    for status, text in REFUSALS.items():
        if path in OPEN and status == "401":
            continue
        if status in WITH_BODY and not takes_body:
            continue
        if status == "404" and "{" not in path and not takes_body:
            continue
        responses.setdefault(status, {"description": text})
    for status, told in responses.items():
        if status >= "4":
            told.setdefault("content", {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}})
    if path in OPEN:
        operation["security"] = []

"""``/v1/fine_tuning/alpha/graders``: try a grader out. One that asks a model is refused: a model is no verifier."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Body
from fastapi.responses import Response

from lydite.codec import canonical, well_formed
from lydite.errors import InputError
from lydite.server.answers import Json
from lydite.server.apart import TooLongError, apart
from lydite.server.bodies import field, json_body, only, shown
from lydite.server.errors import ApiError, RefusedError, refused
from lydite.verdict import Outcome, Verdict
from lydite.verifiers.grader.document import TYPES

router = APIRouter(prefix="/v1/fine_tuning/alpha/graders", tags=["graders"])

GRADING = "lydite.server.grading"
SECONDS = 60.0
"""For reading a grader, and for running it."""
_GRADER = {
    "type": "object",
    "required": ["type"],
    "properties": {
        "type": {"enum": list(TYPES)},
        "name": {"type": "string"},
    },
}
_RUN = {
    "type": "object",
    "required": ["grader", "model_sample"],
    "additionalProperties": False,
    "properties": {
        "grader": _GRADER,
        "item": {"type": "object", "description": "What {{ item.x }} stands for."},
        "model_sample": {"type": "string", "description": "The completion."},
    },
}
_EXAMPLE = {
    "type": "string_check",
    "name": "capital",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.answer }}",
    "operation": "eq",
}
_FLAGS = {
    "not_json": "sample_parse_error",
    "missing_field": "sample_parse_error",
    "no_answer": "unresponsive_reward_error",
    "refused": "unresponsive_reward_error",
    "too_long": "truncated_observation_error",
    "formula_error": "formula_parse_error",
    "grader_error": "python_grader_runtime_error",
    "timeout": "python_grader_server_error",
    "memory": "python_grader_server_error",
    "output": "python_grader_server_error",
    "sandbox_lost": "python_grader_server_error",
}
"""Reasons of verdicts, as errors of OpenAI's."""


@router.post(
    "/run",
    summary="Run a grader",
    response_class=Json,
    openapi_extra=json_body(_RUN, {"grader": _EXAMPLE, "item": {"answer": "Paris"}, "model_sample": "Paris"}),
)
def run(body: Annotated[Any, Body()]) -> Response:
    """Judge a completion. ``reward`` is null where the grader is at fault: that is no score."""
    given = only(body, ("grader", "item", "model_sample"))
    grader = field(given, "grader", dict)
    sample = given.get("model_sample")
    if not isinstance(sample, str):
        raise RefusedError(f"model_sample: must be a text, not {shown(sample)}", param="model_sample")
    config = {"grader": grader, "item": field(given, "item", dict, {})}
    try:
        asked = _plain({"config": config, "sample": well_formed(sample)})
        verdict, seconds = msgspec.json.decode(apart(f"{GRADING}:run", asked, SECONDS), type=tuple[Verdict, float])
    except TooLongError as error:
        verdict, seconds = Verdict.invalid("timeout", "", detail=f"the grader {error.message}"), SECONDS
    except InputError as error:
        raise _named(error) from None
    return Json(told(grader, verdict, seconds))


@router.post(
    "/validate",
    summary="Look at a grader",
    response_class=Json,
    openapi_extra=json_body(
        {"type": "object", "required": ["grader"], "additionalProperties": False, "properties": {"grader": _GRADER}},
        {"grader": _EXAMPLE},
    ),
)
def validate(body: Annotated[Any, Body()]) -> Response:
    """Without an item: whether its places are there is seen when one comes."""
    grader = field(only(body, ("grader",)), "grader", dict)
    try:
        apart(f"{GRADING}:look", _plain(grader))
    except InputError as error:
        raise _named(error.at(prefix="grader")) from None
    return Json({"grader": grader})


def _plain(given: dict[str, Any]) -> bytes:
    """What came, for another process.

    Raises:
        InputError: it holds what is no JSON, or is nested too deeply.
    """
    try:
        return canonical(given)
    except RecursionError:
        raise InputError("is nested too deeply") from None
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"not plain JSON: {str(error)[:200]}", remedy="use texts and finite numbers") from None


def told(grader: dict[str, Any], verdict: Verdict, seconds: float) -> dict[str, Any]:
    """A verdict as OpenAI's clients read what a grader said; ``verdict`` has all of it."""
    name = grader.get("name") or str(grader.get("type"))
    scores = {part.name: part.score for part in verdict.parts}
    return {
        "reward": verdict.score,
        "sub_rewards": scores,
        "model_grader_token_usage_per_model": {},
        "metadata": {
            "name": name,
            "type": grader.get("type"),
            "execution_time": seconds,
            "scores": scores or {name: verdict.score},
            "sampled_model_name": None,
            "token_usage": None,
            "errors": _errors(verdict),
        },
        "verdict": verdict,
    }


def _errors(verdict: Verdict) -> dict[str, Any]:
    found: dict[str, Any] = {
        **dict.fromkeys(
            (
                *("formula_parse_error", "sample_parse_error", "truncated_observation_error"),
                *("unresponsive_reward_error", "invalid_variable_error", "other_error"),
                *("python_grader_server_error", "python_grader_runtime_error"),
                *("model_grader_server_error", "model_grader_refusal_error", "model_grader_parse_error"),
            ),
            False,
        ),
        "python_grader_server_error_type": None,
        "python_grader_runtime_error_details": None,
        "model_grader_server_error_details": None,
    }
    said = [(verdict.reason, verdict.detail), *((part.reason, part.evidence) for part in verdict.parts)]
    for reason, detail in said:
        flag = _FLAGS.get(reason)
        if flag is None:
            continue
        found[flag] = True
        if flag == "python_grader_server_error":
            found["python_grader_server_error_type"] = reason
        elif flag == "python_grader_runtime_error":
            found["python_grader_runtime_error_details"] = detail
    if verdict.outcome is Outcome.INVALID and not any(value is True for value in found.values()):
        found["other_error"] = True
    return found


def _named(error: InputError) -> ApiError:
    """The error, its field as the sender wrote it."""
    answer = refused(error)
    field = (error.field or "").removeprefix("checker.config.").removeprefix("checker.")
    message = f"{field}: {answer.message}" if field else answer.message
    return RefusedError(message, param=field or None, code="invalid_grader")

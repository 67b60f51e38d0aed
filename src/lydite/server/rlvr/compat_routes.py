"""Reward servers in the shapes of OpenRLHF and NeMo Gym."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body

from lydite.server.answers import Json
from lydite.server.bodies import field, json_body, refusal, shown
from lydite.server.deps import Given
from lydite.server.rlvr.gym import aggregated, item_of
from lydite.server.rlvr.rewards import MOST, Config, Scheme, Verifier, default_of, judged, scored

router = APIRouter(prefix="", tags=["compat"])

_TEXTS = {"type": "array", "maxItems": MOST, "items": {"type": "string"}}
_REWARD = json_body(
    {
        "type": "object",
        "required": ["query", "prompts", "labels"],
        "properties": {
            "query": {**_TEXTS, "description": "Prompt and response in one."},
            "prompts": _TEXTS,
            "labels": {"type": "array", "maxItems": MOST, "items": {}, "description": "Golds, or checkers."},
        },
    },
    {"query": ["What is 6 * 7? It is \\boxed{42}."], "prompts": ["What is 6 * 7?"], "labels": ["42"]},
)
_VERIFY = json_body(
    {
        "type": "object",
        "required": ["responses_create_params", "response"],
        "properties": {"responses_create_params": {"type": "object"}, "response": {"type": "object"}},
    },
    {
        "responses_create_params": {"input": "What is 6 * 7?"},
        "response": {"output": [{"type": "message", "role": "assistant", "content": "It is \\boxed{42}."}]},
        "verifier": "math",
        "expected_answer": "42",
    },
)
_RESPONSES = json_body(
    {
        "type": "object",
        "required": ["verify_responses"],
        "properties": {"verify_responses": {"type": "array", "items": {"type": "object"}}},
    }
)

Object = Annotated[Any, Body()]


@router.post("/get_reward", summary="Rewards, as OpenRLHF asks for them", openapi_extra=_REWARD)
async def get_reward(
    service: Given, body: Object, verifier: Verifier = None, config: Config = None, scheme: Scheme = "asymmetric"
) -> Json:
    """For ``--reward.remote_url http://.../get_reward?verifier=math``. What cannot be judged, by our fault, has reward
    and score 0.0 and 1 under ``extra_logs.invalid``: OpenRLHF knows no "no reward"."""
    given = body if isinstance(body, dict) else {}
    queries, prompts = (_texts(given, name) for name in ("query", "prompts"))
    labels = field(given, "labels", list)
    if not len(queries) == len(prompts) == len(labels):
        raise refusal("labels", f"lists of different lengths: {len(queries)}, {len(prompts)}, {len(labels)}")
    lines = await scored(service.verdicts, default_of(verifier, config), queries, prompts, labels)
    invalid = [float(line.invalid) for line in lines]
    return Json(
        {
            "rewards": [line.reward(scheme) for line in lines],
            "scores": [line.score or 0.0 for line in lines],
            "extra_logs": {
                "acc": [float(line.score == 1) for line in lines],
                "invalid": invalid,
                "fault": invalid,  # what the function that `lydite export shim openrlhf` writes calls it
                "flagged": [float(bool(line.flags)) for line in lines],
            },
        }
    )


@router.post("/seed_session", summary="Begin an episode, as NeMo Gym does", openapi_extra=json_body({"type": "object"}))
async def seed_session(body: Object = None) -> Json:
    """Nothing is kept between requests."""
    return _session(body)


@router.post("/close_session", summary="End an episode, as NeMo Gym does", openapi_extra=json_body({"type": "object"}))
async def close_session(body: Object = None) -> Json:
    """Nothing was kept."""
    return _session(body)


@router.post("/verify", summary="A reward, as NeMo Gym asks for it", openapi_extra=_VERIFY)
async def verify(
    service: Given, body: Object, verifier: Verifier = None, config: Config = None, scheme: Scheme = "fractional"
) -> Json:
    """What came, and ``reward``. What cannot be judged, by our fault, has 0.0 and says ``mask_sample``."""
    if not isinstance(body, dict):
        raise refusal("body", f"must be an object, not {shown(body)}")
    line = await judged(service.verdicts, item_of(body), default_of(verifier, config))
    told: dict[str, Any] = {"reward": line.reward(scheme), "mask_sample": line.invalid}
    if components := {part.name: part.score for part in line.parts if part.score is not None}:
        told["reward_components"] = components
    if line.invalid:
        told["failure_kind"], told["failure_reason"] = f"lydite:{line.reason}", line.detail or line.reason
    verdict = {
        "outcome": line.outcome,
        "score": line.score,
        "reason": line.reason,
        "extracted": line.extracted,
        "flags": line.flags,
        "verifier": line.verifier,
    }
    return Json({**body, **told, "verdict": verdict})


@router.post("/aggregate_metrics", summary="Metrics of rollouts, as NeMo Gym asks for them", openapi_extra=_RESPONSES)
def aggregate_metrics(body: Object) -> Json:
    """By task, and over all."""
    responses = field(body if isinstance(body, dict) else {}, "verify_responses", list)
    return Json(aggregated(responses))


@router.get("/reverify_mode", summary="Whether a rollout may be judged again, as NeMo Gym asks")
async def reverify_mode() -> Json:
    """It may: verdicts depend on nothing but what is sent."""
    return Json("stateless")


def _texts(given: dict[str, Any], name: str) -> list[str]:
    values = field(given, name, list)
    if len(values) > MOST:
        raise refusal(name, f"{len(values)} texts: at most {MOST} at once")
    for place, value in enumerate(values):
        if not isinstance(value, str):
            raise refusal(f"{name}[{place}]", f"must be a text, not {shown(value)}")
    return values


def _session(body: Any) -> Json:
    name = body.get("resources_session_id") if isinstance(body, dict) else None
    return Json({} if name is None else {"resources_session_id": name})

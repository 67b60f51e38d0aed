"""NeMo Gym's shapes: a response of the Responses API to a completion, and rollouts to metrics.

Written against NeMo Gym's ``base_resources_server`` and ``reward_profile`` of 2026. A row names what judges it by
``checker``, or by ``verifier`` and a gold (``gold``, ``expected_answer`` or ``answer``), at its top or below
``verifier_metadata``.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean, median, stdev
from typing import Any

from lydite.server.bodies import refusal

TASK, ROLLOUT = "_ng_task_index", "_ng_rollout_index"
GOLDS = ("gold", "expected_answer", "answer")
FIELDS = ("checker", "verifier", "config")


def item_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """What is judged, from the body of ``/verify``.

    Raises:
        RefusedError: there is no response, or one in another shape.
    """
    if not isinstance(params := body.get("responses_create_params"), dict):
        raise refusal("responses_create_params", "must be an object")
    if not isinstance(response := body.get("response"), dict):
        raise refusal("response", "must be a response of the Responses API: an object")
    if not isinstance(output := response.get("output"), list):
        raise refusal("response.output", "must be a list")
    item: dict[str, Any] = {"completion": _said(output), "prompt": _asked(params)}
    inner = body.get("verifier_metadata")
    for place in (body, inner if isinstance(inner, dict) else {}):
        for name in FIELDS:
            if item.get(name) is None and place.get(name) is not None:
                item[name] = place[name]
        if "gold" not in item and (gold := next((place[name] for name in GOLDS if name in place), None)) is not None:
            item["gold"] = gold
    return item


def aggregated(responses: Sequence[Any]) -> dict[str, Any]:
    """``/aggregate_metrics``: mean, max, min, median and standard deviation of every number, by task and over all.
    Samples that say ``mask_sample`` are in none of them; ``masked`` counts them."""
    kept = [one for one in responses if isinstance(one, dict) and not one.get("mask_sample")]
    by_task: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for one in kept:
        by_task[_index(one)].append(one)
    groups = [{**_described(by_task[index]), TASK: index} for index in sorted(by_task)]
    whole = _described(kept)
    if kept:
        best = [max(_reward(one) for one in group) for group in by_task.values()]
        most = max(len(group) for group in by_task.values())
        whole[f"max@{most}/reward"] = fmean(best)
    if masked := len(responses) - len(kept):
        whole["masked"] = masked
    key = {name: value for name, value in whole.items() if name.startswith("mean/")}
    return {"group_level_metrics": groups, "agent_metrics": whole, "key_metrics": key}


def _described(responses: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    columns: dict[str, list[float]] = defaultdict(list)
    for one in responses:
        for name, value in one.items():
            if name in (TASK, ROLLOUT, "mask_sample") or not isinstance(value, bool | int | float):
                continue
            if math.isfinite(number := _float(value)):
                columns[name].append(number)
    found: dict[str, Any] = {}
    for name, values in columns.items():
        spread = stdev(values) if len(values) > 1 else 0.0
        shown = {"mean": fmean(values), "max": max(values), "min": min(values), "median": median(values), "std": spread}
        found |= {f"{kind}/{name}": value for kind, value in shown.items()}
    return found


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _reward(one: Mapping[str, Any]) -> float:
    value = one.get("reward")
    return _float(value) if isinstance(value, bool | int | float) else 0.0


def _index(one: Mapping[str, Any]) -> int:
    value = one.get(TASK, 0)
    return value if isinstance(value, int) else 0


def _asked(params: Mapping[str, Any]) -> str | list[dict[str, Any]] | None:
    given = params.get("input")
    if given is None or isinstance(given, str):
        return given
    if not isinstance(given, list):
        raise refusal("responses_create_params.input", "must be a text or a list of messages")
    return [
        {"role": one["role"], "content": _text(one.get("content"))}
        for one in given
        if isinstance(one, dict) and isinstance(one.get("role"), str)
    ]


def _said(output: Sequence[Any]) -> list[dict[str, Any]]:
    """The output as chat messages; the model's words to itself (``reasoning``) are no part of it. A turn that ends with
    a call of a tool has no answer."""
    messages: list[dict[str, Any]] = []
    for one in output:
        if not isinstance(one, dict):
            raise refusal("response.output", "must be a list of objects")
        kind = one.get("type", "message")
        if kind == "message":
            messages.append({"role": str(one.get("role", "assistant")), "content": _text(one.get("content"))})
        elif kind == "function_call":
            call = {"id": str(one.get("call_id", "")), "name": str(one.get("name", "")), "arguments": _arguments(one)}
            messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        elif kind == "function_call_output":
            messages.append({"role": "tool", "content": _text(one.get("output"))})
    return messages


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = (part.get("text") for part in content if isinstance(part, dict)) if isinstance(content, list) else ()
    return "".join(part for part in parts if isinstance(part, str))


def _arguments(call: Mapping[str, Any]) -> dict[str, Any]:
    given = call.get("arguments")
    try:
        read = json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}

"""Addresses of views. Templates see this module as ``links``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import quote, urlencode

from fastapi import Request

Value = str | int | float | bool | None | Iterable[str]


def query(values: Mapping[str, Value]) -> str:
    """``?a=1&b=x``, or nothing: empty values are left out, lists repeat their name."""
    pairs: list[tuple[str, str]] = []
    for name, value in values.items():
        if value is None or value == "":
            continue
        if isinstance(value, str | int | float):
            pairs.append((name, str(value)))
        else:
            pairs.extend((name, item) for item in value)
    return "?" + urlencode(pairs, errors="replace") if pairs else ""


def here(request: Request, **changes: Value) -> str:
    """This page with other parameters: given ones replace those of their name, ``None`` takes one away."""
    kept: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        kept.setdefault(name, []).append(value)
    return request.url.path + query({**kept, **changes})


def run(slug: str, below: str = "", **parameters: Value) -> str:
    """A run's dashboard, or what lies below it: ``run(r, "groups", step="3")``."""
    path = "/runs/" + quote(slug, safe="~")
    return (f"{path}/{below}" if below else path) + query(parameters)


def group(slug: str, number: int, **parameters: Value) -> str:
    """A group."""
    return run(slug, f"groups/{number}", **parameters)


def rollout(slug: str, seq: int, turn: int | None = None) -> str:
    """An attempt, or one turn of it."""
    return run(slug, f"rollouts/{seq}") + ("" if turn is None else f"#turn-{turn}")


def diff(run_a: str, seq_a: int, run_b: str, seq_b: int) -> str:
    """Two attempts beside each other."""
    return "/diff" + query({"a": f"{run_a}:{seq_a}", "b": f"{run_b}:{seq_b}"})


def flags(**parameters: Value) -> str:
    """The inbox."""
    return "/flags" + query(parameters)


def compare(a: str, b: str | None = None) -> str:
    """Two runs, or two phases of runs (``RUN:PHASE``)."""
    return "/compare" + query({"a": a, "b": b})

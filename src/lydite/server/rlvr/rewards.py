"""Verdicts as other trainers' reward servers give them: as numbers, with a word beside those that are none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from fastapi import Query

from lydite.codec import canonical
from lydite.errors import InputError
from lydite.exports.openrlhf import response_of
from lydite.reward import Preset, RewardScheme
from lydite.server.bodies import refusal, refused_at, shown
from lydite.server.judging import Default
from lydite.server.verdicts import Verdicts
from lydite.verdict import Outcome, Part, Verdict

MOST = 4096
"""Samples of one request."""

Scheme = Literal["asymmetric", "binary", "fractional"]
Verifier = Annotated[str | None, Query(max_length=200, description="Judges by golds; without, labels are checkers.")]
Config = Annotated[str | None, Query(max_length=100_000, description="JSON: further configuration of the verifier.")]


class Line(msgspec.Struct, kw_only=True):
    """A verdict as it was spelled; see ``verifiers.spelling``."""

    outcome: Outcome
    score: float | None
    reason: str
    extracted: str | None = None
    flags: tuple[str, ...] = ()
    verifier: str = ""
    parts: tuple[Part, ...] = ()
    detail: str | None = None

    @property
    def invalid(self) -> bool:
        return self.outcome is Outcome.INVALID

    def reward(self, scheme: Scheme) -> float:
        """Its reward; 0.0 where there is none: these trainers want a number."""
        verdict = Verdict(outcome=self.outcome, score=self.score, reason=self.reason)
        reward = RewardScheme(preset=Preset(scheme)).reward(verdict)
        return 0.0 if reward is None else reward


LOST = Line(outcome=Outcome.INVALID, score=None, reason="prompt_not_in_query")


def default_of(verifier: str | None, config: str | None) -> Default:
    """The verifier that a request names in its address.

    Raises:
        RefusedError: the configuration is no JSON object, or stands alone.
    """
    if config is None:
        return Default(verifier)
    if verifier is None:
        raise refusal("config", "is the configuration of verifier, which is not given")
    try:
        given = json.loads(config)
    except (ValueError, RecursionError) as error:
        raise refusal("config", f"is no JSON: {error}"[:200]) from None
    if not isinstance(given, dict):
        raise refusal("config", "must be a JSON object")
    return Default(verifier, given)


async def scored(
    verdicts: Verdicts, default: Default, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]
) -> list[Line]:
    """Verdicts on OpenRLHF's samples. Where the prompt does not stand in the query there is none.

    Raises:
        RefusedError: a label is no gold or checker that can be used; names it.
    """
    items: dict[int, bytes] = {}
    for place, (query, prompt, label) in enumerate(zip(queries, prompts, labels, strict=True)):
        response = response_of(query, prompt)
        if response is not None:
            said = {"completion": response, "prompt": prompt}
            items[place] = canonical(said | _judged_by(label, default, f"labels[{place}]"))
    found = dict(zip(items, await verdicts.many(list(items.values()), default), strict=True))
    lines = [msgspec.json.decode(found[place], type=Line) if place in found else LOST for place in range(len(queries))]
    for place, line in enumerate(lines):
        if line.reason == "bad_item":
            raise refusal(f"labels[{place}]", line.detail or "cannot be used")
    return lines


def _judged_by(label: Any, default: Default, field: str) -> dict[str, Any]:
    if default.verifier is not None:
        return {} if label is None else {"gold": label}
    if isinstance(label, str):
        try:
            label = msgspec.json.decode(label)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            raise refusal(
                field, f"{shown(label)} is no checker in JSON (name a verifier for golds: /get_reward?verifier=math)"
            ) from None
    if not isinstance(label, dict):
        raise refusal(field, f"must be a checker, not {shown(label)}")
    return {"checker": label}


async def judged(verdicts: Verdicts, item: dict[str, Any], default: Default) -> Line:
    """The verdict on one completion.

    Raises:
        RefusedError: its checker cannot be used.
    """
    try:
        return msgspec.json.decode(await verdicts.one(canonical(item), default), type=Line)
    except InputError as error:
        raise refused_at(error, default="checker") from None

"""Why an attempt earned its reward: the verdict in words, what was expected, every part, what the scheme made of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import select

from lydite.errors import InputError, LyditeError
from lydite.evaluation.trends import reward_parts
from lydite.ledger import Record
from lydite.ledger.chain import hash_in
from lydite.ledger.contents import LEDGER
from lydite.reward import Preset
from lydite.server.apart import built
from lydite.server.database.tables import rollouts, runs
from lydite.server.page import reasons
from lydite.server.page.expected import MOST_PARTS, Expectations, Expected, expectations
from lydite.server.service import Service
from lydite.task import Checker, Task
from lydite.verdict import Part, Verdict
from lydite.verifiers import checker_of
from lydite.verifiers.build import source_hash
from lydite.verifiers.registry import JUDGE, NOT_JUDGED, RECORDED, find, names

_PRESETS = {
    Preset.ASYMMETRIC: "correct +1, incorrect and unparseable −0.1, partial −0.1 + 1.1 × score",
    Preset.BINARY: "correct 1, everything else 0",
    Preset.FRACTIONAL: "the score itself",
}
_TERMS = {
    "format": "× {} for an answer that can be read",
    "flagged": "of an attempt with a barring flag: {}",
    "control": "a control in place of the reward: {}",
    "overlong": "a penalty for length: {}",
}


_PLACE = re.compile(r" \([^()\s]*\.py:\d+\)$")


class PartRow(NamedTuple):
    """One check among several, in words, beside what it expects."""

    part: Part
    told: str
    expected: str | None


class Share(NamedTuple):
    """What some of the reward is paid for."""

    label: str
    value: float


class Today(msgspec.Struct, frozen=True, kw_only=True):
    """The verifier as it is here now. ``why_not``: why it cannot be asked; empty where it can. ``recorded``: there is
    none, a trainer recorded the verdict."""

    id: str = ""
    source: str = ""
    why_not: str = ""
    recorded: bool = False


class Why(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the page says of a verdict.

    Attributes:
        verdict: in words.
        detail: what the verifier adds.
        expected: what the task expects as a whole; ``parts`` of it beside what came of them.
        left_out: parts that are not shown.
        scheme: what made the reward, a line a term; ``shares`` what it is paid for.
        today: the verifier as it is now, and ``same`` whether it is the one that judged.
        hash: of the record in the ledger; empty where it cannot be read.
        no_task: why the task cannot be shown.
    """

    verdict: str
    detail: str
    expected: list[Expected]
    parts: list[PartRow]
    left_out: int
    scheme: list[str]
    shares: list[Share]
    today: Today
    same: bool
    hash: str
    no_task: str


def why(service: Service, run: str, seq: int, record: Record, task: Task | None, no_task: str = "") -> Why:
    """Why an attempt earned its reward.

    Args:
        service: of the run.
        run, seq: which attempt.
        record: what the ledger says of it.
        task: as attempted; ``None`` where it cannot be read, and ``no_task`` says why.
    """
    verdict = record.verdict
    found = expectations(task) if task is not None else Expectations([], {})
    parts = part_rows(verdict, found)
    today = today_of(task) if task is not None else Today(why_not=no_task)
    return Why(
        verdict=reasons.sentence(verdict),
        detail=placeless(verdict.detail),
        expected=found.whole,
        parts=parts[:MOST_PARTS],
        left_out=len(parts) - len(parts[:MOST_PARTS]),
        scheme=scheme_told(record.scheme),
        shares=shares(record),
        today=today,
        same=bool(today.id) and (today.id, today.source) == (verdict.verifier, record.verifier_source),
        hash=_hash(service, run, seq),
        no_task=no_task,
    )


def placeless(detail: str | None) -> str:
    """What a verifier adds, without the place on this machine that a fault of its own names at the end."""
    return _PLACE.sub("", detail or "")


def part_rows(verdict: Verdict, found: Expectations) -> list[PartRow]:
    """The parts of a verdict; where there are many, those that fell short come first."""
    rows = [
        PartRow(part, reasons.told(part.reason), found.parts.get(part.name.removesuffix(" visible")))
        for part in verdict.parts
    ]
    return rows if len(rows) <= MOST_PARTS else sorted(rows, key=lambda row: row.part.score == 1)


def shares(record: Record) -> list[Share]:
    """A reward as what it is paid for; nothing where there is no reward, or a control replaced it."""
    if record.reward is None or "+control=" in record.scheme:
        return []
    right, form, length = reward_parts(record.verdict, record.scheme, record.flags, record.reward)
    every = [Share("being right", right), Share("form", form), Share("length", length)]
    return [share for n, share in enumerate(every) if n == 0 or abs(share.value) > 1e-12]


def scheme_told(scheme: str) -> list[str]:
    """A scheme of rewards in words, a line a term; terms that say nothing are left out."""
    preset, _, rest = scheme.partition("+")
    lines = []
    if preset in set(Preset):
        lines.append(f"{preset}: {_PRESETS[Preset(preset)]}")
    elif preset:
        lines.append(preset)
    for term in filter(None, rest.split("+")):
        name, _, value = term.partition("=")
        if (name, value) in (("format", "0"), ("flagged", "keep")):
            continue
        lines.append(f"{name}: {_TERMS[name].format(value or 'yes')}" if name in _TERMS else term)
    return lines


def own_types(checker: Checker | dict[str, Any]) -> list[str]:
    """Types of verifiers in a checker, those in composites too, that are files of somebody's own or not known. Such a
    file would be executed, so the page asks none of them."""
    known = set(names())
    return [kind for kind in _types(checker, 0) if kind not in known]


def _types(checker: Any, depth: int) -> Iterator[str]:
    config: Any
    if isinstance(checker, Checker):
        kind, config = checker.type, checker.config
    elif isinstance(checker, dict):
        kind, config = str(checker.get("type")), checker.get("config")
    else:
        return
    yield kind
    inner = config.get("checkers") if isinstance(config, dict) else None
    if isinstance(inner, dict):
        if depth > 8:
            yield "(nested too deeply)"
            return
        for one in inner.values():
            yield from _types(one, depth + 1)


def today_of(task: Task) -> Today:
    """The verifier that would judge a task now. Composites are compiled for it, no other."""
    checker = checker_of(task)
    if checker.type == RECORDED:
        return Today(why_not=f"{NOT_JUDGED}; {JUDGE}", recorded=True)
    if own := own_types(checker):
        return Today(why_not=f"{own[0][:100]} is no verifier of this installation: only the command line asks it")
    try:
        if "checkers" in checker.config:
            found = built(checker)
            return Today(id=found.id, source=found.source)
        verifier = find(checker.type)
        return Today(id=f"{verifier.name}@{verifier.version}", source=source_hash(verifier))
    except InputError as error:
        return Today(why_not=error.message)
    except LyditeError as error:
        return Today(why_not=str(error))


def _hash(service: Service, run: str, seq: int) -> str:
    """The hash of a record, read from the ledger."""
    asked = (
        select(rollouts.c.ledger_offset, rollouts.c.ledger_length)
        .join(runs, runs.c.number == rollouts.c.run)
        .where(runs.c.id == run, rollouts.c.seq == seq)
    )
    with service.engine.connect() as connection:
        place = connection.execute(asked).first()
    if place is None:
        return ""
    try:
        with (service.home.run_folder(run) / LEDGER).open("rb") as file:
            file.seek(place[0])
            found = hash_in(file.read(place[1]).rstrip(b"\n"))
    except OSError:
        return ""
    return found if len(found) == 64 and all(char in "0123456789abcdef" for char in found) else ""

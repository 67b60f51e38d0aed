"""Flags one after another before a person: what a model wrote is shown, never obeyed by the terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from lydite.evaluation.suspicions import Suspicion
    from lydite.ledger.reviews import Reviews

SHOWN = 1500
"""Characters of an attempt that are shown before t asks for all of it."""
_HELP = "c confirm · d dismiss · s skip · t whole transcript · q end"


def ask(found: Sequence[Suspicion], reviews: Reviews, note: str) -> None:
    """Show each flag and take a key for it. Every decision is on disk before the next flag is shown."""
    from lydite.cli.console import err
    from lydite.cli.show import clean, transcript
    from lydite.ledger.reviews import Decision

    decisions = {"c": Decision.CONFIRMED, "d": Decision.DISMISSED}
    done = 0
    for number, item in enumerate(found, 1):
        err.print(f"\n[{number} of {len(found)}] {clean(_card(item))}", markup=False)
        while True:
            key = _key()
            if key in decisions:
                reviews.add([(item.row.rollout.id, item.flag, decisions[key])], note)
                err.print(f"{decisions[key]}", markup=False)
                done += 1
            elif key == "t":
                err.print(transcript(item.row), markup=False)
                continue
            elif key == "q":
                err.print(f"{done} decided; the same command goes on from here", markup=False)
                return
            elif key != "s":
                err.print(_HELP, markup=False)
                continue
            break
    err.print(f"{done} decided, nothing left to ask" if found else "no flags to review", markup=False)


def _card(item: Suspicion) -> str:
    """A flag, its evidence, and the attempt as far as it is short."""
    import json

    row, flag = item.row, item.flag
    verdict = row.record.verdict
    said = row.rollout.text
    more = f"\n… {len(said) - SHOWN} more characters" if len(said) > SHOWN else ""
    asked = row.rollout.prompt_text
    lines = [
        f"{flag.detector}@{flag.version}{' (bars)' if flag.bars else ''} at {row.rollout.id}: {verdict.outcome}",
        json.dumps(flag.evidence, ensure_ascii=False, indent=1),
        "── asked " + "─" * 40,
        asked[:SHOWN] + ("…" if len(asked) > SHOWN else ""),
        "── said " + "─" * 41,
        said[:SHOWN] + more,
        "─" * 49,
        _HELP,
    ]
    return "\n".join(lines)


def _key() -> str:
    """One key from a terminal, or the first letter of a line from anything else; q at its end."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        return line.strip()[:1].lower() if line else "q"
    import typer

    try:
        return typer.getchar().lower()
    except EOFError:
        return "q"


class _Scored(msgspec.Struct):
    id: str
    score: float | None = None


def read_second(path: Path) -> dict[str, float]:
    """Scores by id, from lines as ``lydite verify`` writes them; ``invalid`` ones left out.

    Raises:
        InputError: it cannot be read; names the line.
    """
    from lydite.errors import InputError

    decode = msgspec.json.Decoder(_Scored).decode
    scores: dict[str, float] = {}
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    one = decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError) as error:
                    remedy = 'lines of {"id": …, "score": …}'
                    raise InputError(f"cannot be read: {error}", path=path, line=number, remedy=remedy) from None
                if one.score is not None:
                    scores[one.id] = one.score
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    return scores

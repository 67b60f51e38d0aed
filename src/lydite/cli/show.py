"""``lydite show``: attempts of a run as readable transcripts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lydite.ledger import Row, RunFolder
    from lydite.ledger.reviews import Reviews

app = typer.Typer(add_completion=False)

# What a model wrote must not steer a terminal: control characters other than newline and tab, and marks that turn the
# direction of text, are shown as escapes.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@app.command()
def show(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.", show_default=False)],
    rollout: Annotated[str | None, typer.Argument(metavar="[ID]", help="One attempt, such as sample/t1/0.")] = None,
    phase: Annotated[str | None, typer.Option(help="Only attempts of this phase.")] = None,
    outcome: Annotated[str | None, typer.Option(help="Only attempts with this outcome.")] = None,
    verdicts: Annotated[
        str,
        typer.Option(metavar="WHICH", help="old (recorded first), rescored (the latest), or a rescoring's name."),
    ] = "old",
    limit: Annotated[int, typer.Option(min=1, help="How many to list.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on standard output, one attempt a line.")] = False,
) -> None:
    """Show one attempt as a transcript with its verdict and flags, or list attempts."""
    from itertools import islice

    from lydite.cli.console import err, print_json
    from lydite.ledger import RunFolder
    from lydite.ledger.reviews import Reviews

    folder = RunFolder.open(run, verdicts=verdicts)
    reviews = Reviews(folder.path)
    rows = _selected(folder.rows(phase), rollout, _outcome(outcome))
    if rollout is not None:
        row = next(rows, None)
        if row is None:
            from lydite.errors import InputError

            raise InputError(f"no attempt {rollout!r} is recorded", path=run, remedy=f"`lydite show {run}` lists them")
        if as_json:
            print_json(row)
        else:
            print(transcript(row, reviews))
            for line in _others(folder, row):
                print(line)
        return
    for row in islice(rows, limit):
        if as_json:
            print_json(row)
        else:
            print(_line(row, reviews))
    more = sum(1 for _ in rows)
    if more:
        err.print(f"{more} more (--limit)", markup=False)


def _outcome(name: str | None) -> str | None:
    from lydite.errors import InputError
    from lydite.verdict import Outcome

    if name is not None and name not in set(Outcome):
        raise InputError(f"no outcome is called {name!r}", field="--outcome", remedy=f"one of {', '.join(Outcome)}")
    return name


def _selected(rows: Iterator[Row], rollout: str | None, outcome: str | None) -> Iterator[Row]:
    for row in rows:
        if rollout is not None and row.rollout.id != rollout:
            continue
        if outcome is None or row.record.verdict.outcome == outcome:
            yield row


def _line(row: Row, reviews: Reviews) -> str:
    verdict = row.record.verdict
    said = [(flag, reviews.of(row.rollout.id, flag)) for flag in row.record.flags]
    flags = " ".join(f"[{flag.detector}{f', {review.decision}' if review else ''}]" for flag, review in said)
    answer = "" if verdict.extracted is None else f" {clean(verdict.extracted)[:60]!r}"
    return f"{row.seq:>7}  {verdict.outcome:<11} {clean(row.rollout.id)}  {verdict.reason}{answer} {flags}".rstrip()


def transcript(row: Row, reviews: Reviews | None = None) -> str:
    """An attempt as a person reads it, with its verdict, its flags and what people said of them."""
    rollout, record, verdict = row.rollout, row.record, row.record.verdict
    lines = [f"{rollout.id}  (record {row.seq}, policy {rollout.policy}, seed {rollout.seed})"]
    took = iter(rollout.calls.seconds if rollout.calls is not None else ())
    for message in (*rollout.prompt, *rollout.completion):
        title = message.role
        if message.role == "tool":
            seconds = next(took, None)  # those that no more were allowed of come last, and took none
            title += f" {message.name}" + ("" if seconds is None else f", {seconds * 1000:.0f} ms")
        lines += ["", f"── {title} " + "─" * max(4, 60 - len(title))]
        if message.content:
            lines.append(message.content)
        lines += [f"→ {call.name}({_arguments(call.arguments)})" for call in message.tool_calls]
    if rollout.error is not None:
        lines += ["", f"the policy could not be asked: {rollout.error}"]
    lines += ["", "── verdict " + "─" * 53]
    score = "no score" if verdict.score is None else f"score {verdict.score:g}"
    reward = "no reward" if record.reward is None else f"reward {record.reward:g} ({record.scheme})"
    lines.append(f"{verdict.outcome}: {verdict.reason}; {score}; {reward}")
    if verdict.extracted is not None:
        lines.append(f"extracted: {verdict.extracted}")
    if verdict.detail:
        lines.append(verdict.detail)
    for part in verdict.parts:
        grade = "-" if part.score is None else f"{part.score:g}"
        lines.append(f"  {part.name}: {grade} {part.reason} {part.evidence or ''}".rstrip())
    for flag in record.flags:
        review = reviews.of(rollout.id, flag) if reviews is not None else None
        bars = flag.bars if review is None else review.decision == "confirmed"
        barred = ", barred from preference pairs and SFT rows" if bars else ""
        said = "" if review is None else f", {review.decision} by a person"
        lines.append(f"flag {flag.detector}@{flag.version}{said}{barred}: {flag.evidence}")
        if review is not None and review.note:
            lines.append(f"  note: {review.note}")
    tokens = "unknown" if rollout.completion_tokens is None else str(rollout.completion_tokens)
    lines.append(f"finish {rollout.finish}; completion tokens {tokens}; {verdict.verifier or 'no verifier'}")
    if rollout.calls is not None:
        calls = rollout.calls
        lines.append(
            f"{rollout.env}: {len(calls.seconds)} tool calls in {sum(calls.seconds):.3f} s, {calls.failed} refused,"
            f" {calls.malformed} unreadable, {calls.left} beyond the limit"
        )
        lines.append(f"left behind: {f'workspaces/{rollout.workspace}' if rollout.workspace else 'nothing'}")
    return clean("\n".join(lines))


def _others(folder: RunFolder, row: Row) -> Iterator[str]:
    """The verdicts on the same attempt that are not in its transcript."""
    if not (names := folder.rescorings()):
        return
    pairs = [("recorded first", recorded) for recorded in folder.recorded() if recorded.rollout.id == row.rollout.id]
    pairs += [
        (f"rescoring {name}", new)
        for name in names
        for _, new in folder.rescored(name)
        if new.rollout.id == row.rollout.id
    ]
    for said, other in pairs:
        if other.seq != row.seq:
            verdict = other.record.verdict
            told = f"{said} (record {other.seq}): {verdict.outcome}: {verdict.reason}; {verdict.verifier}"
            yield clean(told)


def _arguments(arguments: dict[str, Any]) -> str:
    """Arguments of a call, texts of several lines as they are."""
    return ", ".join(
        f'{name}="""\n{value}"""' if isinstance(value, str) and "\n" in value else f"{name}={value!r}"
        for name, value in arguments.items()
    )


def clean(text: str) -> str:
    """A text that cannot steer a terminal."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)

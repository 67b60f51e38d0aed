"""A run as one HTML file, to send or to keep: no script, no request, every word of a policy as text.

What is covered: the file opens offline; its own policy (``Content-Security-Policy``, in the file) allows nothing but
its two style sheets, by their hashes. It is bounded: the first groups and those with a flag, the beginning of long
texts; wherever something is left out, it says so.
"""

from __future__ import annotations

import base64
import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from lydite._version import __version__
from lydite.errors import InputError, StorageError
from lydite.evaluation.collect import Collected, read_metrics
from lydite.evaluation.curves import dark_style
from lydite.evaluation.markdown import percent, with_interval
from lydite.evaluation.markup import Child, Markup, join, tag, words
from lydite.evaluation.plots import charts
from lydite.evaluation.report import compared, sentence, summaries
from lydite.evaluation.summary import Summary, group_counts
from lydite.ledger.reviews import Reviews

if TYPE_CHECKING:
    from lydite.flag import Flag
    from lydite.ledger import Row, RunFolder

GROUPS = 50
"""Groups that are shown whether or not they have a flag: the first."""
FLAGGED = 200
"""Groups with a flag that are shown, the first of them."""
TEXT = 20_000
"""Characters of one message."""
SIZE = 32 << 20
"""Characters of all groups together, about."""

_MARKS = {"correct": "●", "partial": "◐", "incorrect": "✕", "unparseable": "□", "invalid": "▫"}


class _Groups:
    """Which groups are shown: found in one pass, filled in a second one."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.total = self.flagged = 0
        self.shown: dict[tuple[str, str], list[Row]] = {}
        self._seen: dict[tuple[str, str], bool] = {}

    def see(self, row: Row) -> None:
        key = row.rollout.phase, row.rollout.task
        if key not in self._seen:
            self._seen[key] = False
            self.total += 1
            if self.total <= self.most:
                self.shown[key] = []
        if row.record.flags and not self._seen[key]:
            self._seen[key] = True
            self.flagged += 1
            if self.flagged <= FLAGGED:
                self.shown.setdefault(key, [])

    def fill(self, rows: Iterable[Row]) -> None:
        for row in rows:
            held = self.shown.get((row.rollout.phase, row.rollout.task))
            if held is not None:
                held.append(row)


def single_page(run: RunFolder, *, groups: int = GROUPS) -> str:
    """The file's text. The run is read twice; groups that are shown are held in memory.

    Args:
        run: opened to read.
        groups: how many are shown beside those with a flag.

    Raises:
        InputError: a line of the run is damaged.
    """
    found, chosen = Collected(), _Groups(groups)
    for row in run.rows():
        found.add(row)
        chosen.see(row)
    chosen.fill(run.rows())
    labels = {task.id: task.difficulty for task in run.tasks() if task.difficulty}
    measured = summaries(found, labels)
    metrics = list(read_metrics(run.path / "metrics.jsonl"))
    name = run.path.resolve().name
    style = _style()
    body = [
        _head(run, name),
        _numbers(found, measured),
        _curves(found, metrics, measured),
        _settings(run),
        _shown(run, chosen),
        _foot(run),
    ]
    head = join(
        [
            tag("meta", charset="utf-8"),
            tag("meta", http_equiv="Content-Security-Policy", content=policy()),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="referrer", content="no-referrer"),
            tag("title", f"{name} · Lydite"),
            tag("style", Markup(style)),
        ]
    )
    return "<!doctype html>\n" + tag("html", tag("head", head), "\n", tag("body", body), lang="en") + "\n"


def write_single_page(run: RunFolder, path: Path, *, groups: int = GROUPS) -> Path:
    """Write the file, at once; gives its path.

    Raises:
        InputError: a line of the run is damaged, or the folder of ``path`` does not exist.
        StorageError: it cannot be written.
    """
    if not path.parent.is_dir():
        raise InputError("its folder does not exist", path=path, remedy=f"mkdir -p {path.parent}")
    text = single_page(run, groups=groups)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StorageError(f"{path}: cannot write: {error.strerror or error}") from error
    return path


@cache
def policy() -> str:
    """What the file may do: nothing but look as it does."""
    hashes = " ".join(f"'sha256-{_hash(text)}'" for text in (_style(), dark_style()))
    return f"default-src 'none'; style-src {hashes}; base-uri 'none'; form-action 'none'"


@cache
def _style() -> str:
    return Path(__file__).with_suffix(".css").read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _head(run: RunFolder, name: str) -> Markup:
    info = run.info
    facts: list[tuple[str, Child]] = [
        ("kind", info.kind),
        ("state", info.state),
        ("created", info.created),
        ("tasks", f"{info.tasks.count:,}"),
        ("records", f"{info.records:,}"),
        ("ledger head", tag("code", info.head)),
    ]
    facts += [("verdicts", said) for said in run.choice]
    unfinished = tag("p", "This run is not complete: the numbers are those so far.", class_="note")
    return join([tag("h1", name), _facts(facts), unfinished if info.state != "complete" else None])


def _facts(pairs: Iterable[tuple[str, Child]]) -> Markup:
    return tag("dl", [(tag("dt", name), tag("dd", value)) for name, value in pairs])


def _numbers(found: Collected, measured: Mapping[str, Summary]) -> Markup:
    if not found.parts:
        return tag("p", "No attempts.")
    rows = []
    for part, counts in found.parts.items():
        summary = measured.get(part)
        groups = group_counts(counts.groups.values())
        rows.append(
            (
                part,
                f"{counts.attempts:,}",
                with_interval(summary.pass_at[0].excluded) if summary else percent(_rate(counts)),
                *(f"{counts.named(name):,}" for name in _MARKS),
                f"{counts.flagged:,}",
                f"{groups.mixed:,} of {groups.total:,}",
            )
        )
    head = ("part", "attempts", "pass@1, 95 %", *_MARKS, "flagged", "groups with a signal")
    try:
        told = [tag("p", sentence(result)) for result in compared(found, measured)[:1]]
    except InputError as error:
        told = [tag("p", f"Before and after are not comparable: {error.message}.")]
    return join([tag("h2", "What came of it"), told, _table(head, rows)])


def _rate(counts: Any) -> float:
    valid = counts.attempts - counts.invalid
    return counts.named("correct") / valid if valid else 0.0


def _table(head: Sequence[str], rows: Iterable[Sequence[Child]]) -> Markup:
    top = tag("tr", [tag("th", name, class_="n" if at else None) for at, name in enumerate(head)])
    lines = [tag("tr", [tag("td", cell, class_="n" if at else None) for at, cell in enumerate(row)]) for row in rows]
    return tag("div", tag("table", tag("thead", top), tag("tbody", lines)), class_="scroll")


def _curves(found: Collected, metrics: Sequence[Mapping[str, Any]], measured: Mapping[str, Summary]) -> Child:
    drawn = charts(found, metrics, measured)
    if not drawn:
        return None
    return join([tag("h2", "Curves"), tag("div", [Markup(svg) for _, _, svg in drawn], class_="charts")])


def _settings(run: RunFolder) -> Markup:
    info = run.info
    text = msgspec.json.format(msgspec.json.encode(info.settings), indent=2).decode("utf-8", "replace")
    versions = ", ".join(f"{name} {version}" for name, version in info.versions.items())
    return tag("details", tag("summary", "Settings and versions"), tag("pre", words(text, TEXT)), tag("p", versions))


def _shown(run: RunFolder, chosen: _Groups) -> Markup:
    reviews, size = Reviews(run.path), 0
    parts: list[Markup] = []
    for (phase, task), rows in chosen.shown.items():
        if size > SIZE:
            break
        made = _group(phase, task, rows, reviews)
        size += len(made)
        parts.append(made)
    told = f"{len(parts):,} of {chosen.total:,} groups: the first {chosen.most:,}"
    told += f" and {min(chosen.flagged, FLAGGED):,} of {chosen.flagged:,} with a flag"
    if len(parts) == chosen.total:
        told = f"All {chosen.total:,} groups"
    elif len(parts) < len(chosen.shown):
        told += f"; {len(chosen.shown) - len(parts):,} of these are left out, as the file would be too long"
    return join(
        [
            tag("h2", "Attempts"),
            tag("p", f"{told}. A group is every attempt at one task in one phase.", class_="muted"),
            parts,
        ]
    )


def _group(phase: str, task: str, rows: Sequence[Row], reviews: Reviews) -> Markup:
    rewards = [row.record.reward for row in rows if row.record.reward is not None]
    mean = f"mean reward {sum(rewards) / len(rewards):+.2f}" if rewards else "no reward"
    marks = [(_outcome(row.record.verdict.outcome, mark=True), " ") for row in rows[:64]]
    flagged = sum(bool(row.record.flags) for row in rows)
    summary = tag(
        "summary",
        tag("b", words(task, 120)),
        tag("small", phase),
        tag("span", marks, class_="marks"),
        tag("span", f"{flagged} flagged", class_="flag") if flagged else None,
        tag("small", mean, class_="end"),
    )
    prompt = [(tag("h3", message.role), tag("pre", words(message.content, TEXT))) for message in rows[0].rollout.prompt]
    return tag("details", summary, prompt, [_attempt(row, reviews) for row in rows])


def _outcome(outcome: str, *, mark: bool = False) -> Markup:
    text = _MARKS[outcome] if mark else f"{_MARKS[outcome]} {outcome}"
    return tag("span", text, class_=f"o {outcome}", title=outcome if mark else None)


def _attempt(row: Row, reviews: Reviews) -> Markup:
    rollout, record, verdict = row.rollout, row.record, row.record.verdict
    reward = "no reward" if record.reward is None else f"{record.reward:+.2f}"
    flags = [(_flag(row, flag, reviews), " ") for flag in record.flags]
    summary = tag(
        "summary",
        tag("b", f"#{rollout.index}"),
        _outcome(verdict.outcome),
        tag("small", verdict.reason),
        flags,
        tag("b", reward, class_="end"),
    )
    facts: list[tuple[str, Child]] = [("attempt", f"{rollout.id} (record {row.seq})")]
    if verdict.extracted is not None:
        facts.append(("extracted", tag("code", words(verdict.extracted, 2000))))
    if verdict.detail:
        facts.append(("why", words(verdict.detail, 2000)))
    facts += [(f"check {part.name}"[:80], _part(part.score, part.reason, part.evidence)) for part in verdict.parts[:50]]
    facts += [(f"flag {flag.detector}", tag("code", words(_json(flag.evidence), 2000))) for flag in record.flags]
    if rollout.error is not None:
        facts.append(("could not be asked", words(rollout.error, 2000)))
    facts.append(("judged by", f"{verdict.verifier or 'nobody'}; finish {rollout.finish}"))
    return tag("details", summary, _facts(facts), list(_said(row)))


def _part(score: float | None, reason: str, evidence: str | None) -> Markup:
    told = "–" if score is None else f"{score:g}"
    return join([f"{told} {reason} ", words(evidence or "", 2000)])


def _flag(row: Row, flag: Flag, reviews: Reviews) -> Markup:
    review = reviews.of(row.rollout.id, flag)
    bars = flag.bars if review is None else review.decision == "confirmed"
    said = "" if review is None else f", {review.decision}"
    return tag("span", f"{flag.detector}{said}", class_="flag bars" if bars else "flag")


def _said(row: Row) -> Iterator[Markup]:
    for message in row.rollout.completion:
        yield tag("h3", f"{message.role} {message.name}".strip())
        if message.content:
            yield tag("pre", words(message.content, TEXT))
        for call in message.tool_calls:
            yield tag("pre", words(f"→ {call.name} {_json(call.arguments)}", TEXT))


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode("utf-8", "replace")


def _foot(run: RunFolder) -> Markup:
    made = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    command = f"lydite ledger verify RUN --head {run.info.head}"
    return tag(
        "p",
        f"Made by Lydite {__version__}, {made}. Whoever has the run can check it: ",
        tag("code", command),
        class_="muted",
    )

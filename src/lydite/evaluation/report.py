"""``report.md``: what a run did and what came of it, for a reader who has the folder and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from lydite.errors import InputError, StorageError
from lydite.evaluation.collect import Collected, collect, read_metrics
from lydite.evaluation.markdown import cell, percent, points, table, with_interval
from lydite.evaluation.paired import Paired, paired_tallies
from lydite.evaluation.plots import draw
from lydite.evaluation.summary import Summary, group_counts, summarise_tally
from lydite.evaluation.suspicions import summarise_flags
from lydite.evaluation.trends import run_flags, stages
from lydite.ledger.reviews import Reviews

if TYPE_CHECKING:
    from lydite.evaluation.tally import Tally
    from lydite.ledger import RunFolder

FILE = "report.md"
CURVES = "curves"


def write_report(run: RunFolder | str | Path) -> Path:
    """Write ``report.md`` and ``curves/*.svg`` into a run folder, from what the folder holds; gives the report's path.

    Works for every kind of run, finished or not; a report that is there is replaced. Of a rescoring's verdicts, where
    the folder was opened with them, the files are ``report-NAME.md`` and ``curves-NAME/*.svg``.

    Raises:
        InputError: there is no run, or a line of it is damaged.
        StorageError: the folder cannot be written.
    """
    from lydite.ledger import RunFolder

    folder = run if isinstance(run, RunFolder) else RunFolder.open(run)
    found = collect(folder.rows())
    labels = {task.id: task.difficulty for task in folder.tasks() if task.difficulty}
    measured = summaries(found, labels)
    metrics = list(read_metrics(folder.path / "metrics.jsonl"))
    mark = f"-{folder.verdicts}" if folder.verdicts else ""
    path = folder.path / f"{Path(FILE).stem}{mark}.md"
    try:
        curves = draw(folder.path / f"{CURVES}{mark}", found, metrics, measured)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        temporary.write_text(_report(folder, found, measured, curves), encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise StorageError(f"{folder.path}: cannot write the report: {error.strerror or error}") from error
    return path


def summaries(found: Collected, labels: Mapping[str, str]) -> dict[str, Summary]:
    """Every measured part at the same ks: powers of two up to the attempts that every task has, and that number."""
    parts = [found.parts[part] for part in found.measured]
    if not parts:
        return {}
    most = min(task.n for part in parts for task in part.tasks.values())
    ks = sorted({2**power for power in range(most.bit_length())} | {most})
    return {part: summarise_tally(found.parts[part], ks, difficulty=labels) for part in found.measured}


def _report(
    run: RunFolder, found: Collected, measured: Mapping[str, Summary], curves: Iterable[tuple[str, str]]
) -> str:
    sections = [
        _head(run),
        _rates(measured),
        _comparison(found, measured),
        _difficulty(measured),
        _groups(found),
        _outcomes(found),
        _flags(run, found),
        _costs(found),
        _pairs(run),
        _curves(curves, f"{CURVES}-{run.verdicts}" if run.verdicts else CURVES),
        _provenance(run, found),
        _reproduce(run),
    ]
    return "\n".join(section for section in sections if section)


def _head(run: RunFolder) -> str:
    info = run.info
    rows = [
        ("kind", info.kind),
        ("state", info.state),
        ("created", info.created),
        ("tasks", info.tasks.count),
        ("ledger records", info.records),
        ("ledger head", info.head),
    ]
    rows += [("verdicts", sentence) for sentence in run.choice]
    unfinished = "" if info.state == "complete" else "\n**This run is not complete: the numbers are those so far.**\n"
    return f"# Run {cell(run.path.resolve().name)}\n\n" + table(("", ""), rows) + unfinished


def _rates(measured: Mapping[str, Summary]) -> str:
    if not measured:
        return ""
    rows = [
        (
            f"{part} pass@{entry.k}",
            with_interval(entry.excluded),
            with_interval(entry.as_wrong),
            summary.tasks,
            entry.left_out,
        )
        for part, summary in measured.items()
        for entry in summary.pass_at
    ]
    head = ("", "invalid attempts left aside", "invalid attempts as wrong", "tasks", "tasks left aside")
    draws = next(iter(measured.values())).draws
    return (
        "## Success\n\n"
        + table(head, rows)
        + "\nUnbiased pass@k per task, mean over tasks, 95 % intervals over tasks: Wilson where every task gives 0 or 1"
        f" or all give the same, else bootstrap ({draws:,} draws, seed 0)."
        " Tasks left aside have fewer than k valid attempts.\n"
    )


def _comparison(found: Collected, measured: Mapping[str, Summary]) -> str:
    try:
        results = compared(found, measured)
    except InputError as error:
        return f"## Before and after\n\nNot comparable: {cell(error)}.\n"
    if not results:
        return ""
    rows = [
        (
            f"pass@{result.k}",
            f"{points(result.difference)} ({points(result.low)} to {points(result.high)})",
            *(result.fixed, result.broken, result.same),
            f"{result.p:.2g}",
        )
        for result in results
    ]
    head = ("after - before", "points, 95 % interval", "tasks that rose", "fell", "stayed", "sign test p")
    return f"## Before and after\n\n{sentence(results[0])}\n\n" + table(head, rows)


def compared(found: Collected, measured: Mapping[str, Summary]) -> list[Paired]:
    """After against before for each k; nothing where the run did not measure both.

    Raises:
        InputError: they cannot be compared.
    """
    if not {"before", "after"} <= measured.keys():
        return []
    sides = found.parts["before"], found.parts["after"]
    return [paired_tallies(*sides, k=entry.k) for entry in measured["after"].pass_at]


def sentence(result: Paired) -> str:
    """A paired comparison in words."""
    shown = result.low > 0 or result.high < 0
    verdict = "The interval excludes zero." if shown else "The interval holds zero: no difference is shown."
    return (
        f"pass@{result.k} went from {percent(result.a)} to {percent(result.b)} over the same {result.tasks} tasks:"
        f" {points(result.difference)} points, 95 % interval {points(result.low)} to {points(result.high)} (paired)."
        f" {verdict} Tasks that rose: {result.fixed}, fell: {result.broken}, stayed: {result.same};"
        f" sign test p = {result.p:.2g}."
    )


def _difficulty(measured: Mapping[str, Summary]) -> str:
    labels = sorted({label for summary in measured.values() for label in summary.by_difficulty})
    if len(labels) < 2:
        return ""
    rows = []
    for label in labels:
        slices = [summary.by_difficulty.get(label) for summary in measured.values()]
        count = max(part.tasks for part in slices if part)
        rows.append((label, count, *(with_interval(part.pass_at[0].excluded) if part else "" for part in slices)))
    return "## By difficulty\n\n" + table(("", "tasks", *(f"{part} pass@1" for part in measured)), rows)


def _groups(found: Collected) -> str:
    if not found.parts:
        return ""
    rows = []
    for part, counts in found.parts.items():
        groups = group_counts(counts.groups.values())
        zero = percent(groups.frac_reward_zero_std)
        rows.append((part, groups.total, groups.mixed, groups.all_correct, groups.all_wrong, groups.invalid, zero))
    head = ("", "groups", "mixed", "all correct", "all wrong", "invalid", "frac_reward_zero_std")
    return "## Groups\n\nOnly mixed groups carry a signal.\n\n" + table(head, rows)


def _outcomes(found: Collected) -> str:
    if not found.parts:
        return ""
    names = ("correct", "partial", "incorrect", "unparseable", "invalid")
    rows = [
        (part, counts.attempts, *(counts.named(name) for name in names), percent(counts.truncated / counts.attempts))
        for part, counts in found.parts.items()
    ]
    text = "## Outcomes\n\n" + table(("", "attempts", *names, "truncated"), rows)
    reasons = [
        (part, reason, number)
        for part, counts in found.parts.items()
        for reason, number in counts.reasons.most_common(8)
    ]
    return text + "\nMost frequent reasons:\n\n" + table(("", "reason", "attempts"), reasons)


def _flags(run: RunFolder, found: Collected) -> str:
    suspected = sum(counts.suspected for counts in found.parts.values())
    text = f"## Flags\n\nSuspected hacks (correct attempts that a detector flagged): {suspected}.\n"
    rows = [
        (part, detector, number, percent(number / counts.attempts))
        for part, counts in found.parts.items()
        for detector, number in counts.flags.most_common()
    ]
    text += "\n" + table(("", "detector", "attempts", "share"), rows) if rows else ""
    reviewed = [one for one in summarise_flags([(run, Reviews(run.path))]) if one.precision is not None] if rows else []
    said = [
        (
            f"{one.detector}@{one.version}",
            *(one.flags, one.confirmed, one.dismissed, one.open),
            f"{percent(one.precision or 0.0)} ({percent(one.low or 0.0)} to {percent(one.high or 0.0)})",
        )
        for one in reviewed
    ]
    if said:
        text += "\nWhat people said of them; precision of the reviewed ones, 95 % interval (Wilson):\n\n"
        text += table(("", "flags", "confirmed", "dismissed", "open", "precision"), said)
    for stage, flag in run_flags(stages(run.rows())) if found.steps else ():
        text += f"\n{stage}: {flag.detector}@{flag.version}: {cell(flag.evidence)}\n"
    return text


def _costs(found: Collected) -> str:
    rows = []
    for part, counts in found.parts.items():
        known = counts.counted
        tokens = f"{counts.completion_tokens / known:,.1f}" if known else "not reported"
        total = f"{counts.prompt_tokens + counts.completion_tokens:,}" if known else "not reported"
        per_task = f"{counts.verify_seconds / len(counts.tasks):.4f}"
        rows.append((part, len(counts.tasks), tokens, total, per_task))
    head = ("", "tasks", "completion tokens per attempt", "tokens in all", "seconds of judging per task")
    return "## Costs\n\n" + table(head, rows) if rows else ""


def _pairs(run: RunFolder) -> str:
    path = run.path / "preferences.jsonl"
    if not path.exists():
        return "## Preference pairs\n\nNone exported so far.\n"
    with path.open("rb") as file:
        number = sum(1 for _ in file)
    return f"## Preference pairs\n\n{number:,} in `preferences.jsonl`.\n"


def _curves(curves: Iterable[tuple[str, str]], folder: str) -> str:
    images = [f"![{cell(title)}]({folder}/{name})\n" for title, name in curves]
    return "## Curves\n\n" + "\n".join(images) if images else ""


def _provenance(run: RunFolder, found: Collected) -> str:
    def of(counts: Iterable[Tally], name: str) -> str:
        values = sorted({value for tally in counts for value in getattr(tally, name)})
        return ", ".join(values[:5]) + (f" and {len(values) - 5} more" if len(values) > 5 else "")

    parts = found.parts.values()
    rows = [
        ("policy", of(parts, "policies")),
        ("verifier and its source", of(parts, "verifiers")),
        ("reward", of(parts, "schemes")),
        *((name, version) for name, version in run.info.versions.items()),
    ]
    settings = msgspec.json.format(msgspec.json.encode(run.info.settings), indent=2).decode()
    return "## Made with\n\n" + table(("", ""), rows) + "\nSettings, budgets and seeds:\n\n" + _fenced(settings, "json")


def _reproduce(run: RunFolder) -> str:
    from shlex import quote

    name = quote(str(run.path))
    commands = []
    if (run.path / "recipe.yaml").exists():
        commands.append(f"lydite train {quote(str(run.path / 'recipe.yaml'))} -o NEW_RUN")
    elif run.info.kind in ("sample", "eval"):
        options = {"n": "-n", "seed": "--seed", "temperature": "--temperature", "max_tokens": "--max-tokens"}
        said = [f"{flag} {run.info.settings[name]}" for name, flag in options.items() if name in run.info.settings]
        tasks = quote(str(run.path / "tasks.jsonl"))
        commands.append(" ".join(["lydite", run.info.kind, tasks, "--policy SPEC", *said, "-o NEW_RUN"]))
    commands += [f"lydite ledger verify {name} --head {run.info.head}", f"lydite ledger replay {name}"]
    return "## To check and to repeat it\n\n" + _fenced("\n".join(commands), "sh")


def _fenced(text: str, language: str) -> str:
    """A code block whose fence is longer than any run of backticks inside."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}\n"

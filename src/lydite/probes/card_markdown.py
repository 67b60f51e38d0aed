"""A checker card for people: Markdown, and its result in one line."""

from __future__ import annotations

from collections.abc import Sequence

from lydite.codec import well_formed
from lydite.probes.card import AttackRow, Card
from lydite.probes.protocol import Level

MARKS = {Level.FAILED: "✗", Level.WARNING: "!", Level.PASSED: "✓", Level.NOT_MADE: "–"}


def to_markdown(card: Card) -> str:
    """The card for people."""
    return (
        "\n".join([*_head(card), *_table(card), *_through(card), *_warnings(card), *_missing(card), *_all(card)]) + "\n"
    )


def headline(card: Card) -> str:
    """The result in one line."""
    if not card.probed and not card.attacks:
        return "nothing was probed"
    what = f"{card.attacks} attacks on {card.probed} of {card.tasks} tasks in {card.seconds:.0f} s"
    if not card.got_through:
        return f"{what}: nothing got through" + (f", {card.warned} worth a look" if card.warned else "")
    return f"{what}: {card.got_through} got through, at {card.gameable} tasks"


def _head(card: Card) -> list[str]:
    kinds = ", ".join(f"{kind} {count}" for kind, count in card.kinds.items())
    whole = "" if card.complete else " The work was stopped: tasks are missing."
    return [
        "# Checker card",
        "",
        f"**{headline(card)}.**{whole}",
        "",
        f"- tasks: {card.tasks} ({cell(kinds)}), {card.without_solution} without a reference solution",
        f"- files: {cell(', '.join(card.files))}",
        *([f"- only: {cell(', '.join(card.only))}"] if card.only else []),
        f"- digest of the tasks: `{card.digest}`",
        f"- verifiers: {cell(', '.join(card.verifiers))}",
        f"- made by lydite {card.lydite}, {card.began}; {'; '.join(card.notes)}",
        "",
    ]


def _table(card: Card) -> list[str]:
    lines = ["## Checks", "", "| | check | it holds that | made | got through | worth a look | not made |"]
    lines.append("| :---: | :--- | :--- | ---: | ---: | ---: | ---: |")
    for row in card.checks:
        numbers = f"{row.made} | {row.got_through} | {row.warned} | {row.not_made}"
        lines.append(f"| {MARKS[row.level]} | {cell(row.check)} | {cell(row.promise)} | {numbers} |")
    return [*lines, ""]


def _through(card: Card) -> list[str]:
    rows = [row for row in card.rows if row.got_through]
    if not rows:
        return []
    lines = ["## What got through", ""]
    for row in rows:
        lines += _section(row, row.got_through, row.tasks)
    return lines


def _warnings(card: Card) -> list[str]:
    rows = [row for row in card.rows if row.warned and not row.got_through]
    if not rows:
        return []
    lines = ["## Worth a look", ""]
    for row in rows:
        lines += _section(row, row.warned, row.warned_tasks)
    return lines


def _section(row: AttackRow, count: int, tasks: Sequence[str]) -> list[str]:
    named = ", ".join(map(cell, tasks)) + (" …" if count > len(tasks) else "")
    lines = [
        f"### {cell(row.kind)}: {cell(row.what)}",
        "",
        f"- {cell(row.check)}, {count} of {row.made}; best share of the score {share(row.best_share)}",
        f"- {cell(row.told)}",
        f"- tasks: {named}",
        f"- to mend it: {cell(row.mend)}",
        "",
    ]
    if row.shown:
        lines += [*(f"    {line}" for line in well_formed(row.shown[:1000]).splitlines()), ""]
    return lines


def _missing(card: Card) -> list[str]:
    if not card.not_made:
        return []
    lines = ["## Not made", ""]
    for gap in card.not_made:
        named = ", ".join(map(cell, gap.tasks[:5])) + (" …" if gap.count > 5 else "")
        lines.append(f"- {cell(gap.check)}: {cell(gap.why)} ({gap.count}: {named})")
    return [*lines, ""]


def _all(card: Card) -> list[str]:
    lines = ["## All attacks", "", "| check | attack | made | got through | best share | mean share |"]
    lines.append("| :--- | :--- | ---: | ---: | ---: | ---: |")
    for row in card.rows:
        shares = f"{share(row.best_share)} | {share(row.mean_share)}"
        lines.append(f"| {cell(row.check)} | {cell(row.kind)} | {row.made} | {row.got_through} | {shares} |")
    return lines


def share(value: float | None) -> str:
    """A share of the score as a percentage."""
    return "–" if value is None else f"{100 * value:.0f} %"


def cell(value: object) -> str:
    """A value as text of Markdown, whatever a task's author made of it."""
    text = " ".join(well_formed(str(value)).split())
    for mark in "\\`*_|<>[]":
        text = text.replace(mark, f"\\{mark}")
    return text

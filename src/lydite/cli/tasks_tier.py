"""``lydite tasks tier``: which tasks of a run are too easy, in the band, too hard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lydite.evaluation.tiers import Tiered


def tier(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the tasks of --take to a .jsonl file of tasks.")
    ] = None,
    take: Annotated[str, typer.Option(help="Tiers for -o, apart by commas: too_hard, in_band, too_easy, unknown.")] = (
        "in_band"
    ),
    low: Annotated[float, typer.Option(min=0.0, max=1.0, help="Least success rate of the band.")] = 0.1,
    high: Annotated[float, typer.Option(min=0.0, max=1.0, help="Largest success rate of the band.")] = 0.9,
    phase: Annotated[
        list[str] | None, typer.Option(help="Only this part of the run, such as train-1 (repeatable).")
    ] = None,
    verdicts: Annotated[
        str, typer.Option(metavar="WHICH", help="old (recorded first), rescored (the latest), or a rescoring's name.")
    ] = "old",
    last: Annotated[int | None, typer.Option(min=1, help="Only the latest so many attempts at each task.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")] = False,
) -> None:
    """Say of each task of a run how often it was solved, and whether a policy can learn from it.

    A task that is always or never solved gives groups without contrast. What -o writes can be given to `lydite sample`
    or named in a recipe (tasks.train) like any other file of tasks.
    """
    from lydite.cli.console import err, print_json
    from lydite.cli.outputs import free
    from lydite.errors import InputError
    from lydite.evaluation.tiers import Tier, counts, tiers
    from lydite.ledger import RunFolder
    from lydite.tasksets import write_tasks

    free(output)
    wanted = [name.strip() for name in take.split(",")]
    if unknown := [name for name in wanted if name not in list(Tier)]:
        raise InputError(f"{unknown[0]!r} is no tier", field="take", remedy=f"some of {', '.join(Tier)}")
    opened = RunFolder.open(run, verdicts=verdicts)
    found = tiers(opened, low=low, high=high, phases=phase, last=last)
    chosen = {one.task for one in found if one.tier in wanted}
    if output is not None and not chosen:
        raise InputError(f"no task is {' or '.join(wanted)}", field="take", remedy="take other tiers, or a wider band")
    for sentence in opened.choice:
        err.print(sentence, markup=False)
    if as_json:
        print_json({"run": str(run), "low": low, "high": high, "tiers": counts(found), "tasks": found})
    else:
        _tell(found)
    if output is not None:
        count = write_tasks(output, (task for task in opened.tasks() if task.id in chosen))
        err.print(f"{output}: {count} tasks", markup=False)


def _tell(found: list[Tiered]) -> None:
    from rich.table import Table

    from lydite.cli.console import err
    from lydite.evaluation.tiers import Tier, counts

    table = Table("tier", "task", "correct", "rate", "95 %", "mean score")
    for tier in Tier:
        for one in sorted((one for one in found if one.tier is tier), key=lambda one: (one.rate or 0.0, one.task)):
            if one.rate is None or one.interval is None or one.score is None:
                table.add_row(tier, one.task, f"0 of 0 ({one.invalid} invalid)", "", "", "")
                continue
            sure = "" if one.certain else " ?"
            interval = f"{one.interval.low:.0%}-{one.interval.high:.0%}"
            rate = f"{one.rate:.0%}"
            table.add_row(
                f"{tier}{sure}", one.task, f"{one.correct} of {one.attempts}", rate, interval, f"{one.score:.2f}"
            )
        table.add_section()
    err.print(table)
    told = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts(found).items() if count)
    err.print(f"{told} (?: the interval reaches into another tier)", markup=False)

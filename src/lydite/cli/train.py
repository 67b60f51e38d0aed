"""``lydite train``: carry out a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lydite.cli.console import err, print_json, program

if TYPE_CHECKING:
    from lydite.training import TrainResult

app = typer.Typer(add_completion=False)


@app.command()
def train(
    recipe: Annotated[Path, typer.Argument(help="A recipe (.yaml, .toml); with --resume also a run folder.")],
    overrides: Annotated[list[str] | None, typer.Argument(metavar="[a.b=c]...", help="Fields to change.")] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="The run folder (default: runs/NAME).")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was interrupted.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The result as JSON on standard output.")] = False,
) -> None:
    """Train a policy by a recipe. Ctrl-C leaves a run that --resume goes on with."""
    from lydite.cli.training_bar import training_bar
    from lydite.errors import InterruptedRunError
    from lydite.training import load_recipe
    from lydite.training import train as carry_out
    from lydite.training.trl.quiet import require

    plan = load_recipe(recipe, overrides or ())
    require()
    folder = out or (recipe if recipe.is_dir() else Path("runs") / plan.name)
    try:
        with training_bar(plan) as report:
            result = carry_out(plan, folder, resume=resume, progress=report)
    except InterruptedRunError:
        raise InterruptedRunError(
            f"stopped; what was done is safe. Go on with: {program()} train {folder} --resume"
        ) from None
    if as_json:
        print_json(result)
    else:
        _say(result)


def _say(result: TrainResult) -> None:
    for label, side in (("before", result.before), ("after", result.after)):
        for entry in side.pass_at if side else ():
            found = entry.as_wrong
            err.print(f"{label:>6}  pass@{entry.k} {found.value:.1%} [{found.low:.1%}, {found.high:.1%}]")
    if paired := result.paired:
        points = [100 * value for value in (paired.difference, paired.low, paired.high)]
        err.print(
            f"paired difference {points[0]:+.1f} points [{points[1]:+.1f}, {points[2]:+.1f}], {paired.tasks} tasks"
        )
    groups = result.groups
    err.print(
        f"groups: {groups.mixed} mixed, {groups.all_correct} all correct, {groups.all_wrong} all wrong,"
        f" {groups.invalid} invalid; suspected hacks: {result.suspected_hacks}; pairs: {result.preference_pairs}"
    )
    err.print(f"run: {result.run}  ledger head: {result.head}")
    print(result.run)

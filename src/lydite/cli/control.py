"""``lydite control``: a recipe beside runs in which training sees something else than the true reward."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lydite.cli.console import err, print_json, program

if TYPE_CHECKING:
    from lydite.training.progress import Report

app = typer.Typer(add_completion=False)


@app.command()
def control(
    recipe: Annotated[Path, typer.Argument(help="A recipe (.yaml, .toml), or `demo`.")],
    overrides: Annotated[list[str] | None, typer.Argument(metavar="[a.b=c]...", help="Fields to change.")] = None,
    controls: Annotated[
        str,
        typer.Option(
            help="Apart by commas: random, format_only, shuffled, flip:P, false_positives:P, false_negatives:P."
        ),
    ] = "random,format_only",
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="A folder for all runs (default: runs/NAME-controls).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The comparison as JSON on standard output.")] = False,
) -> None:
    """Carry out a recipe with the true reward and with others, and compare them on the held-out tasks.

    Leaves with 1 where the true reward does not beat every control by more than the paired 95 % interval. The same
    command again goes on where it was stopped; what is done is not done again.
    """
    from lydite.cli.training_bar import training_bar
    from lydite.errors import InterruptedRunError
    from lydite.training import load_recipe
    from lydite.training.control_runs import control_runs, page
    from lydite.training.demo import packaged_recipe
    from lydite.training.trl.quiet import require

    plan = packaged_recipe(overrides or ()) if str(recipe) == "demo" else load_recipe(recipe, overrides or ())
    require()
    folder = out or Path("runs") / f"{plan.name}-controls"

    @contextmanager
    def watching(name: str) -> Iterator[Report]:
        err.print("the true reward" if name == "none" else f"control {name}", markup=False)
        with training_bar(plan) as report:
            yield report

    try:
        made = control_runs(plan, controls.split(","), folder, watching)
    except InterruptedRunError:
        again = f"{program()} control {recipe} … -o {folder}"
        raise InterruptedRunError(f"stopped; what was done is safe. Go on with the same command: {again}") from None
    if as_json:
        print_json(made)
    else:
        err.print("\n".join(page(made)), markup=False)
        print(folder)
    if not made.counts:
        raise typer.Exit(1)

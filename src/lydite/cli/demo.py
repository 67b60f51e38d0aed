"""``lydite demo``: the whole loop on the built-in policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lydite.cli.console import err, print_json, program

if TYPE_CHECKING:
    from lydite.evaluation import Summary
    from lydite.training import TrainResult

app = typer.Typer(add_completion=False)


@app.command()
def demo(
    out: Annotated[Path, typer.Option("-o", "--out", help="The run folder.")] = Path("runs/demo"),
    seed: Annotated[int, typer.Option(help="Another seed: other prompts, other samples.")] = 0,
    control: Annotated[str, typer.Option(help="none, random, format_only or flip:P: what training sees.")] = "none",
    as_json: Annotated[bool, typer.Option("--json", help="The result as JSON on standard output.")] = False,
) -> None:
    """Measure the built-in policy, sample groups, judge them, train with GRPO and LoRA, measure again.

    Three to five minutes on 2 CPU cores. Ctrl-C leaves a run that the same command goes on with.
    """
    from lydite.cli.training_bar import training_bar
    from lydite.errors import InterruptedRunError
    from lydite.training.demo import demo as carry_out
    from lydite.training.demo import demo_document, demo_recipe
    from lydite.training.trl.quiet import require

    require()
    recipe = demo_recipe(seed=seed, control=control)
    try:
        with training_bar(recipe) as report:
            result = carry_out(recipe, out, progress=report)
    except InterruptedRunError:
        raise InterruptedRunError(
            f"stopped; what was done is safe. Go on with: {program()} train {out} --resume"
        ) from None
    if as_json:
        print_json(demo_document(result))
    else:
        _say(result, control)


def _say(result: TrainResult, control: str) -> None:
    from rich.table import Table

    assert result.before is not None
    assert result.after is not None
    assert result.paired is not None
    table = Table(title="Held-out tasks", title_justify="left")
    for heading in ("", "before", "after"):
        table.add_column(heading)
    for entry in result.before.pass_at:
        table.add_row(f"pass@{entry.k}", _rate(result.before, entry.k), _rate(result.after, entry.k))
    for name in ("correct", "incorrect", "unparseable", "invalid"):
        table.add_row(name, str(result.before.outcomes.get(name, 0)), str(result.after.outcomes.get(name, 0)))
    table.add_row("suspected hacks", str(result.before.suspected_hacks), str(result.after.suspected_hacks))
    err.print(table)
    paired = result.paired
    err.print(
        f"Paired difference of pass@1 on the same {paired.tasks} tasks: {100 * paired.difference:+.1f} points"
        f" (95 % interval {100 * paired.low:+.1f} to {100 * paired.high:+.1f})"
        + ("." if control == "none" else f", under the control '{control}'.")
    )
    most = max(entry.k for entry in result.before.pass_at)
    rises = [result.after.at(k).as_wrong.value - result.before.at(k).as_wrong.value for k in (1, most)]
    if paired.low > 0 and rises[1] < rises[0] / 2:
        err.print(
            f"pass@{most} rose by {100 * rises[1]:.1f} points only: the policy finds more often what it could find"
            " already; little of this is new ability."
        )
    groups = Table(title="Groups sampled for learning", title_justify="left")
    counts = result.groups
    for name in ("mixed", "all_correct", "all_wrong", "invalid"):
        groups.add_column(name.replace("_", " "))
    groups.add_row(str(counts.mixed), str(counts.all_correct), str(counts.all_wrong), str(counts.invalid))
    err.print(groups)
    err.print(
        f"Suspected hacks in all phases (right answers without visible work): {result.suspected_hacks}."
        f" Preference pairs: {result.preference_pairs}. Seconds: {result.seconds:.0f}."
    )
    err.print(f"Ledger head {result.head}")
    err.print(
        f"Files in {result.run}: report.md, rollouts.jsonl, ledger.jsonl, preferences.jsonl, adapter/\n"
        f"Next: {program()} ledger verify {result.run}, then show, ledger replay or report on the same folder"
    )


def _rate(summary: Summary, k: int) -> str:
    found = summary.at(k).as_wrong
    return f"{found.value:.1%}  [{found.low:.1%}, {found.high:.1%}]"

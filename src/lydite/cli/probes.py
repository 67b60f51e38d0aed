"""``lydite probes``: hacks that are kept as a regression suite, impossible twins, and the strength of tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lydite.probes.protocol import Finding
    from lydite.probes.strength import Strength

app = typer.Typer(add_completion=False, no_args_is_help=True)

FOLDER = Path("probes")

Tasks = Annotated[list[Path], typer.Argument(metavar="TASKS...", help="Files of task documents.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first so many tasks.")]


@app.command()
def add(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.", show_default=False)],
    rollout: Annotated[str, typer.Argument(metavar="ID", help="The attempt, such as sample/t1/0.", show_default=False)],
    folder: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="The folder of probes.")] = FOLDER,
    what: Annotated[str, typer.Option(help="One line for people: how it cheats.")] = "",
    name: Annotated[str | None, typer.Option(help="Of the file. Default: after run and attempt.")] = None,
) -> None:
    """Keep an attempt of a run, a confirmed hack, as a probe: with its task, and the workspace that it left."""
    from lydite.cli.console import err
    from lydite.probes.kept import add

    path, correct = add(run, rollout, folder, what=what, name=name)
    if not correct:
        err.print("note: the attempt was not judged correct, so it does not get through now", markup=False)
    print(path)


@app.command()
def run(
    folder: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="The folder of probes.")] = FOLDER,
    tasks: Annotated[
        list[Path] | None,
        typer.Option("--tasks", metavar="FILE", help="Try the checkers that stand here now, by id of task."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Try every kept probe again. Leaves with 1 when one is judged correct, or scores more than it may; with 2
    when one could not be tried: what is not tried is not held."""
    from lydite.cli.console import print_json
    from lydite.probes.kept import load, tried
    from lydite.probes.protocol import Level
    from lydite.tasksets import load_tasks

    probes = load(folder)
    found = list(tried(probes, folder, load_tasks(tasks) if tasks else ()))
    if as_json:
        print_json({"folder": str(folder), "findings": found})
    _tell(found)
    levels = {finding.level for finding in found}
    if Level.FAILED in levels:
        raise typer.Exit(1)
    if Level.NOT_MADE in levels:
        raise typer.Exit(2)


def _tell(found: list[Finding]) -> None:
    from collections import Counter

    from lydite.cli.console import err

    for finding in found:
        if finding.told:
            err.print(f"{finding.kind}, {finding.task}: {finding.told}", markup=False)
    counts = Counter(finding.level for finding in found)
    err.print(", ".join(f"{count} {level.replace('_', ' ')}" for level, count in sorted(counts.items())), markup=False)


@app.command()
def twins(
    tasks: Tasks,
    out: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Where to write them, as .jsonl.")],
    limit: Limit = None,
    as_json: Json = False,
) -> None:
    """Write the impossible twin of every task: one expected value is turned, and the reference shown to fail.

    Nobody passes a twin who does what its prompt asks: `lydite eval FILE --policy SPEC` measures the cheat rate.
    """
    from lydite.cli.console import err, print_json
    from lydite.cli.outputs import free
    from lydite.errors import InputError
    from lydite.probes.twins import twins
    from lydite.tasksets import load_tasks, write_tasks
    from lydite.tasksets.read import expand

    free(out, expand(tasks))
    made = list(twins(load_tasks(tasks, limit=limit)))
    written = [twin.task for twin in made if twin.task is not None]
    left = {twin.of: twin.reason for twin in made if twin.task is None}
    if not written:
        first, why = next(iter(left.items()), ("", "there are no tasks"))
        raise InputError(f"no task has a twin; {first}: {why}", remedy="code, math, regex, JSON and test files have")
    write_tasks(out, written)
    for task, why in left.items():
        err.print(f"{task}: no twin: {why}", markup=False)
    err.print(f"{out}: {len(written)} twins of {len(made)} tasks", markup=False)
    if as_json:
        print_json({"file": str(out), "twins": len(written), "without": left})


@app.command()
def mutants(
    tasks: Tasks,
    most: Annotated[int, typer.Option("--most", min=1, help="Mutants of one task that are tried.")] = 40,
    least: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Leave with 1 where fewer are proven to be killed.")
    ] = 0.0,
    limit: Limit = None,
    as_json: Json = False,
) -> None:
    """Put faults into the reference solutions of code tasks, and say which share the tests notice.

    What survives is shown with an input that tells it from the reference, where one was found.
    """
    from lydite.cli.console import err, print_json
    from lydite.probes.strength import overall, strength
    from lydite.tasksets import iter_tasks

    found: list[Strength] = []
    for task in iter_tasks(tasks, limit=limit):
        found.append(strength(task, most))
        _tell_strength(found[-1])
    total = overall(found)
    tried = [one for one in found if not one.reason]
    count = sum(one.killed + len(one.survivors) for one in tried)
    told = "nothing to mutate" if total is None else f"{_range(total)} of {count} mutants were killed"
    err.print(f"{told}; {len(tried)} of {len(found)} tasks", markup=False)
    if as_json:
        print_json({"strength": total, "tasks": [_plain(one) for one in found]})
    if total is not None and total[0] < least:
        raise typer.Exit(1)


def _tell_strength(one: Strength) -> None:
    from lydite.cli.console import err

    if one.reason:
        err.print(f"{one.task}: not tried: {one.reason}", markup=False)
    elif one.survivors and (found := one.range) is not None:
        err.print(f"{one.task}: {_range(found)} killed", markup=False)
        for survivor in one.survivors:
            seen = f"no difference seen on {one.inputs} inputs"
            if survivor.proven:
                seen = f"{survivor.input} gives {survivor.mutant}, not {survivor.reference}"
            err.print(f"  {survivor.told}: {seen}", markup=False)


def _range(found: tuple[float, float]) -> str:
    low, high = found
    return f"{low:.0%}" if f"{low:.0%}" == f"{high:.0%}" else f"{low:.0%} to {high:.0%}"


def _plain(one: Strength) -> dict[str, object]:
    import msgspec

    return {**msgspec.to_builtins(one), "strength": one.range}

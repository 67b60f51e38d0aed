"""``lydite compare``: two sets of attempts at the same tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lydite.evaluation import Tally
    from lydite.ledger import RunFolder

app = typer.Typer(add_completion=False)

_BUDGETS = ("n", "temperature", "top_p", "max_tokens")


@app.command()
def compare(
    run_a: Annotated[
        str,
        typer.Argument(
            metavar="RUN_A",
            help="A run folder, or RUN:PHASE such as runs/x:before; RUN@NAME takes the verdicts of a rescoring.",
            show_default=False,
        ),
    ],
    run_b: Annotated[str, typer.Argument(metavar="RUN_B", help="The same.", show_default=False)],
    k: Annotated[int, typer.Option("-k", min=1, help="Compare pass@k.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON on standard output.")] = False,
) -> None:
    """Compare two runs on their common tasks: the paired difference B - A with its interval, and which tasks changed.

    Refuses tasks of one id and two contents; warns when verifiers, budgets or the sets of tasks differ.
    """
    import msgspec

    from lydite.cli.console import err, print_json
    from lydite.evaluation import paired_tallies, sentence

    (a, counts_a), (b, counts_b) = _side(run_a), _side(run_b)
    result = paired_tallies(counts_a, counts_b, k=k, seed=seed)
    warnings = _warnings(a, b, counts_a, counts_b)
    for warning in warnings:
        err.print(f"warning: {warning}", style="yellow", markup=False)
    err.print(f"A {run_a}\nB {run_b}", markup=False)
    err.print(sentence(result), markup=False)
    if as_json:
        print_json({"run_a": run_a, "run_b": run_b, **msgspec.to_builtins(result), "warnings": warnings})


def _side(name: str) -> tuple[RunFolder, Tally]:
    """The run and its counts: of the phase that was named, else of the only one that measures, or the only one."""
    from lydite.errors import InputError
    from lydite.evaluation import collect
    from lydite.ledger import RunFolder

    path, phase, verdicts = name, "", None
    if not Path(path).exists():
        front, at, last = path.rpartition("@")
        if at and "/" not in last:
            path, verdicts = front, last
    if not Path(path).exists():
        front, colon, last = path.rpartition(":")
        if colon:
            path, phase = front, last
    run = RunFolder.open(path, verdicts=verdicts)
    found = collect(run.rows())
    if not found.parts:
        raise InputError("has no attempts", path=path, remedy="sample some first")
    measured = found.measured
    only = list(measured or found.parts)
    if not phase and len(only) == 1:
        phase = only[0]
    if phase not in found.parts:
        known = ", ".join(f"{path}:{part}" for part in only)
        message = f"has no phase {phase!r}" if phase else "has several phases"
        raise InputError(message, path=path, remedy=f"name one of {known}")
    return run, found.parts[phase]


def _warnings(a: RunFolder, b: RunFolder, counts_a: Tally, counts_b: Tally) -> list[str]:
    warnings = []
    only = [len(one.tasks.keys() - two.tasks.keys()) for one, two in ((counts_a, counts_b), (counts_b, counts_a))]
    if any(only):
        warnings.append(
            f"the sets of tasks differ: {only[0]} in A only, {only[1]} in B only; the common ones are compared"
        )
    if a.verdicts != b.verdicts:
        sides = " / ".join(side.verdicts or "old" for side in (a, b))
        warnings.append(f"other verdicts on each side, so a difference may be theirs: {sides}")
    warnings += [sentence for side in (a, b) for sentence in side.choice[1:]]
    if counts_a.verifiers != counts_b.verifiers:
        sides = " / ".join(", ".join(sorted(side.verifiers)) or "none" for side in (counts_a, counts_b))
        warnings.append(f"verifiers differ, so a difference may be theirs: {sides}")
    for name in _BUDGETS:
        values = a.info.settings.get(name), b.info.settings.get(name)
        if None not in values and values[0] != values[1]:
            warnings.append(f"{name} differs: {values[0]} / {values[1]}")
    invalid = [counts.invalid / counts.attempts for counts in (counts_a, counts_b)]
    if max(invalid) > 0:
        warnings.append(f"invalid attempts are left aside: {invalid[0]:.1%} / {invalid[1]:.1%}")
    return warnings

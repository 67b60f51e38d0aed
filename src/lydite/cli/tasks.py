"""``lydite tasks``: make, lint, split, generate and compare files of tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lydite.cli import tasks_check, tasks_making, tasks_tier

app = typer.Typer(help="Make, lint, split and compare files of tasks.", no_args_is_help=True, add_completion=False)
app.command("check")(tasks_check.check)
app.command("new")(tasks_making.new)
app.command("convert")(tasks_making.convert)
app.command("run-solution")(tasks_making.run_solution)
app.command("tier")(tasks_tier.tier)

_Json = Annotated[bool, typer.Option("--json", help="Print findings as JSON on standard output.")]


@app.command()
def lint(
    files: Annotated[list[Path], typer.Argument(help="Task files, or folders of them.", show_default=False)],
    as_json: _Json = False,
) -> None:
    """Say what is wrong with tasks. Exit 1 when anything was found, 2 when a document cannot be used at all.

    Checkers are compiled, workspaces are set up, and what comes of doing nothing and of the reference solution is
    judged: a checker of your own, named as path.py:name, is imported and run.
    """
    from lydite.cli.console import err, print_json
    from lydite.probes.bench import bench
    from lydite.probes.sound import judged
    from lydite.sampling import Judge
    from lydite.tasksets.lint import lint_files

    judge = Judge()
    with bench() as own:
        findings = lint_files(files, rule=lambda task: judged(task, judge, own))
    if as_json:
        print_json({"findings": findings, "count": len(findings)})
    else:
        for finding in findings:
            print(finding)
    err.print(f"{len(findings)} found" if findings else "nothing found", markup=False)
    if any(finding.rule == "malformed" for finding in findings):
        raise typer.Exit(2)
    if findings:
        raise typer.Exit(1)


@app.command()
def split(
    files: Annotated[list[Path], typer.Argument(help="Task files, or folders of them.", show_default=False)],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for train.jsonl and eval.jsonl.")],
    eval_fraction: Annotated[float, typer.Option(help="Share of tasks to hold out, between 0 and 1.")] = 0.2,
    seed: Annotated[int, typer.Option(help="Another seed gives another split.")] = 0,
) -> None:
    """Split tasks by a hash of their own content: adding tasks later moves none of the others.

    Each task falls on a side by itself, so the share is met on the whole, not to the task: of few tasks more or fewer.
    """
    from lydite.cli.console import err
    from lydite.errors import InputError
    from lydite.tasksets import iter_tasks, split_tasks, write_tasks
    from lydite.tasksets.read import expand

    targets = [output / "train.jsonl", output / "eval.jsonl"]
    sources = {path.resolve() for path in expand(files)}
    for target in targets:
        if target.resolve() in sources:
            raise InputError("would overwrite its own input", path=target, remedy="name another folder with -o")
    sides = split_tasks(iter_tasks(files), eval_fraction, seed)
    for target, tasks in zip(targets, sides, strict=True):
        if not tasks:
            message = f"no task falls on the {target.stem} side of {sum(map(len, sides))}"
            raise InputError(message, field="eval_fraction", remedy="choose another fraction or seed")
    for target, tasks in zip(targets, sides, strict=True):
        write_tasks(target, tasks)
        err.print(f"{target}: {len(tasks)} tasks", markup=False)
    held, count = len(sides[1]), sum(map(len, sides))
    if abs(held - eval_fraction * count) >= 1:
        err.print(
            f"held out are {held / count:.0%}, not {eval_fraction:.0%}: each task falls on its side by a hash of its"
            " prompt (another --seed gives another split)",
            markup=False,
        )


@app.command()
def generate(
    family: Annotated[str, typer.Argument(help="A generated family: arithmetic, files.", show_default=False)],
    levels: Annotated[str, typer.Option(help="Levels, apart by commas or as a range: 1,2 or 1-3")],
    number: Annotated[int, typer.Option("-n", "--number", "--count", help="How many tasks, all levels together.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="A .jsonl file; else standard output.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same tasks.")] = 0,
) -> None:
    """Generate tasks of a family."""
    import json

    from lydite.cli.console import err
    from lydite.cli.outputs import free
    from lydite.tasksets import generate as generate_tasks
    from lydite.tasksets import task_document, write_tasks

    free(output)
    tasks = generate_tasks(family, levels=_levels(levels), n=number, seed=seed)
    if output is None:
        for task in tasks:
            print(json.dumps(task_document(task), ensure_ascii=False))
        return
    count = write_tasks(output, tasks)
    err.print(f"{output}: {count} tasks", markup=False)


def _levels(text: str) -> list[int]:
    from lydite.errors import InputError

    found: list[int] = []
    try:
        for part in text.split(","):
            first, dash, last = part.strip().partition("-")
            found += range(int(first), int(last) + 1) if dash and first else [int(part)]
    except ValueError:
        message = f"{text!r:.60} is not a list of whole numbers"
        raise InputError(message, field="levels", remedy="for example 1,2 or 1-3") from None
    return found


@app.command()
def overlap(
    train: Annotated[Path, typer.Argument(help="What a policy learns from.", show_default=False)],
    evaluated: Annotated[Path, typer.Argument(metavar="EVAL", help="What it is measured on.", show_default=False)],
    words: Annotated[int, typer.Option(help="Words per n-gram.")] = 8,
    threshold: Annotated[float, typer.Option(help="Share of n-grams from which a task is near another.")] = 0.5,
    as_json: _Json = False,
) -> None:
    """Find evaluated tasks that stand among the training tasks.

    Exit 1 when one does, exactly or nearly. The same template with other numbers is listed, and is not a finding.
    """
    import msgspec

    from lydite.cli.console import err, print_json
    from lydite.tasksets import find_overlap, iter_tasks, load_tasks

    held = load_tasks(evaluated)
    found = find_overlap(iter_tasks(train), held, n=words, threshold=threshold)
    counts = {kind: sum(item.kind == kind for item in found) for kind in ("duplicate", "near", "template")}
    if as_json:
        print_json({"evaluated": len(held), **counts, "findings": [msgspec.to_builtins(item) for item in found]})
    else:
        for item in found:
            more = f" and {item.others} more" if item.others else ""
            print(f"{item.kind}\t{item.eval_id}\t{item.train_id}{more}\t{item.share:.0%}\t{item.example}")
    told = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    err.print(f"of {len(held)} evaluated tasks: {told}", markup=False)
    if any(item.contaminates for item in found):
        raise typer.Exit(1)

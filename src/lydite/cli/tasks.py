"""``lydite tasks``: lint, split, generate and compare files of tasks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lydite.sampling import Judge
    from lydite.task import Checker, Task
    from lydite.tasksets.lint import Finding

app = typer.Typer(help="Lint, split, generate and compare files of tasks.", no_args_is_help=True, add_completion=False)

_Json = Annotated[bool, typer.Option("--json", help="Print findings as JSON on standard output.")]


@app.command()
def lint(
    files: Annotated[list[Path], typer.Argument(help="Task files, or folders of them.", show_default=False)],
    as_json: _Json = False,
) -> None:
    """Say what is wrong with tasks. Exit 1 when anything was found, 2 when a document cannot be used at all.

    Checkers are compiled, and reference solutions of answer tasks are judged by them: a checker of your own, named as
    path.py:name, is imported and run.
    """
    from lydite.cli.console import err, print_json
    from lydite.sampling import Judge
    from lydite.tasksets.lint import lint_files

    judge = Judge()
    findings = lint_files(files, rule=lambda task: _judged(task, judge))
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
    """Split tasks by a hash of their own content: adding tasks later moves none of the others."""
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


@app.command()
def generate(
    family: Annotated[str, typer.Argument(help="A generated family, such as arithmetic.", show_default=False)],
    levels: Annotated[str, typer.Option(help="Levels, apart by commas: 1,2")],
    number: Annotated[int, typer.Option("-n", "--number", help="How many tasks, all levels together.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The .jsonl file to write.")],
    seed: Annotated[int, typer.Option(help="The same seed gives the same tasks.")] = 0,
) -> None:
    """Generate tasks of a family."""
    from lydite.cli.console import err
    from lydite.errors import InputError
    from lydite.tasksets import generate as generate_tasks
    from lydite.tasksets import write_tasks

    try:
        wanted = [int(level) for level in levels.split(",")]
    except ValueError:
        message = f"{levels!r:.60} is not a list of whole numbers"
        raise InputError(message, field="levels", remedy="for example 1,2") from None
    count = write_tasks(output, generate_tasks(family, levels=wanted, n=number, seed=seed))
    err.print(f"{output}: {count} tasks", markup=False)


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


def _judged(task: Task, judge: Judge) -> Iterator[Finding]:
    """What only judging tells of a task: a checker that cannot be used, and a solution that it does not accept."""
    from lydite.errors import InputError
    from lydite.tasksets.checkers import CHECKERS, walk
    from lydite.tasksets.lint import Finding, finding_of
    from lydite.verdict import Outcome
    from lydite.verifiers import names, verify

    known = names()
    absent: dict[str, str] = {}
    unusable: dict[str | None, Finding] = {}  # by field: a composite names the field of its part, as the part does
    for field, part in walk(task.checker):
        if part.type in CHECKERS and part.type not in known:
            absent.setdefault(part.type, field)
        elif (found := _unusable(task, field, part)) is not None:
            unusable.setdefault(found.field, found)
    yield from (found for field, found in unusable.items() if field not in {f"{at}.type" for at in absent.values()})
    for kind, field in absent.items():
        message = f"no verifier for {kind} here: it can be read, not judged"
        remedy = "install one, or name your own as path.py:name"
        yield Finding(rule="no_verifier", message=message, task=task.id, field=f"{field}.type", remedy=remedy)
    if absent or unusable:
        return
    try:
        judge.prepare(task)
    except InputError as error:
        field = (error.field or "").removeprefix(f"task {task.id}").removeprefix(".") or "metadata.flags"
        told = InputError(error.message, field=field, remedy=error.remedy)
        yield finding_of(told, "checker" if field.startswith("checker") else "flags", task)
        return
    if task.env != "none" or not isinstance(task.solution, str):
        return
    verdict = verify(task, task.solution)
    if verdict.outcome is not Outcome.CORRECT:
        read = f", read as {verdict.extracted[:60]!r}" if verdict.extracted else ""
        message = f"the reference is judged {verdict.outcome.value} ({verdict.reason}{read})"
        remedy = "mend the solution, or the checker's answer"
        yield Finding(rule="solution", message=message, task=task.id, field="solution", remedy=remedy)


def _unusable(task: Task, field: str, checker: Checker) -> Finding | None:
    """Why this checker cannot judge; it is compiled, and asked about an empty answer, which it must stand."""
    from lydite.errors import InputError
    from lydite.tasksets.lint import Finding, finding_of
    from lydite.verdict import Outcome
    from lydite.verifiers import Submission, build

    try:
        verdict = build(checker)(Submission(text="", prompt=task.prompt_text))
    except InputError as error:
        named = (error.field or "checker").removeprefix("checker")
        message = (
            error.message if error.path is None else f"{error.path}: {error.message}"
        )  # the finding's is the task's
        return finding_of(InputError(message, field=field + named, remedy=error.remedy), "checker", task)
    except Exception as error:  # code of a user's own, or of an installed package, that cannot even be loaded
        message = f"cannot be loaded: {type(error).__name__}: {error}"[:300]
        return Finding(rule="checker", message=message, task=task.id, field=f"{field}.type", remedy="mend the verifier")
    if verdict.outcome is not Outcome.INVALID:
        return None
    gold = verdict.reason == "unparseable_gold"
    return Finding(
        rule="checker",
        message=f"can judge nothing: {verdict.reason}" + (f": {verdict.detail}" if verdict.detail else ""),
        task=task.id,
        field=f"{field}.config.answer" if gold else f"{field}.type",
        remedy="give an answer that can be read" if gold else "mend the verifier",
    )

"""``lydite tasks new``, ``convert`` and ``run-solution``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

_Files = Annotated[
    list[Path], typer.Argument(help="Task files, Harbor folders, or folders of them.", show_default=False)
]


def new(
    kind: Annotated[str, typer.Argument(help="A kind of checker, or harbor.", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A new .yaml, .json or .jsonl file; a folder for harbor.")
    ] = None,
) -> None:
    """Write a starter task for a kind of checker: it passes lint and run-solution as it is.

    YAML has comments that say what each field is for; it goes to standard output where no file is named.
    """
    from lydite.cli.console import err
    from lydite.tasksets.starters import starter, write_starter

    if output is None and kind != "harbor":
        sys.stdout.write(starter(kind))
        return
    place = write_starter(kind, output or Path("harbor-task"))
    err.print(f"{place}: a {kind} task. Next: lydite tasks lint {place}", markup=False)


def convert(
    files: _Files,
    output: Annotated[Path, typer.Option("-o", "--output", help="A .jsonl file, or a new folder of Harbor tasks.")],
) -> None:
    """Write tasks in another form: JSON lines, or Harbor task folders (where Harbor can tell the task)."""
    from lydite.cli.console import err
    from lydite.cli.outputs import free
    from lydite.tasksets import iter_tasks, write_tasks
    from lydite.tasksets.harbor_write import write_harbor
    from lydite.tasksets.read import expand

    free(output, expand(files))
    if output.name.endswith((".jsonl", ".jsonl.gz")):
        count = write_tasks(output, iter_tasks(files))
    else:
        count = len(write_harbor(output, list(iter_tasks(files))))
    err.print(f"{output}: {count} tasks", markup=False)


def run_solution(
    files: _Files,
    as_json: Annotated[bool, typer.Option("--json", help="Print verdicts as JSON on standard output.")] = False,
) -> None:
    """Carry out each reference solution and judge it as an attempt is judged. Exit 1 when one does not score 1.

    The solution of a workspace task runs in a sandbox: its files are written, then its commands run. A task without a
    solution counts as one that does not.
    """
    from lydite.cli.console import err, print_json
    from lydite.errors import InputError
    from lydite.probes.attempt import told_of
    from lydite.probes.bench import bench
    from lydite.tasksets import iter_tasks

    results: list[dict[str, Any]] = []
    with bench() as own:
        for task in iter_tasks(files):
            try:
                verdict = own.judged(task, own.untouched(task))
            except InputError as error:
                found: dict[str, Any] = {"outcome": None, "score": None, "reason": "failed", "detail": str(error)}
                told = str(error)
            else:
                if verdict is None:
                    told = "there is no solution"
                    found = {"outcome": None, "score": None, "reason": "no_solution", "detail": told}
                else:
                    told = told_of(verdict)
                    found = {"outcome": verdict.outcome.value, "score": verdict.score, "reason": verdict.reason}
                    found |= {"detail": verdict.detail, "verifier": verdict.verifier}
            results.append({"id": task.id, "ok": found["score"] == 1, **found})
            if not as_json:
                print(f"{'ok' if found['score'] == 1 else 'NO'}\t{task.id}\t{told}")
    good = sum(result["ok"] for result in results)
    if as_json:
        print_json({"tasks": results, "count": len(results), "ok": good})
    err.print(f"{good} of {len(results)} reference solutions score 1", markup=False)
    if good < len(results):
        raise typer.Exit(1)

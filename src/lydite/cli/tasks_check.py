"""``lydite tasks check``: what a task's checker says of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from lydite.task import Task
    from lydite.verdict import Verdict


def check(
    task: Annotated[Path, typer.Argument(help="A file with one task, or with several and --id.", show_default=False)],
    workspace: Annotated[
        Path, typer.Option("--workspace", metavar="DIR", help="What was left behind. It is read, never changed.")
    ],
    only: Annotated[str | None, typer.Option("--id", help="Which task of the file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON on standard output.")] = False,
) -> None:
    """Judge a folder as the workspace of a finished episode.

    Its files are copied into a sandbox; nothing in it is run outside. Exit 0 when it is correct, 1 when it is not, and
    3 when it could not be judged: then the sandbox or the checker failed, and the same command may be given again.
    """
    from lydite.cli.console import err, print_json
    from lydite.sandbox import Snapshot
    from lydite.verdict import Outcome
    from lydite.verifiers import verify

    wanted = _chosen(task, only)
    state = Snapshot.from_directory(workspace)
    if state.skipped:
        err.print(f"{state.skipped} left out: no files, not readable, or with paths that are too long", markup=False)
    verdict = verify(wanted, "", state=state)
    if as_json:
        print_json(_document(verdict))
    else:
        _show(verdict)
    if verdict.outcome is Outcome.INVALID:
        raise typer.Exit(3)
    if verdict.outcome is not Outcome.CORRECT:
        raise typer.Exit(1)


def _chosen(path: Path, only: str | None) -> Task:
    """The task that is meant.

    Raises:
        InputError: there is none of this id, or several and none is named.
    """
    from lydite.errors import InputError
    from lydite.tasksets import load_tasks

    tasks = load_tasks(path)
    if only is not None:
        tasks = [task for task in tasks if task.id == only]
        if not tasks:
            raise InputError(f"no task is called {only[:80]!r}", path=path, field="--id")
    if len(tasks) != 1:
        ids = ", ".join(task.id for task in tasks[:5])
        raise InputError(f"holds {len(tasks)} tasks", path=path, remedy=f"name one with --id: {ids}")
    return tasks[0]


def _document(verdict: Verdict) -> dict[str, Any]:
    import msgspec

    return {
        "outcome": verdict.outcome,
        "score": verdict.score,
        "reason": verdict.reason,
        "flags": [],  # detectors look at what a policy said and did, and here nobody knows
        "parts": [msgspec.to_builtins(part) for part in verdict.parts],
        "detail": verdict.detail,
        "verifier": verdict.verifier,
    }


def _show(verdict: Verdict) -> None:
    from lydite.cli.console import err

    score = "" if verdict.score is None else f", score {verdict.score:g}"
    print(f"{verdict.outcome.value} ({verdict.reason}{score})")
    for part in verdict.parts:
        mark = "?" if part.score is None else f"{part.score:g}"
        print(f"{mark}\t{_plain(part.name)}\t{_plain(part.reason)}\t{_plain(part.evidence or '')}")
    if verdict.detail:
        err.print(_plain(verdict.detail), markup=False, highlight=False)


def _plain(text: str) -> str:
    """On one line, and without what a terminal would obey: the folder's programs have a say in it."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)

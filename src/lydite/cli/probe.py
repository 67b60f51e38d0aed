"""``lydite probe``: attack the checkers of tasks before a policy does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lydite.probes.card import Card, Tally
    from lydite.task import Task

app = typer.Typer(add_completion=False)


@app.command()
def probe(
    tasks: Annotated[
        list[Path], typer.Argument(metavar="TASKS...", help="Files of task documents.", show_default=False)
    ],
    out: Annotated[Path | None, typer.Option("-o", "--out", metavar="FOLDER", help="Write card.json, card.md.")] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="CHECK", help="This check or attack alone; may be repeated.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, max=256, help="Tasks under way at once.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many tasks.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the checker card as JSON.")] = False,
) -> int:
    """Attack every task's checker, and say what got through, and how to mend it.

    Exit 1 when a submission that does not do its task was judged correct, or a reference solution was not. Ctrl-C keeps
    what was done (exit 3).
    """
    from lydite.cli.console import err, print_json
    from lydite.probes.card import Tally, to_json
    from lydite.probes.card_markdown import headline
    from lydite.probes.run import probe as run_probe

    given = _read(tasks, limit)
    tally, unusable = Tally(given, [str(path) for path in tasks], only or ()), ""
    with _stopping() as stopped, _progress(len(given), tally) as advance:
        for done in run_probe(given, only=only or (), jobs=jobs, stopped=stopped):
            tally.add(done)
            unusable = unusable or (f"task {done.task.id}: {done.unusable}" if done.unusable else "")
            advance()
        interrupted = stopped()
    if not interrupted:
        _check_only(only or (), tally)
    card = tally.card()
    if out is not None:
        _write(out, card)
    if as_json:
        print_json(to_json(card))
    else:
        _tell(card)
    err.print(headline(card), markup=False)
    if unusable:
        err.print(f"error: {unusable}", markup=False)
    if interrupted:
        err.print("interrupted: the card holds what was done", markup=False)
        return 3
    return 1 if card.got_through else 2 if unusable else 0


def _read(paths: Sequence[Path], limit: int | None) -> list[Task]:
    """All tasks, each with a checker that can be compiled.

    Raises:
        InputError: names file, line, field and remedy.
    """
    from lydite.errors import InputError, MissingExtraError, UnavailableError
    from lydite.tasksets.read import duplicate_id, expand, read_tasks
    from lydite.verifiers import build, checker_of

    places: dict[str, tuple[Path, int]] = {}
    found: list[Task] = []
    for path, line, task, error in read_tasks(expand(paths)):
        if error is not None or task is None:
            raise error or InputError("no task", path=path, line=line)
        if task.id in places:
            raise duplicate_id(task, path, line, places[task.id])
        places[task.id] = path, line
        try:
            build(checker_of(task))
        except InputError as wrong:
            raise wrong.at(path, line) from None
        except (MissingExtraError, UnavailableError):
            pass  # the card says so
        found.append(task)
        if limit is not None and len(found) >= limit:
            break
    return found


def _check_only(only: Sequence[str], tally: Tally) -> None:
    """Raise where a name fits nothing that there is."""
    from lydite.errors import InputError
    from lydite.probes.protocol import PROMISES

    kinds = sorted({finding.kind for finding in tally.findings})
    for name in only:
        if not any(name in (check, check.rpartition(".")[2]) for check in PROMISES) and name not in kinds:
            known = ", ".join(check.rpartition(".")[2] for check in PROMISES)
            remedy = f"checks: {known}; or an attack by its name, as the card has it"
            raise InputError(f"{name[:60]!r} is no check, and no attack on these tasks", field="--only", remedy=remedy)


@contextmanager
def _stopping() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed. The second time it ends the program."""
    import signal

    asked: list[int] = []

    def heard(number: int, _: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    before = {number: signal.signal(number, heard) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _progress(total: int, tally: Tally) -> Iterator[Callable[[], None]]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from lydite.cli.console import err

    said = TextColumn("{task.fields[said]}")
    columns = (TextColumn("probing"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), said)
    with Progress(*columns, console=err, disable=not err.is_terminal) as bar:
        line = bar.add_task("probing", total=total, said="")
        yield lambda: bar.update(line, completed=tally.probed, said=f"{tally.got_through} got through")


def _write(folder: Path, card: Card) -> None:
    from lydite.codec import canonical
    from lydite.errors import StorageError
    from lydite.probes.card import to_json
    from lydite.probes.card_markdown import to_markdown

    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "card.json").write_bytes(canonical(to_json(card)) + b"\n")
        (folder / "card.md").write_text(to_markdown(card), encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{folder}: cannot be written: {error.strerror or error}") from None


def _tell(card: Card) -> None:
    from rich.table import Table

    from lydite.cli.console import err
    from lydite.probes.card_markdown import MARKS, share

    table = Table("", "check", "made", "got through", "look", "best share", box=None, pad_edge=False)
    for check in card.checks:
        table.add_row(MARKS[check.level], check.check, str(check.made), str(check.got_through), str(check.warned), "")
        for row in card.rows:
            if row.check == check.check and (row.got_through or row.warned):
                through = str(row.got_through)
                table.add_row("", f"  {row.kind}", str(row.made), through, str(row.warned), share(row.best_share))
    err.print(table)
    for row in card.rows:
        if row.got_through or row.warned:
            named = row.tasks if row.got_through else row.warned_tasks
            count = row.got_through or row.warned
            more = f" and {count - 3} more" if count > 3 else ""
            err.print(f"\n{row.kind}: {row.what}", markup=False)
            err.print(f"  {row.told}; at {', '.join(named[:3])}{more}", markup=False)
            err.print(f"  to mend it: {row.mend}", markup=False)
    for gap in card.not_made:
        err.print(f"\nnot made: {gap.check} at {gap.count}: {gap.why}", markup=False)
    err.print()

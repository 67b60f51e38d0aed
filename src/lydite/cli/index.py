"""``lydite index``: the index of a service, which can always be made again from the folders."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lydite.server.index.following import Progress
    from lydite.server.service import Service
    from lydite.server.settings import Settings

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.callback()
def index() -> None:
    """The index of a service: a database over run folders, jobs, files and documents. It holds nothing of its own."""


@app.command()
def rebuild(
    home: Annotated[Path, typer.Option("--home", help="The service's home: the folder that holds runs/.")] = Path("."),
    database: Annotated[
        str, typer.Option("--database", metavar="URL", help="Where the index is, if not in the home.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")] = False,
) -> None:
    """Make the index again from the folders, whether a service runs on it or not."""
    import time

    from lydite.cli.console import err, print_json
    from lydite.errors import InputError
    from lydite.server.settings import Settings

    if not (home / "runs").is_dir() and not (home / ".lydite").is_dir():
        raise InputError("is no home of a service: there is no runs/ in it", path=home, field="--home")
    begin = time.monotonic()
    service = _service(Settings(home=home, database=database))
    try:
        with _progress() as progress:
            found = service.rebuild(progress)
            unnamed = service.home.unnamed()
    finally:
        service.close()
    if as_json:
        print_json({**found, "seconds": round(time.monotonic() - begin, 3)})
        return
    print(", ".join(f"{count} {name}" for name, count in found.items()))
    if unnamed:
        names = ", ".join(repr(name) for name in unnamed[:5])
        err.print(f"passed over, as their names cannot stand in an address: {names}", markup=False)
    if found["unreadable"]:
        err.print(f"{found['unreadable']} of the runs cannot be read; the page says why", markup=False)


def _service(settings: Settings) -> Service:
    """The service, over a new file where the old one cannot be used."""
    from lydite.cli.console import err
    from lydite.server.database.engine import BrokenIndexError, remove_broken
    from lydite.server.service import Service

    try:
        return Service(settings)
    except BrokenIndexError as error:
        if error.held or not remove_broken(settings.home, settings.database):
            raise
        err.print(f"{error.reason}: a new one takes its place", markup=False)
        return Service(settings)


@contextmanager
def _progress() -> Iterator[Progress]:
    """Attempts as they are taken in, on a terminal."""
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    from lydite.cli.console import err

    counts: dict[str, int] = {}
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Bar(*columns, console=err, disable=not err.is_terminal, transient=True) as bar:
        line = bar.add_task("looking for runs", total=None)

        def progress(run: str, rollouts: int) -> None:
            counts[run] = rollouts
            bar.update(line, description=f"{len(counts)} runs, {sum(counts.values())} attempts")

        yield progress

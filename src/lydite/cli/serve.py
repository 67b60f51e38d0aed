"""``lydite serve``: runs and jobs of a folder, as a page and as an API."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NoReturn

import typer

app = typer.Typer(add_completion=False)


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen at; any but loopback asks for tokens.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 takes a free one.")] = 7799,
    home: Annotated[Path, typer.Option(help="The folder whose runs/ are served; .lydite/ in it is kept.")] = Path("."),
    database: Annotated[str, typer.Option(help="SQLAlchemy URL of the index; SQLite in the home without.")] = "",
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A name under which it may be asked for too. Repeat for several.")
    ] = None,
    require_token: Annotated[bool, typer.Option("--require-token", help="Ask for a token on loopback too.")] = False,
    jobs: Annotated[int, typer.Option(min=0, help="Jobs that run at once; the others wait.")] = 1,
    resume_jobs: Annotated[bool, typer.Option("--resume-jobs", help="Go on with jobs that were killed.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print url, home and pid on standard output once it answers.")
    ] = False,
) -> None:
    """Serve the runs of a folder: a page to look at them, an API to drive jobs.

    Ctrl-C ends it; jobs that run go on, and are found again at the next start.
    """
    with _ended_by_signals():
        _serve(host, port, home, database, allow_host, require_token, jobs, resume_jobs, as_json)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Until the server hears signals itself, and after it did, they end the process with 0 as well."""

    def leave(number: int, frame: object) -> NoReturn:
        raise SystemExit(0)

    before = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup's stays ignored
            before[number] = signal.signal(number, leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _serve(
    host: str,
    port: int,
    home: Path,
    database: str,
    allow_host: list[str] | None,
    require_token: bool,
    jobs: int,
    resume_jobs: bool,
    as_json: bool,
) -> None:
    from lydite.cli.console import print_json, program
    from lydite.errors import MissingExtraError

    try:
        from lydite.server.running import Address, hurry, run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "lydite":
            raise
        raise MissingExtraError(f"{program()} serve", "server") from error
    from lydite.server.settings import Settings

    def tell(address: Address) -> None:
        if as_json:
            print_json({"url": address.url, "home": address.home, "pid": address.pid})
        else:
            typer.echo(f"Lydite serves {address.home} at {address.url} (Ctrl-C ends it)", err=True)

    run(
        Settings(
            home=home,
            host=host,
            port=port,
            database=database,
            allowed_hosts=tuple(allow_host or ()),
            require_token=require_token,
            jobs=jobs,
            resume_jobs=resume_jobs,
        ),
        tell,
    )
    hurry(1.0).start()  # threads that still work keep no process alive that has nothing to serve

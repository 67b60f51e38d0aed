"""``lydite tokens``: who may ask a service that listens beyond this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lydite.server.tokens import Tokens

app = typer.Typer(help="Make, list and revoke tokens of a service.", no_args_is_help=True, add_completion=False)

_Home = Annotated[Path, typer.Option("--home", help="The service's home: the folder that holds runs/.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="What it is for; letters, digits, - and _.", show_default=False)],
    home: _Home = Path("."),
    as_json: _Json = False,
) -> None:
    """Make a token and print it: the only time that it is shown."""
    from lydite.cli.console import err, print_json

    token = _tokens(home, make=True).new(name)
    if as_json:
        print_json({"name": name, "token": token})
    else:
        print(token)
    err.print("Send it as 'Authorization: Bearer …' or 'x-api-key: …'. It is not shown again.", markup=False)


@app.command("list")
def list_(home: _Home = Path("."), as_json: _Json = False) -> None:
    """List tokens by name."""
    from datetime import UTC, datetime

    from lydite.cli.console import err, print_json

    tokens = _tokens(home).all()
    if as_json:
        print_json({"tokens": [{"name": token.name, "created": token.created} for token in tokens]})
        return
    for token in tokens:
        print(f"{datetime.fromtimestamp(token.created, UTC):%Y-%m-%d %H:%M}Z  {token.name}")
    if not tokens:
        err.print("no tokens; lydite tokens new NAME makes one", markup=False)


@app.command()
def revoke(
    name: Annotated[str, typer.Argument(help="Of a token.", show_default=False)], home: _Home = Path(".")
) -> None:
    """Take a token away; a running server refuses it from the next request on."""
    from lydite.cli.console import err

    _tokens(home).revoke(name)
    err.print(f"{name} is revoked", markup=False)


def _tokens(home: Path, *, make: bool = False) -> Tokens:
    from lydite.errors import InputError
    from lydite.server.home import Home
    from lydite.server.tokens import Tokens

    if not make and not (home / ".lydite").is_dir():
        raise InputError("is no home of a service", path=home, remedy="name it with --home")
    return Tokens(Home(home).private)

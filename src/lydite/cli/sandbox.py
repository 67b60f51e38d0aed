"""``lydite sandbox``: run programs that nobody vouches for, and say what the sandbox can do on this machine."""

from __future__ import annotations

import tokenize
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lydite.errors import InputError

if TYPE_CHECKING:
    from lydite.sandbox import Sandbox, Snapshot
    from lydite.sandbox.bench import Speed

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Run untrusted programs, isolated and within limits."
)

MAX_INPUT = 64 << 20
"""Bytes of a program, and of its standard input, that are read."""
MAX_FOLDER = 1 << 30
"""Bytes of a folder that `exec` copies."""

_Timeout = typer.Option(metavar="S", help="Seconds of wall clock.")
_Memory = typer.Option("--memory-mb", metavar="N", help="MiB of the whole job.")
_Backend = Annotated[str, typer.Option(metavar="NAME", help="Back end; `lydite sandbox doctor` lists them.")]
_Packages = Annotated[
    list[str] | None,
    typer.Option("--package", metavar="NAME", help="A package, installed for Lydite, to be importable (repeatable)."),
]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]


@app.command()
def run(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.py", help="A Python program; - is standard input.", show_default=False)
    ],
    stdin: Annotated[str | None, typer.Option(metavar="FILE", help="Its standard input; - is ours.")] = None,
    timeout: Annotated[float, _Timeout] = 5.0,
    memory_mb: Annotated[int, _Memory] = 512,
    backend: _Backend = "auto",
    package: _Packages = None,
    as_json: _Json = False,
) -> int:
    """Run a Python program in a sandbox.

    Exit code: 0, it ended well; 1, it did not (the line on standard error, or status in the JSON, says why); 2,
    unusable input; 3, the sandbox itself failed and nothing is known of the program: give the command again.
    """
    from lydite.cli.console import print_json
    from lydite.cli.sandbox_output import as_json as told
    from lydite.cli.sandbox_output import exit_code, show

    if str(file) == stdin == "-":
        raise InputError("standard input is the program already", field="--stdin", remedy="give one of them as a file")
    code = _program(file)
    given = b"" if stdin is None else _bytes(stdin, "--stdin")
    with _sandbox(backend, package, timeout=timeout, memory_mb=memory_mb) as sandbox:
        result = sandbox.run(code=code, stdin=given)
    if as_json:
        print_json(told(result))
    else:
        show(result)
    return exit_code(result)


@app.command("exec")
def execute(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The workspace.", show_default=False)],
    command: Annotated[
        list[str], typer.Argument(metavar="-- COMMAND…", help="A shell line, or a program and its arguments.")
    ],
    export: Annotated[
        Path | None, typer.Option(metavar="NEW", help="Write the folder as the command left it to a new folder.")
    ] = None,
    timeout: Annotated[float, _Timeout] = 60.0,
    memory_mb: Annotated[int, _Memory] = 512,
    backend: _Backend = "auto",
    package: _Packages = None,
    as_json: _Json = False,
) -> int:
    """Run a command in a private copy of a folder. The folder itself is never changed; --export keeps the result.

    One word after -- is a line for the shell ('make test | tail'); several are a program and its arguments, without a
    shell in between. Exit codes as of `run`.
    """
    from lydite.cli.console import err, print_json
    from lydite.cli.sandbox_output import as_json as told
    from lydite.cli.sandbox_output import exit_code, harmless, show
    from lydite.sandbox import Limits, Snapshot

    _vacant(export)
    Limits(timeout=timeout, memory_mb=memory_mb)
    tree = Snapshot.from_directory(folder, MAX_FOLDER)
    if tree.skipped:
        err.print(f"left out of the copy: {tree.skipped} that are no files, or cannot be read", markup=False)
    with _sandbox(backend, package, timeout=timeout, **_room(tree, memory_mb)) as sandbox:
        workspace = sandbox.session(tree)
        result = workspace.exec(command[0] if len(command) == 1 else command)
        if export is not None:
            workspace.freeze()
            for path in workspace.export(export):
                err.print(harmless(f"left out of {export}: {path}, a link that leads out"), markup=False)
    if as_json:
        print_json(told(result))
    else:
        show(result)
    return exit_code(result)


def _room(tree: Snapshot, memory_mb: int) -> dict[str, int]:
    """Limits that leave a command the usual room beside what the folder holds already."""
    from lydite.sandbox.result import MIB, Limits

    held = -(-sum(len(data) for data in tree.files.values()) // MIB)
    usual = Limits()
    return {
        "disk_mb": usual.disk_mb + held,
        "memory_mb": memory_mb + held,
        "file_mb": usual.file_mb + held,
        "inodes": usual.inodes + len(tree.entries),
    }


@app.command()
def doctor(as_json: _Json = False) -> int:
    """Say which back ends work here, and what each contains. Exit 1 when none can be used by default."""
    from rich.table import Table

    from lydite.cli.console import err, print_json
    from lydite.sandbox import probe
    from lydite.sandbox.choose import NATIVE
    from lydite.sandbox.threats import DIMENSIONS, THREATS, Containment, contained

    found = probe()
    default = next((name for name, available, _ in found if available and name in NATIVE), None)
    if as_json:
        print_json({"default": default, "backends": [_described(row, default) for row in found]})
        return 0 if default else 1
    table = Table("back end", "works here", "contains", "")
    for name, available, reason in found:
        count = f"{len(contained(name))} of {len(DIMENSIONS)}" if name in THREATS else ""
        table.add_row(name, "yes" if available else "no", count, reason + (" (default)" if name == default else ""))
    err.print(table)
    for name, available, _ in found:
        for dimension, threat in THREATS.get(name, {}).items():
            if available and (name == default or threat.contained is not Containment.CONTAINED):
                err.print(f"{name}: {dimension}: {threat.contained}: {threat.reason}", markup=False)
    if default is None:
        err.print("no back end can be used by default: docs/sandbox.md, Troubleshooting", markup=False)
    return 0 if default else 1


def _described(row: tuple[str, bool, str], default: str | None) -> dict[str, Any]:
    from lydite.sandbox.threats import THREATS, contained

    name, available, reason = row
    known = name in THREATS
    return {
        "name": name,
        "available": available,
        "reason": reason,
        "default": name == default,
        "contains": contained(name) if known else [],
        "threats": THREATS[name] if known else {},
    }


@app.command()
def bench(
    seconds: Annotated[float, typer.Option(metavar="S", help="Seconds of measuring, all back ends together.")] = 30.0,
    backend: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this back end (repeatable; default: all that work).")
    ] = None,
    as_json: _Json = False,
) -> int:
    """Jobs per second of each back end that works here, as a ratio to a bare `python -c`, in one interleaved run."""
    from rich.table import Table

    from lydite.cli.console import err, print_json
    from lydite.sandbox import probe
    from lydite.sandbox.bench import measure

    if not 1 <= seconds <= 600:
        raise InputError(f"{seconds} is not between 1 and 600", field="--seconds", remedy="30 is usual")
    names = backend or [row.name for row in probe() if row.available]
    speeds = measure(names, seconds=seconds, say=lambda text: err.print(text, markup=False))
    if as_json:
        print_json({"speeds": speeds})
        return 0
    table = Table("", "jobs/s", "to bare", "p50 ms", "to bare")
    for speed in speeds:
        table.add_row(speed.name, *_cells(speed))
    err.print(table)
    return 0


def _cells(speed: Speed) -> list[str]:
    if speed.failed is not None:
        return ["", "", "", speed.failed]
    return [
        f"{speed.jobs_per_s:,.0f}",
        f"{speed.jobs_ratio:.2f}×",
        f"{speed.p50_ms:.2f}",
        f"{speed.p50_ratio:.2f}×",
    ]


def _sandbox(backend: str, packages: list[str] | None, **limits: Any) -> Sandbox:
    from lydite.sandbox import Sandbox
    from lydite.sandbox.result import Limits

    Limits(**limits)  # before anything starts
    return Sandbox(backend=backend, workers=1, packages=tuple(packages or ()), **limits)


def _program(path: Path) -> str:
    """Python source, in the encoding that it declares (PEP 263)."""
    data = _bytes(str(path), "FILE.py")
    lines = iter(data.splitlines(keepends=True))
    try:
        encoding, _ = tokenize.detect_encoding(lambda: next(lines, b""))
        return data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise InputError(f"is no Python source: {error}", path=path, remedy="save it as UTF-8") from None


def _bytes(source: str, field: str) -> bytes:
    """A file, a pipe or standard input, up to the limit."""
    import sys

    try:
        if source == "-":
            data = sys.stdin.buffer.read(MAX_INPUT + 1)
        else:
            with open(source, "rb") as file:
                data = file.read(MAX_INPUT + 1)
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read: {told}", path=source, field=field, remedy="give a file that can") from None
    if len(data) > MAX_INPUT:
        raise InputError(f"is larger than {MAX_INPUT >> 20} MiB", path=source, field=field, remedy="give less")
    return data


def _vacant(export: Path | None) -> None:
    """Refuse a folder that holds something: an export never overwrites."""
    if export is None:
        return
    try:
        held = export.exists() and (not export.is_dir() or any(export.iterdir()))
    except OSError as error:
        raise InputError(f"cannot be used: {error.strerror}", path=export, field="--export") from None
    if held:
        raise InputError("exists already", path=export, field="--export", remedy="name a new folder")

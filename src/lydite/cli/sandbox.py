"""``lydite sandbox``: run programs that nobody vouches for, and say what the sandbox can do on this machine."""

from __future__ import annotations

import tokenize
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lydite.errors import InputError, LyditeError, UnavailableError

if TYPE_CHECKING:
    from lydite.sandbox import ExecResult, Limits, Sandbox, Workspace
    from lydite.sandbox.bench import Speed

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Run untrusted programs, isolated and within limits."
)

MAX_INPUT = 64 << 20
"""Bytes of a program, and of its standard input, that are read."""

_Timeout = typer.Option(metavar="S", help="Seconds of wall clock.")
_Memory = Annotated[int, typer.Option("--memory-mb", metavar="N", help="MiB of the whole job.")]
_Disk = Annotated[int, typer.Option("--disk-mb", metavar="N", help="MiB of all files that it writes.")]
_Processes = Annotated[int, typer.Option("--processes", metavar="N", help="Processes and threads at one time.")]
_Network = Annotated[str, typer.Option(metavar="NAME", help="none, or loopback: one of its own, leading nowhere.")]
_Python = Annotated[
    str | None,
    typer.Option(metavar="PATH", help="Interpreter in the sandbox, 3.11 or newer.", show_default="the one below ours"),
]
_Stdin = Annotated[str | None, typer.Option(metavar="FILE", help="Its standard input; - is ours.")]
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
    stdin: _Stdin = None,
    timeout: Annotated[float, _Timeout] = 5.0,
    memory_mb: _Memory = 512,
    disk_mb: _Disk = 64,
    processes: _Processes = 64,
    network: _Network = "none",
    python: _Python = None,
    package: _Packages = None,
    backend: _Backend = "auto",
    as_json: _Json = False,
) -> int:
    """Run a Python program in a sandbox.

    Exit code: 0, it ended well; 1, it did not (the line on standard error, or status in the JSON, says why); 2,
    unusable input; 3, the sandbox itself failed and nothing is known of the program: give the command again.
    """
    from lydite.sandbox import Limits

    if str(file) == stdin == "-":
        raise InputError("standard input is the program already", field="--stdin", remedy="give one of them as a file")
    code = _program(file)
    given = b"" if stdin is None else _bytes(stdin, "--stdin")
    limits = Limits(timeout=timeout, memory_mb=memory_mb, disk_mb=disk_mb, processes=processes)
    with _sandbox(limits, backend=backend, packages=package, network=network, python=python) as sandbox:
        result = sandbox.run(code=code, stdin=given)
    return _told(result, as_json, packages=package, python=python)


@app.command("exec")
def execute(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The workspace.", show_default=False)],
    command: Annotated[
        list[str], typer.Argument(metavar="-- COMMAND…", help="A shell line, or a program and its arguments.")
    ],
    export: Annotated[
        Path | None, typer.Option(metavar="NEW", help="Write the folder as the command left it to a new folder.")
    ] = None,
    stdin: _Stdin = None,
    timeout: Annotated[float, _Timeout] = 60.0,
    memory_mb: _Memory = 512,
    disk_mb: _Disk = 64,
    processes: _Processes = 64,
    network: _Network = "none",
    python: _Python = None,
    package: _Packages = None,
    backend: _Backend = "auto",
    as_json: _Json = False,
) -> int:
    """Run a command in a private copy of a folder of at most 512 MiB. The folder itself is never changed; --export
    keeps the result.

    One word after -- is a line for the shell ('make test | tail'); several are a program and its arguments, without a
    shell in between. What the folder holds is added to --disk-mb, and three times that to --memory-mb. Exit codes as
    of `run`.
    """
    from lydite.cli import sandbox_folder
    from lydite.cli.console import err
    from lydite.sandbox import Limits

    if not command[0].strip():
        raise InputError("there is no command", field="COMMAND", remedy="give a line for the shell after --")
    limits = Limits(timeout=timeout, memory_mb=memory_mb, disk_mb=disk_mb, processes=processes)
    given = b"" if stdin is None else _bytes(stdin, "--stdin")
    tree = sandbox_folder.read(folder)
    if tree.skipped:
        err.print(f"left out of the copy: {tree.skipped} that are no files, or cannot be read", markup=False)
    limits = sandbox_folder.room(tree, limits, export is not None)
    with (
        sandbox_folder.target(export),
        _sandbox(limits, backend=backend, packages=package, network=network, python=python) as sandbox,
    ):
        try:
            workspace = sandbox.session(tree)
        except OSError as error:
            raise InputError(f"cannot be copied into the sandbox: {error.strerror}", path=folder) from None
        result = workspace.exec(command[0] if len(command) == 1 else command, stdin=given)
        failed = None if export is None else _exported(workspace, export)
        code = _told(result, as_json, packages=package, python=python)
        if failed is not None:  # what the command said was told all the same
            if code == 3:
                err.print(str(failed), markup=False)
                return code
            raise failed
    return code


def _exported(workspace: Workspace, export: Path) -> LyditeError | None:
    """Write the tree. Returns what was in the way of it."""
    from lydite.cli.console import err
    from lydite.cli.sandbox_folder import unwritable
    from lydite.cli.sandbox_output import harmless

    try:
        workspace.freeze()
        for path in workspace.export(export):
            err.print(harmless(f"left out of {export}: {path}, a link that leads out"), markup=False)
    except UnavailableError as error:
        return UnavailableError(f"{export}: --export: nothing was written: {error}")
    except LyditeError as error:
        return error
    except OSError as error:
        return unwritable(export, error)
    return None


def _told(result: ExecResult, as_json: bool, *, packages: list[str] | None, python: str | None) -> int:
    """Tell the result; returns the exit code."""
    from lydite.cli import sandbox_output
    from lydite.cli.console import print_json

    if as_json:
        print_json(sandbox_output.as_json(result))
    else:
        sandbox_output.show(result, "" if python else sandbox_output.hint(result, packages or ()))
    return sandbox_output.exit_code(result)


@app.command()
def doctor(as_json: _Json = False) -> int:
    """Say which back ends work here, and what each contains. Exit 1 when none can be used by default."""
    from lydite.cli import sandbox_doctor
    from lydite.cli.console import err, print_json
    from lydite.sandbox import probe

    found = probe()
    if as_json:
        print_json(sandbox_doctor.as_json(found))
    else:
        err.print(sandbox_doctor.table(found))
        for line in sandbox_doctor.sentences(found, err.width):
            err.print(line, markup=False)
    return 0 if sandbox_doctor.default_of(found) else 1


@app.command()
def bench(
    seconds: Annotated[
        float, typer.Option(metavar="S", help="Seconds of measuring, all together; starting does not count.")
    ] = 30.0,
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
    table = Table("", "jobs/s", "jobs/s to bare", "p50 ms", "p50 to bare")
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


def _sandbox(limits: Limits, *, backend: str, packages: list[str] | None, network: str, python: str | None) -> Sandbox:
    import msgspec

    from lydite.sandbox import Sandbox

    if network not in ("none", "loopback"):
        raise InputError(f"{network!r} is no network", field="--network", remedy="give none or loopback")
    return Sandbox(
        backend=backend,
        workers=1,
        packages=tuple(packages or ()),
        network="loopback" if network == "loopback" else "none",
        python=python,
        **msgspec.structs.asdict(limits),
    )


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

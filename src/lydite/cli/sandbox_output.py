"""What `lydite sandbox` says of a program that ran: to a person, or as one JSON document."""

from __future__ import annotations

import base64
import re
import signal
import sys
from collections.abc import Collection
from typing import IO, Any

from lydite.errors import InputError
from lydite.sandbox.result import ExecResult, Status

EXIT_CODES = {Status.OK: 0, Status.INVALID: 3}
"""By status. The rest: 1, the program did not end well."""

_OPTIONS = {
    "timeout": "--timeout",
    "memory_mb": "--memory-mb",
    "disk_mb": "--disk-mb",
    "processes": "--processes",
}
_MISSING = re.compile(rb"^ModuleNotFoundError: No module named '([A-Za-z_][A-Za-z0-9_]*)[.A-Za-z0-9_]*'", re.MULTILINE)


def exit_code(result: ExecResult) -> int:
    """0: it ended well; 1: it did not; 3: our fault, nothing is known of the program, the same command may be given
    again."""
    return EXIT_CODES.get(result.status, 1)


def as_json(result: ExecResult) -> dict[str, Any]:
    """Output that is not UTF-8 is shown with replacement characters, and its bytes stand beside it in base64."""
    told: dict[str, Any] = {
        "status": result.status,
        "exit_code": result.exit_code,
        "stdout": result.stdout.decode(errors="replace"),
        "stderr": result.stderr.decode(errors="replace"),
        "wall_s": round(result.wall_s, 6),
        "cpu_s": round(result.cpu_s, 6),
        "backend": result.backend,
        "limit": result.limit,
        "detail": result.detail,
    }
    for name in ("stdout", "stderr"):
        data = getattr(result, name)
        if told[name].encode() != data:
            told[f"{name}_base64"] = base64.b64encode(data).decode()
    return told


def show(result: ExecResult, hint: str = "") -> None:
    """Its output to our output, its error output and one line about its end to our error output."""
    pour(result.stdout, sys.stdout)
    pour(result.stderr, sys.stderr)
    print(sentence(result, hint), file=sys.stderr)


def hint(result: ExecResult, packages: Collection[str] = ()) -> str:
    """What to add to the command, for a program that lacked a package that it could be given."""
    missing = _MISSING.findall(result.stderr)
    if result.status is not Status.ERROR or not missing:
        return ""
    from lydite.sandbox.distributions import closure, distributions_of

    module = missing[-1].decode()
    try:
        names = distributions_of([module])
        closure(names)  # it could really be shown
    except InputError:
        return ""
    return "" if not names or set(names) & set(packages) else f"--package {names[0]} makes {module} importable"


def pour(data: bytes, stream: IO[str]) -> None:
    """The bytes as they are; where a person sits behind a terminal, with control characters shown instead of obeyed.

    A program that was written by a model may not set the title, move the cursor over what was printed before it, or
    write to the clipboard of whoever looks at it.
    """
    if not stream.isatty():
        stream.flush()
        stream.buffer.write(data)  # type: ignore[attr-defined]
        stream.flush()
    elif data:
        text = harmless(data.decode(errors="backslashreplace"))
        stream.write(text if text.endswith("\n") else f"{text}\n")
        stream.flush()


def harmless(text: str) -> str:
    """Text with control and formatting characters written out, but for line ends and tabs."""
    text = text.replace("\r\n", "\n")
    return "".join(char if char.isprintable() or char in "\n\t" else repr(char)[1:-1] for char in text)


def sentence(result: ExecResult, hint: str = "") -> str:
    """One line about how a program ended, with what may be done about it."""
    return harmless(
        f"{result.status}{_why(result, hint)} [{result.wall_s:.3f} s, {result.cpu_s:.3f} s of processor time, "
        f"{result.backend}]"
    ).replace("\n", " ")


def _why(result: ExecResult, hint: str) -> str:
    said = ""
    if result.status is Status.INVALID:
        said = "the sandbox failed, not the program; give the command again"
    elif result.limit is not None:
        option = _OPTIONS.get(result.limit)
        said = f"over its limit ({result.limit})" + (f"; {option} allows more" if option else "")
    elif result.exit_code is not None and result.exit_code < 0:
        said = f"ended by {_name(-result.exit_code)}"
    elif result.exit_code:
        said = f"exit code {result.exit_code}"
    parts = [part for part in (said, result.detail, hint) if part]
    return f": {'; '.join(parts)}" if parts else ""


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

"""The program itself, in a process for which everything has been done: nothing here is a boundary any more.

What is made here is made before the fork where it can be: a page that a job's process writes to is a page copied.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _thread
import atexit
import builtins
import contextlib
import gc
import os
import signal
import sys
import threading
import types
from typing import Any, NoReturn

from . import wire

NAME = "main.py"
MAIN = types.ModuleType("__main__")


class _Source:
    """Gives the program to whoever asks for the source of ``__main__`` (inspect, linecache): there is no file."""

    text = ""

    def get_source(self, name: str) -> str:
        del name
        return self.text


SOURCE = _Source()


def prepare(folder: str) -> None:
    """Called in the zygote: ``__main__``, ``sys.argv`` and ``sys.path`` as every program finds them."""
    MAIN.__builtins__ = builtins  # type: ignore[attr-defined]
    MAIN.__file__ = NAME
    MAIN.__loader__ = SOURCE  # type: ignore[assignment]
    sys.modules["__main__"] = MAIN
    sys.argv = [NAME]
    sys.path.insert(0, folder)
    for name in [name for name in sys.modules if name.partition(".")[0] == __package__]:
        del sys.modules[name]  # no job needs us
    atexit._clear()  # what libraries registered while they were imported concerns a process that goes on


def start(kind: int, env: dict[str, str], program: Any) -> NoReturn:
    """Become the program: a command, or Python source."""
    _signal.signal(signal.SIGINT, _signal.default_int_handler)
    if kind == wire.ARGV:
        execute(program, env)
    if env:
        os.environ.update(env)
    run(program)


def execute(argv: list[str], env: dict[str, str]) -> NoReturn:
    """Become the command. 127: not found, 126: not executable, as shells have it."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them; a command expects the ordinary meaning
        _signal.signal(number, _signal.SIG_DFL)
    _signal.signal(signal.SIGINT, _signal.SIG_DFL)
    try:
        os.execvpe(argv[0], argv, {**os.environ, **env})  # noqa: S606
    except FileNotFoundError:
        code, reason = 127, "not found"
    except (OSError, ValueError) as error:
        code, reason = 126, str(error)
    with contextlib.suppress(OSError):
        os.write(2, f"{argv[0]}: {reason}\n".encode(errors="replace"))
    os._exit(code)


def new_stdio() -> None:
    """Text streams over the three standard descriptors, with the encoding that a UTF-8 locale gives them."""
    options: dict[str, Any] = {"encoding": "utf-8", "closefd": False}
    for name, fd, mode, buffering, errors in (
        ("stdin", 0, "r", -1, "surrogateescape"),
        ("stdout", 1, "w", -1, "surrogateescape"),
        ("stderr", 2, "w", 1, "backslashreplace"),
    ):
        stream = open(fd, mode, buffering, errors=errors, **options)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def run(source: str, code: types.CodeType | None = None) -> NoReturn:
    """Run Python source (``code``: compiled already) as ``__main__`` and leave as the interpreter would.

    The process is single-use, so nothing is torn down that only matters to an interpreter that goes on.
    """
    gc.enable()
    SOURCE.text = source
    if "random" in source:
        _reseed()
    leave = 0
    try:  # running the candidate's source is what this process, inside of the sandbox, was made for
        exec(code or compile(source, NAME, "exec", dont_inherit=True), MAIN.__dict__)  # noqa: S102
    except SystemExit as leaving:
        leave = _exit_code(leaving.code)
    except BaseException:
        leave = 1
        _traceback(source)
    _leave(leave)


def _exit_code(value: object) -> int:
    if value is None:
        return 0
    if isinstance(value, int):
        return value & 0xFF
    with contextlib.suppress(BaseException):
        print(value, file=sys.stderr)
    return 1


def _traceback(source: str) -> None:
    import linecache
    import traceback

    with contextlib.suppress(BaseException):
        linecache.cache[NAME] = (len(source), None, source.splitlines(True), NAME)
        kind, value, trace = sys.exc_info()
        traceback.print_exception(kind, value, trace.tb_next if trace else None)


def _leave(code: int) -> NoReturn:
    if _thread._count():
        with contextlib.suppress(BaseException):
            threading._shutdown()  # type: ignore[attr-defined]  # waits for the program's threads
    if atexit._ncallbacks():
        with contextlib.suppress(BaseException):
            atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except BaseException:
        code = code or 120
    try:
        sys.stderr.flush()
    except BaseException:
        code = code or 120
    os._exit(code)


def _reseed() -> None:
    """Generators were cloned with the zygote."""
    if "random" in sys.modules:
        sys.modules["random"].seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()

"""Run the grader's script on a state.

Covered: the interpreter was started, and loaded what it needs, before there was a state, so no file of the candidate's
(``sitecustomize.py``, ``json.py``, a ``.pth``) is ever imported by it; the workspace is not on ``sys.path`` unless the
script puts it there. The script prints to a file of its own: what the programs print that it starts goes nowhere, and
they can reach neither its output nor its memory. It counts only when it came to its own end: a module of the
candidate's that the script imports and that leaves (``os._exit(0)``, ``sys.exit(0)``) ends in ``ended_early``.

Not covered: a script that imports the candidate's modules shares a process with them, and they can do to it what they
like by searching it. Run them as programs, and look at what they write.

One record on the channel: the script's secret, then JSON of ``code``, ``last`` (line of its output), ``error``.
"""

from __future__ import annotations

import json
import os
import random
import sys
import types
from typing import Any, NoReturn

from .tree import close_to_others, lay_out, received

NAME_OF_SCRIPT = "<script>"
_TAIL = 4096
_exit, _write, _dumps, _STDLIB = os._exit, os.write, json.dumps, os.path.dirname(os.__file__) + os.sep


def run_script() -> NoReturn:
    """Run the script of standard input and say how it ended."""
    channel = os.dup(1)
    entries, source, secret, seed = received()
    random.seed(seed)
    os.dup2(0, 1)  # to nowhere
    lay_out(entries)
    close_to_others()
    output = os.memfd_create("output")
    stream = open(output, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    vars(sys).update(stdout=stream, __stdout__=stream)
    del sys.path[0]  # the workspace
    sys.dont_write_bytecode = True
    sys.argv = ["script.py"]
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    del sys.modules[__name__]
    code, error = _run(source, main.__dict__)
    stream.flush()
    size = os.lseek(output, 0, os.SEEK_END)
    tail = os.pread(output, _TAIL, max(0, size - _TAIL)).decode("utf-8", "replace")
    last = tail.rstrip().rpartition("\n")[2].strip()
    _write(channel, secret + _dumps({"code": code, "last": last, "error": error}).encode())
    _exit(0)


def _run(source: str, names: dict[str, Any]) -> tuple[int, str]:
    """Exit code and, where it is not 0, what was raised; -1 where somebody else than the script ended it."""
    try:
        exec(compile(source, NAME_OF_SCRIPT, "exec", dont_inherit=True), names)  # noqa: S102  (the grader's)
        return 0, ""
    except SystemExit as leaving:
        value = leaving.code
        if not _of_script(leaving.__traceback__):
            return -1, "a module that the script imports left"
        if value is None or value == 0:
            return 0, ""
        return (value & 0xFF, "") if isinstance(value, int) else (1, str(value)[:300])
    except BaseException as error:
        try:
            return 1, f"{type(error).__name__}: {error}"[:300]
        except BaseException:
            return 1, "an exception that cannot be told"


def _of_script(trace: types.TracebackType | None) -> bool:
    """Whether only the script and the standard library took part."""
    trace = trace.tb_next if trace else None  # ours
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file != NAME_OF_SCRIPT and not file.startswith((_STDLIB, "<frozen ")):
            return False
        trace = trace.tb_next
    return True

"""Run the grader's script on a state.

Covered: the interpreter was started, and loaded what it needs, before there was a state, so no file of the candidate's
(``sitecustomize.py``, ``json.py``, a ``.pth``) is ever imported by it; the workspace is not on ``sys.path`` unless the
script puts it there. The script prints to a file of its own: what the programs print that it starts goes nowhere, and
they can reach neither its output nor its memory. It counts only when it came to its own end: a module of the
candidate's that the script imports and that leaves (``os._exit(0)``, ``sys.exit(0)``) ends in ``ended_early``.

A script that imports the candidate's modules shares a process with them. Covered: its comparisons are looked at twice
(``guard.py``), nobody looks into its frames (``frames.py``), or into memory by ``gc`` and ``ctypes``; what the record
is written with is held by a function that shows nothing, and classes of ours are emptied. Any of these found:
``tampered``. Not covered: what the modules do to the standard library and to built-ins that the script uses. Run them
as programs, and look at what they write.

One record on the channel: the script's secret, then JSON of ``code``, ``last`` (line of its output), ``error``,
``tampered`` (words, or nothing).
"""

from __future__ import annotations

import ast
import json
import os
import random
import sys
import types
import warnings
from typing import Any, NoReturn

from .comparing import guarded, planted
from .frames import codes_of, hollow, learn, sealed, watch_frames
from .guard import Guard, guard_unittest
from .tree import close_to_others, lay_out, received

NAME_OF_SCRIPT = "<script>"
_TAIL = 4096
_SEARCHING = frozenset({"gc.get_objects", "gc.get_referrers", "gc.get_referents"})
_exit, _write, _dumps, _STDLIB = os._exit, os.write, json.dumps, os.path.dirname(os.__file__) + os.sep


def run_script() -> NoReturn:
    """Run the script of standard input and say how it ended."""
    channel = os.dup(1)
    entries, source, secret, seed, compare = received()
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
    found: list[str] = []
    tree = ast.parse(source)
    named = _names(tree)
    guarded(tree, compare)
    graders: dict[int, types.CodeType] = {}
    guard = Guard(found.append, graders, [main.__dict__], named)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # constants are called
        program = compile(ast.fix_missing_locations(tree), NAME_OF_SCRIPT, "exec", dont_inherit=True)
    program = planted(program, {compare: sealed(guard.compare)})
    graders.update((id(one), one) for one in codes_of(program))
    if "lydite_tests" in sys.modules:
        hollow(vars(sys.modules.pop("lydite_tests")))
    guard_unittest()(guard)
    hollow(globals(), guard)

    def audit(event: str, _: Any) -> None:
        if event in _SEARCHING and event[3:] not in named:
            found.append(f"{event} was called")
            raise RuntimeError(f"{event} is not for modules of the workspace")

    sys.addaudithook(audit)
    watch_frames(found.append, graders, [main.__dict__], named, run_script.__code__)
    code, error = _run(program, main.__dict__)
    stream.flush()
    size = os.lseek(output, 0, os.SEEK_END)
    tail = os.pread(output, _TAIL, max(0, size - _TAIL)).decode("utf-8", "replace")
    last = tail.rstrip().rpartition("\n")[2].strip()
    _write(channel, secret + _dumps({"code": code, "last": last, "error": error, "tampered": found[:1]}).encode())
    _exit(0)


def _names(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.alias):
            found |= {node.name.partition(".")[0], node.name, node.asname or ""}
    return found


def _run(program: types.CodeType, names: dict[str, Any]) -> tuple[int, str]:
    """Exit code and, where it is not 0, what was raised; -1 where somebody else than the script ended it."""
    try:
        exec(program, names)  # noqa: S102  (the grader's)
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


learn()

"""Program texts for the sandbox: our own modules, compiled here once, around what is to be run."""

from __future__ import annotations

import marshal
from functools import lru_cache
from pathlib import Path

_BOOT = """import sys, types, marshal
def _module(name, blob, path=None):
    module = types.ModuleType(name)
    module.__package__ = "grading"
    if path is not None:
        module.__path__ = path
    sys.modules[name] = module
    exec(marshal.loads(blob), module.__dict__)
    return module
_module("grading", {empty!r}, [])
_module("grading.values", {values!r})
_module("grading.{name}", {main!r}).main"""


def candidate_program(source: str, preamble: str = "", entry: str | None = None) -> str:
    """A program that loads the candidate's source and makes the calls of its standard input."""
    return f"{_boot('candidate')}({source!r}, {preamble!r}, {entry!r})\n"


@lru_cache(maxsize=8)
def _boot(name: str) -> str:
    # Compiled ahead: the sandbox's interpreter is of this version, and compiling these modules anew for each job
    # would take longer than the job.
    empty = marshal.dumps(compile("", "", "exec"))
    return _BOOT.format(empty=empty, values=_code("values"), name=name, main=_code(name))


def _code(name: str) -> bytes:
    source = (Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8")
    return marshal.dumps(compile(source, f"grading/{name}.py", "exec", dont_inherit=True))

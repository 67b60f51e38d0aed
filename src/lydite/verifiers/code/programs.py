"""Program texts for the sandbox: our own modules, compiled here once, around what is to be run."""

from __future__ import annotations

import marshal
from functools import lru_cache
from pathlib import Path

_BOOT = """import marshal, sys, types
def _module(name, blob, path=None):
    module = types.ModuleType(name)
    module.__package__ = "grading"
    if path is not None:
        module.__path__ = path
    sys.modules[name] = module
    if blob:
        exec(marshal.loads(bytes.fromhex(blob)), module.__dict__)
    return module
_module("grading", "", [])
"""


def candidate_program(source: str, preamble: bytes = b"", entry: str | None = None) -> str:
    """A program that loads the candidate's source and makes the calls of its standard input."""
    return f"{_boot('candidate')}({source!r}, {preamble!r}, {entry!r})\n"


@lru_cache(maxsize=1)
def tester_program() -> str:
    """A program that runs the test of its standard input."""
    return f"{_boot('candidate', 'tester')}()\n"


@lru_cache(maxsize=8)
def _boot(*names: str) -> str:
    # Compiled ahead, without docstrings: the sandbox's interpreter is of this version, and compiling these modules
    # anew for each job would take longer than the job.
    modules = [f'_module("grading.{name}", "{_code(name)}")' for name in ("values", *names)]
    return _BOOT + "\n".join(modules) + ".main"


def _code(name: str) -> str:
    source = (Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8")
    code = compile(source, f"grading/{name}.py", "exec", dont_inherit=True, optimize=2)
    return marshal.dumps(code).hex()

"""Program texts for the sandbox, and the modules of ours that its interpreters have loaded before a job comes."""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

_STATES = ("tree", "frames", "guard", "comparing", "scripts")
_TESTS = ("tree", "frames", "guard", "comparing", "integrity", "rewriting", "standins", "tests")

COMMAND = "import lydite_states; lydite_states.run_command()\n"
"""A program that becomes a line for the shell."""
SCRIPT = "import lydite_states; lydite_states.run_script()\n"
"""A program that runs the grader's script."""
TESTS = "import lydite_tests; lydite_tests.run_tests()\n"
"""A program that collects or runs a file of tests."""


@lru_cache(maxsize=2)
def modules(with_pytest: bool) -> dict[str, str]:
    """Name to source of what the programs need."""
    found = {"lydite_states": _joined(_STATES)}
    return {**found, "lydite_tests": _joined(_TESTS)} if with_pytest else found


def _joined(parts: tuple[str, ...]) -> str:
    """Several modules as one, in which their imports of each other are left out."""
    body: list[ast.stmt] = []
    for name in parts:
        source = (Path(__file__).parent / "inside" / f"{name}.py").read_text(encoding="utf-8")
        body += (node for node in ast.parse(source).body if not _left_out(node))
    future = ast.ImportFrom("__future__", [ast.alias("annotations")], 0)
    return ast.unparse(ast.fix_missing_locations(ast.Module([future, *body], [])))


def _left_out(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and bool(node.level or node.module == "__future__")

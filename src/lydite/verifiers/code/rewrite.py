"""The source of a test, made ready for its process: compiled here once, since it is the author's and the same for all
candidates. Nothing of it is run here."""

from __future__ import annotations

import ast
import marshal
from functools import lru_cache

_ASSERT = """
try:
    _the_hole.asserting += 1
    if not 0:
        _the_proxy.failed()
except Exception:
    if not _the_proxy.guessing:
        raise
finally:
    _the_hole.asserting -= 1
"""


class _Asserts(ast.NodeTransformer):
    """``assert X, Y`` becomes a test that is let pass, whatever happens in it, while answers are guessed."""

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        made = ast.parse(_ASSERT).body[0]
        check = made.body[1]  # type: ignore[attr-defined]
        check.test.operand = node.test
        if node.msg is not None:
            check.body[0].value.args.append(node.msg)
        return ast.copy_location(made, node)


@lru_cache(maxsize=4096)
def compiled_test(source: str) -> bytes:
    """The code of a test, for the interpreter of this version.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: it is no Python source.
    """
    tree = ast.fix_missing_locations(_Asserts().visit(ast.parse(source, "test.py")))
    return marshal.dumps(compile(tree, "test.py", "exec", dont_inherit=True))


@lru_cache(maxsize=4096)
def compiled_prompt(source: str) -> bytes:
    """The code of a prompt's Python; empty where it is none."""
    try:
        return marshal.dumps(compile(source, "prompt.py", "exec", dont_inherit=True)) if source else b""
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return b""

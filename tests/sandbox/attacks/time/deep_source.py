"""Break the runner by very deep nesting and recursion: parser, compiler, the C stack.

Shows: an exception of the harness, or a result that is not the program's fault.
"""

import sys
from contextlib import suppress

for text in ("(" * 90 + ")" * 90, "-" * 100_000 + "1", "[" * 5000 + "]" * 5000, "x=" * 50_000 + "1"):
    with suppress(SyntaxError, MemoryError, RecursionError, NameError):
        eval(text)
sys.setrecursionlimit(10**6)

deep = []
for _ in range(300_000):
    deep = [deep]
print(len(repr(deep)))

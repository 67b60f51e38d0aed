"""Change the interpreter itself: modules, built-in names, types in C, hooks, interned values.

Shows: honest jobs go wrong.
"""

import builtins
import ctypes
import gc
import json
import os
import sys

builtins.print, builtins.sum = (lambda *a, **k: None), (lambda *a: 666)
json.dumps = os.listdir = lambda *a, **k: "666"
sys.path[:] = ["/tmp"]
os.environ["LYDITE_ATTACK"] = "1"
os.putenv("LYDITE_ATTACK", "1")
gc.set_threshold(1, 1, 1)
sys.setrecursionlimit(50)
# the small number 3 becomes 4, in the interpreter's own table of them
offset = int.__basicsize__ if sys.version_info < (3, 12) else 24
ctypes.c_uint32.from_address(id(3) + offset).value = 4
os._exit(0)

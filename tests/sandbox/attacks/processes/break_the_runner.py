"""Pull away what the runner needs to end the job: modules, built-in names, os._exit, the output objects.

Shows: a result that is not the program's fault, or an exception of the harness.
Variants: exit modules builtins output codecs import gc exception
"""

import builtins
import gc
import os
import sys

kind = "@VARIANT@"
if kind == "exit":
    os._exit = sys.exit = os.abort = os.kill = lambda *arguments: None
elif kind == "modules":
    sys.modules.clear()
elif kind == "builtins":
    for name in list(vars(builtins)):
        if name not in ("list", "vars", "delattr"):
            delattr(builtins, name)
elif kind == "output":
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = None
elif kind == "codecs":
    import codecs

    codecs.lookup = codecs.encode = codecs.decode = None
elif kind == "import":
    builtins.__import__ = None
    sys.path_hooks = sys.meta_path = None
elif kind == "gc":
    for thing in gc.get_objects():
        if isinstance(thing, dict) and "__name__" in thing and thing is not globals():
            thing.clear()
else:
    sys.excepthook = sys.unraisablehook = lambda *arguments: os._exit(125)
    raise type("Odd", (BaseException,), {"__str__": lambda self: os._exit(137), "__module__": 5})

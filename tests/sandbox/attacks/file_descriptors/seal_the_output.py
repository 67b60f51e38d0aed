"""Seal standard output and error, and take their modes away: whoever uses them again cannot write.

Shows: an exception of the harness, or honest jobs that go wrong.
"""

import fcntl
import os
from contextlib import suppress

for descriptor in range(16):
    with suppress(OSError):
        os.fchmod(descriptor, 0)
    for seals in (0x2 | 0x4 | 0x8, 0x1):  # shrink, grow, write; then the seals themselves
        with suppress(OSError):
            fcntl.fcntl(descriptor, 1033, seals)
    with suppress(OSError):
        fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_NONBLOCK | os.O_APPEND)
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with suppress(OSError):
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)

"""Handle page faults in user space, by which kernel code can be halted at will.

Shows: PWNED on stdout.
"""

import os
from contextlib import suppress

from kit import pwned, syscall, told

for flags in (0, 1):  # 1: faults of user mode only, which needs no rights
    made = syscall("userfaultfd", flags)
    print(told(made))
    if made >= 0:
        pwned(flags)
with suppress(OSError):
    os.close(os.open("/dev/userfaultfd", os.O_RDWR))
    pwned("/dev/userfaultfd")

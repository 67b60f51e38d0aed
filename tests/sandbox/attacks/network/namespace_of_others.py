"""Enter the network namespace of the machine, by /proc, by a process handle, by the folders where named ones are kept.

Shows: PWNED on stdout.
"""

import glob
import os
from contextlib import suppress

from kit import nearby, pwned, syscall

NEWNET = 0x40000000
for path in [*glob.glob("/proc/[0-9]*/ns/net"), *glob.glob("/run/netns/*"), *glob.glob("/var/run/netns/*")]:
    with suppress(OSError):
        if syscall("setns", os.open(path, os.O_RDONLY), NEWNET) >= 0:
            pwned(path)
for number in [*nearby(), os.getppid(), 1]:
    handle = syscall("pidfd_open", number, 0) if number else -1
    if handle >= 0:
        if syscall("setns", handle, NEWNET) >= 0:
            pwned(number)
        os.close(handle)
if syscall("unshare", NEWNET) >= 0:
    pwned("a network namespace of our own")

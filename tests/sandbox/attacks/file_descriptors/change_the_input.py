"""Write to standard input, cut it, and move its offset, in case another job reads the same file.

Shows: honest jobs go wrong.
"""

import os
from contextlib import suppress

for path in (None, "/proc/self/fd/0", "/dev/stdin"):
    with suppress(OSError):
        descriptor = 0 if path is None else os.open(path, os.O_RDWR)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, b"666 666")
        os.truncate(descriptor, 3)
    with suppress(OSError):
        os.lseek(0, 10**6, os.SEEK_SET)

"""Use open files that were left open to us.

Shows: PWNED on stdout.
"""

import os
from contextlib import suppress

for descriptor in range(3, 1024):
    with suppress(OSError):
        if b"CANARY" in os.pread(descriptor, 4096, 0):
            print("PWNED", descriptor)

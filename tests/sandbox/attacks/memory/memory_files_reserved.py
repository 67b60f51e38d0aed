"""Reserve 1 GB in memory files with fallocate, without writing a byte.

Shows: PWNED on stdout.
"""

import os
import time
from contextlib import suppress

from kit import pwned

files = []
held = 0
with suppress(OSError):
    for number in range(64):
        files.append(os.memfd_create(f"file{number}"))
        os.posix_fallocate(files[-1], 0, 32 << 20)
        held += 32 << 20
print(held >> 20, "MB")
if held >= 1 << 30:
    time.sleep(0.3)
    pwned()

"""Keep 1 GB in files that exist in memory only: memfd_create, plain, with huge pages, secret.

Shows: PWNED on stdout.
"""

import os
import time
from contextlib import suppress

from kit import pwned, syscall, told

print("secret:", told(syscall("memfd_secret", 0)))
files = []
held = 0
with suppress(OSError):
    for number in range(100):
        files.append(os.memfd_create(f"file{number}"))
        for _ in range(2):
            held += os.write(files[-1], bytes(8 << 20))
print(held >> 20, "MB")
if held >= 1 << 30:
    time.sleep(0.3)
    pwned()

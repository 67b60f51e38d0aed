"""Reserve 300 MB with fallocate, without writing.

Shows: PWNED on stdout.
"""

import os
import tempfile
from contextlib import suppress

reserved = 0
for place in {".", "/tmp", "/var/tmp", "/dev/shm", tempfile.gettempdir()}:
    with suppress(OSError):
        for number in range(8):
            with open(f"{place}/reserved{number}", "wb") as file:
                os.posix_fallocate(file.fileno(), 0, 60 << 20)
                reserved += 60 << 20
print("PWNED" if reserved >= 300 << 20 else "only", reserved >> 20, "MB")

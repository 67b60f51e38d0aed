"""Make 30,000 symbolic links with long targets, 90 MB of them.

Shows: PWNED on stdout.
"""

import os
import tempfile
from contextlib import suppress

made = 0
for place in {".", "/tmp", "/dev/shm", tempfile.gettempdir()}:
    with suppress(OSError):
        for number in range(30_000):
            os.symlink("x" * 3000, f"{place}/link{number}")
            made += 1
    if made >= 30_000:
        break
print("PWNED" if made >= 30_000 else "only", made)

"""Make 30,000 folders (the limit is 8,192).

Shows: PWNED on stdout.
"""

import os
import tempfile
from contextlib import suppress

made = 0
for place in {".", "/tmp", "/dev/shm", tempfile.gettempdir()}:
    with suppress(OSError):
        for number in range(30_000):
            os.mkdir(f"{place}/folder{number}")
            made += 1
    if made >= 30_000:
        break
print("PWNED" if made >= 30_000 else "only", made)

"""Make 30,000 hard links to one file.

Shows: PWNED on stdout.
"""

import os
import tempfile
from contextlib import suppress

made = 0
for place in {".", "/tmp", "/dev/shm", tempfile.gettempdir()}:
    with suppress(OSError):
        open(f"{place}/file", "w").close()
        for number in range(30_000):
            os.link(f"{place}/file", f"{place}/link{number}")
            made += 1
    if made >= 30_000:
        break
print("PWNED" if made >= 30_000 else "only", made)

"""Make 30,000 files (the limit is 8,192).

Shows: PWNED on stdout.
"""

import os
import tempfile
from contextlib import suppress

made = 0
for place in {".", "/tmp", "/dev/shm", tempfile.gettempdir()}:
    with suppress(OSError):
        os.mkdir(f"{place}/files")
        for number in range(30_000):
            os.close(os.open(f"{place}/files/{number}", os.O_CREAT | os.O_WRONLY))
            made += 1
    if made >= 30_000:
        break
print("PWNED" if made >= 30_000 else "only", made)

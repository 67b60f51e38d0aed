"""Write 300 MB of files and leave them, in many small pieces, so that no single file is large.

Shows: PWNED on stdout.
"""

import os
import tempfile
from contextlib import suppress

written = 0
for place in {".", "/tmp", "/dev/shm", tempfile.gettempdir()}:
    with suppress(OSError):
        for number in range(300):
            with open(f"{place}/piece{number}", "wb", buffering=0) as file:
                written += file.write(bytes(1 << 20))
print("PWNED" if written >= 300 << 20 else "only", written >> 20, "MB", flush=True)
os._exit(3)

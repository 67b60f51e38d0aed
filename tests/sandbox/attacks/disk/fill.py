"""Write 300 MB of files in all the places that can be written (the limit is 64 MB).

Shows: PWNED on stdout.
"""

import os
import tempfile
from contextlib import suppress

written = 0
for place in {".", "/tmp", "/var/tmp", "/dev/shm", tempfile.gettempdir()}:
    paths = []
    with suppress(OSError):
        for number in range(20):
            paths.append(f"{place}/fill{number}")
            with open(paths[-1], "wb", buffering=0) as file:
                for _ in range(4):
                    written += file.write(bytes(4 << 20))
    for path in paths:
        with suppress(OSError):
            os.unlink(path)
print("PWNED" if written >= 300 << 20 else "only", written >> 20, "MB")

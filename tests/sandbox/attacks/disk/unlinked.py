"""Keep 300 MB in files that no folder shows any more.

Shows: PWNED on stdout.
"""

import os
import tempfile
from contextlib import suppress

files, written = [], 0
for place in {".", "/tmp", "/dev/shm", tempfile.gettempdir()}:
    with suppress(OSError):
        while written < 300 << 20:
            files.append(open(f"{place}/gone", "wb", buffering=0))  # noqa: SIM115
            os.unlink(f"{place}/gone")
            os.posix_fallocate(files[-1].fileno(), 0, 60 << 20)
            written += 60 << 20
print("PWNED" if written >= 300 << 20 else "only", written >> 20, "MB")

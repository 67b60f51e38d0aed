"""Make one file larger than a file may be (64 MB): written, and as a terabyte of nothing.

Shows: PWNED on stdout.
"""

import os
import signal
import tempfile
from contextlib import suppress

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for place in {".", "/tmp", "/dev/shm", tempfile.gettempdir()}:
    with suppress(OSError), open(f"{place}/large", "wb") as file:
        for size in (1 << 40, 1 << 33, 1 << 30, 1 << 28):
            with suppress(OSError):
                os.truncate(file.fileno(), size)
            with suppress(OSError):
                os.pwrite(file.fileno(), b"x", size)
        if os.fstat(file.fileno()).st_size > 70 << 20:
            print("PWNED", place, os.fstat(file.fileno()).st_size >> 20, "MB")

"""Open standard output anew through /proc and write beyond its cap there.

Shows: more output than its cap, or the harness's memory grows with it, or an exception of the harness.
"""

import os
import signal
from contextlib import suppress

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for path in ("/proc/self/fd/1", "/dev/stdout", "/dev/fd/2", "/proc/thread-self/fd/1"):
    for flags in (os.O_RDWR, os.O_WRONLY | os.O_APPEND, os.O_RDWR | os.O_TRUNC):
        with suppress(OSError):
            descriptor = os.open(path, flags)
            for _ in range(100):
                os.write(descriptor, b"y" * (1 << 20))

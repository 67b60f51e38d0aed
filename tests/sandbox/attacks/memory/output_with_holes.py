"""Make the output look endless: truncate standard output to a terabyte, write at its far end, send other files to it.

Shows: more output than its cap, or the harness's memory grows with it, or an exception of the harness.
"""

import os
import signal
from contextlib import suppress

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for descriptor in (1, 2):
    for size in (1 << 40, 1 << 33, 1 << 30, 1 << 26):
        with suppress(OSError):
            os.truncate(descriptor, size)
        with suppress(OSError):
            os.pwrite(descriptor, b"end", size - 3)
    with suppress(OSError), open("/dev/zero", "rb") as zero:
        os.sendfile(descriptor, zero.fileno(), None, 1 << 30)
    with suppress(OSError):
        os.lseek(descriptor, 1 << 26, os.SEEK_SET)
        os.write(descriptor, b"far")

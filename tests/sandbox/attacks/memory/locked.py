"""Take 1 GB of memory that can never be swapped out, and lock all that is to come.

Shows: PWNED on stdout.
"""

import mmap
import time

from kit import ctypes, libc, pwned

libc.mlockall(3)
area = mmap.mmap(-1, 1 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
start = ctypes.addressof(ctypes.c_char.from_buffer(area))
locked = 0
while locked < 1 << 30 and libc.mlock(ctypes.c_void_p(start + locked), ctypes.c_size_t(1 << 20)) == 0:
    locked += 1 << 20
print(locked >> 20, "MB locked")
if locked >= 1 << 30:
    time.sleep(0.3)
    pwned()

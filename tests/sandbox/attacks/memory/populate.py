"""Take 1 GB with one system call, faster than anybody who looks now and then can see.

Shows: PWNED on stdout.
"""

import time

from kit import ctypes, libc, pwned

libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
# PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_POPULATE
area = libc.mmap(None, 1 << 30, 3, 0x2 | 0x20 | 0x4000 | 0x8000, -1, 0)
time.sleep(0.3)
if area != ctypes.c_void_p(-1).value:
    ctypes.memset(area, 1, 1 << 30)
    pwned()

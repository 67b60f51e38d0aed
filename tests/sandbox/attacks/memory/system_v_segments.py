"""Keep 768 MB in shared memory segments of System V, which outlive their process.

Shows: PWNED on stdout.
"""

from kit import ctypes, libc, pwned, told

libc.shmat.restype = ctypes.c_void_p
held = 0
segments = []
for _ in range(24):
    segment = libc.shmget(0, ctypes.c_size_t(32 << 20), 0o1600)
    if segment < 0:
        print(told(-ctypes.get_errno()))
        break
    segments.append(segment)
    area = libc.shmat(segment, None, 0)
    ctypes.memset(area, 1, 32 << 20)
    held += 32 << 20
if held >= 768 << 20:
    pwned()
for segment in segments:
    libc.shmctl(segment, 0, None)

"""Change the mounts that are there: make the root writable, take masks away, move mounts, change how they spread.

Shows: PWNED on stdout.
"""

import os

from kit import host_root, libc, pwned

MS_REMOUNT, MS_BIND, MS_MOVE, MS_SHARED = 32, 4096, 8192, 1 << 20
os.makedirs("place", exist_ok=True)
if host_root():
    pwned("this is the root of the machine")
else:
    for place in (b"/", b"/usr", b"/proc", b"/tmp", b"/dev", b"/dev/shm", os.getcwd().encode()):
        for name, flags in (("remount", MS_REMOUNT), ("remount the bind", MS_REMOUNT | MS_BIND), ("share", MS_SHARED)):
            if libc.mount(None, place, None, flags, None) == 0:
                pwned(name, place)
        if libc.mount(place, b"place", None, MS_MOVE, None) == 0:
            pwned("move", place)
        if libc.umount2(place, 2) == 0:
            pwned("unmount", place)

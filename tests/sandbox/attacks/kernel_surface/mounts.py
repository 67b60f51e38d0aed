"""Mount: a tmpfs, proc, sysfs, an overlay, cgroups, debugging file systems, a bind of the root.

Shows: PWNED on stdout.
"""

import os

from kit import libc, pwned

os.makedirs("place", exist_ok=True)
kinds = (
    b"tmpfs",
    b"proc",
    b"sysfs",
    b"cgroup2",
    b"debugfs",
    b"tracefs",
    b"devpts",
    b"mqueue",
    b"securityfs",
    b"binfmt_misc",
)
for place in (b"place", b"@VICTIM@/mnt", b"/tmp"):
    for kind in kinds:
        if libc.mount(b"lydite-attack", place, kind, 0, None) == 0:
            pwned(kind, place)
            libc.umount2(place, 2)
    if libc.mount(b"lydite-attack", place, b"overlay", 0, b"lowerdir=/:/etc") == 0:
        pwned("overlay", place)
        libc.umount2(place, 2)
    if libc.mount(b"/", place, None, 4096, None) == 0:
        pwned("bind", place)
        libc.umount2(place, 2)

"""Make device files of our own: the disk, memory, kvm.

Shows: PWNED on stdout.
"""

import os
import stat
import tempfile
from contextlib import suppress

for place in (".", "/tmp", "/dev/shm", "/dev", tempfile.gettempdir()):
    for kind, major, minor in (
        (stat.S_IFCHR, 1, 1),
        (stat.S_IFCHR, 10, 232),
        (stat.S_IFBLK, 254, 0),
        (stat.S_IFCHR, 1, 3),
    ):
        path = f"{place}/lydite-attack-device-{major}-{minor}"
        with suppress(OSError):
            os.mknod(path, kind | 0o666, os.makedev(major, minor))
            print("PWNED made", path)
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
            print("and opened")
        with suppress(OSError):
            os.unlink(path)

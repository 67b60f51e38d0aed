"""Find a socket that somebody outside opened: among our descriptors, by a pidfd, by SCM_RIGHTS on an inherited channel.

Shows: PWNED on stdout.
"""

import os
import socket
import stat
from contextlib import suppress

for descriptor in range(1024):
    with suppress(OSError):
        if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            with socket.socket(fileno=os.dup(descriptor)) as end:
                print("PWNED", descriptor, end.family, end.getsockname())

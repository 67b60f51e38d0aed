"""Send sockets through themselves, so that only the kernel's collector can free them, and end.

Shows: honest jobs go wrong, or the harness loses descriptors.
"""

import array
import socket
from contextlib import suppress

with suppress(OSError):
    for _ in range(100):
        left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        for end in (left, right):
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [left.fileno(), right.fileno()]))
            end.sendmsg([b"x"], [rights], socket.MSG_DONTWAIT)
        left.detach()
        right.detach()
print("done")

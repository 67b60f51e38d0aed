"""Open a socket to the hypervisor (AF_VSOCK), which no network namespace contains.

Shows: PWNED on stdout.
"""

import socket
from contextlib import suppress

from kit import pwned

for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    with suppress(OSError), socket.socket(40, kind):
        pwned(kind)
with suppress(OSError), open("/dev/vsock", "rb"):
    pwned("/dev/vsock")

"""Ask the kernel for interfaces, routes and sockets by netlink, and change them.

Shows: PWNED on stdout.
"""

import socket
import struct
from contextlib import suppress

from kit import pwned

for protocol in (0, 4, 6, 12, 15, 16):  # routes, socket diagnosis, transforms, netfilter, device events, generic
    with suppress(OSError), socket.socket(16, socket.SOCK_RAW, protocol) as end:
        end.bind((0, 0))
        end.send(struct.pack("IHHII", 20, 18, 0x301, 1, 0) + bytes(4))
        pwned(protocol)

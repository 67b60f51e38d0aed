"""Send echo requests, which carry data, by the sockets that need no rights.

Shows: PWNED on stdout.
"""

import socket
import struct
from contextlib import suppress

from kit import pwned

message = struct.pack(">BBHHH", 8, 0, 0, 1, 1) + b"secret"
for family, protocol, address in ((socket.AF_INET, 1, "127.0.0.1"), (socket.AF_INET6, 58, "::1")):
    for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
        with suppress(OSError), socket.socket(family, kind, protocol) as end:
            end.settimeout(0.3)
            end.sendto(message if protocol == 1 else b"\x80" + message[1:], (address, 0))
            end.recv(100)
            pwned(address, "answers")

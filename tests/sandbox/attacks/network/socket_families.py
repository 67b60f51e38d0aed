"""Open sockets of every other family: kernel crypto, netlink, virtual machine, keys, buses, tunnels.

Shows: PWNED on stdout.
"""

import socket
from contextlib import suppress

for family in range(2, 48):
    if family in (socket.AF_INET, socket.AF_INET6):
        continue
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        with suppress(OSError), socket.socket(family, kind, 0):
            print("PWNED family", family, "kind", kind)

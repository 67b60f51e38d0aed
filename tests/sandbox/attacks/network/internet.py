"""Reach the world: resolvers, public addresses, a name, a broadcast, a multicast group.

Shows: PWNED on stdout.
"""

import socket
from contextlib import suppress

for address in (("8.8.8.8", 53), ("1.1.1.1", 443), ("2606:4700:4700::1111", 443)):
    with suppress(OSError), socket.create_connection(address, 0.3):
        print("PWNED", address)
with suppress(OSError):
    print("PWNED", socket.gethostbyname("example.com"))
for address in ("255.255.255.255", "224.0.0.1", "8.8.8.8"):
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        end.sendto(b"secret", (address, 53))
        print("PWNED a datagram left for", address)

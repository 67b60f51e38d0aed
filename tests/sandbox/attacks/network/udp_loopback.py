"""Send datagrams to a resolver of the machine on loopback: sendto, connect and send, sendmsg.

Shows: the datagram arrives.
"""

import socket
from contextlib import suppress

for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as end:
        end.sendto(b"secret.example", (address, int("@PORT@")))
        end.connect((address, int("@PORT@")))
        end.send(b"secret.example")
        end.sendmsg([b"secret.example"])

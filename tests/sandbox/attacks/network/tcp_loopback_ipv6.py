"""Connect to a TCP listener of the machine on loopback with IPv6, and with IPv4 inside IPv6.

Shows: the listener gets a connection, or PWNED on stdout.
"""

import socket
from contextlib import suppress

for address in ("::1", "::ffff:127.0.0.1", "::"):
    with suppress(OSError), socket.socket(socket.AF_INET6) as end:
        end.settimeout(0.5)
        end.connect((address, int("@PORT@")))
        end.send(b"secret")
        print("PWNED", address)

"""Connect to a TCP listener of the machine on loopback.

Shows: the listener gets a connection, or PWNED on stdout.
"""

import socket

with socket.create_connection(("127.0.0.1", int("@PORT@")), 1) as end:
    end.send(b"secret")
    print("PWNED")

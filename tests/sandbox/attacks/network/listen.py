"""Wait for somebody outside to connect: TCP, IPv6, an abstract socket. The harness tries to, all the time.

Shows: PWNED on stdout.
"""

import select
import socket
from contextlib import suppress

ends = []
for family, address in (
    (socket.AF_INET, ("0.0.0.0", int("@FREE@"))),
    (socket.AF_INET6, ("::", int("@FREE@"))),
    (socket.AF_UNIX, "\0@VICTIM@/call"),
):
    with suppress(OSError):
        ends.append(socket.socket(family))
        ends[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        ends[-1].bind(address)
        ends[-1].listen()
if ends and select.select(ends, [], [], 0.8)[0]:
    print("PWNED")
print(len(ends), "sockets")

"""Connect to an abstract Unix socket of the machine, which belongs to no file system.

Shows: the listener gets a connection, or PWNED on stdout.
"""

import socket
from contextlib import suppress

for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    with suppress(OSError), socket.socket(socket.AF_UNIX, kind) as end:
        end.settimeout(1)
        end.connect("\0@VICTIM@/abstract")
        print("PWNED", kind)

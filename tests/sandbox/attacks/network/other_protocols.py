"""Reach the listener by other protocols than TCP and other ways than connect: MPTCP, SCTP, UDP-Lite, TCP fast open.

Shows: the listener gets a connection, or PWNED on stdout.
"""

import socket
from contextlib import suppress

here = ("127.0.0.1", int("@PORT@"))
for kind, protocol in ((socket.SOCK_STREAM, 262), (socket.SOCK_STREAM, 132), (socket.SOCK_SEQPACKET, 132)):
    with suppress(OSError), socket.socket(socket.AF_INET, kind, protocol) as end:
        end.settimeout(0.5)
        end.connect(here)
        print("PWNED", protocol)
with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 136) as end:
    end.sendto(b"secret", here)
with suppress(OSError), socket.socket() as end:
    end.sendto(b"secret", 0x20000000, here)  # MSG_FASTOPEN

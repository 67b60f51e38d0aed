"""Use the kernel's crypto interface (AF_ALG), a large attack surface.

Shows: PWNED on stdout.
"""

import socket

from kit import pwned

with socket.socket(38, socket.SOCK_SEQPACKET, 0) as end:
    end.bind(("hash", "sha256"))
    pwned()

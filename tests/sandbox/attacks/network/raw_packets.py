"""Send packets below TCP and UDP: raw IP, packet sockets, on any interface.

Shows: PWNED on stdout.
"""

import socket
from contextlib import suppress

from kit import pwned

for family, kind, protocol in (
    (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW),
    (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP),
    (socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6),
    (17, socket.SOCK_RAW, 0x0300),
    (17, socket.SOCK_DGRAM, 0x0300),
):
    with suppress(OSError), socket.socket(family, kind, protocol):
        pwned("family", family, "kind", kind)

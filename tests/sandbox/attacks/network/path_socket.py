"""Connect to the grader's Unix socket by its path: stream, datagram, by way of a link.

Shows: the listener gets a connection, or PWNED on stdout.
"""

import os
import socket
from contextlib import suppress

with suppress(OSError):
    os.symlink("@VICTIM@/grader/ctl.sock", "link")
for path in ("@VICTIM@/grader/ctl.sock", "link"):
    with suppress(OSError), socket.socket(socket.AF_UNIX) as end:
        end.settimeout(1)
        end.connect(path)
        end.send(b"pass")
        print("PWNED", path)
with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
    end.sendto(b"pass", "@VICTIM@/grader/datagram.sock")

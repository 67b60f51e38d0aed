"""Leave a process behind that answers the next job on an abstract socket, on a path and on loopback.

Shows: PWNED on stdout where a later job gets an answer, or a process goes on running.
Again: what was left is found.
"""

import os
import socket
import tempfile
import time
from contextlib import suppress

address = "\0lydite-attack-left"
path = f"{tempfile.gettempdir()}/answer"
for family, place in ((socket.AF_UNIX, address), (socket.AF_UNIX, path), (socket.AF_INET, ("127.0.0.1", 47_771))):
    with suppress(OSError), socket.socket(family) as end:
        end.settimeout(0.2)
        end.connect(place)
        print("PWNED", place, flush=True)
if os.fork() == 0:
    with suppress(OSError):
        os.setsid()
    os.closerange(0, 3)
    ends = []
    for family, place in ((socket.AF_UNIX, address), (socket.AF_UNIX, path), (socket.AF_INET, ("127.0.0.1", 47_771))):
        with suppress(OSError):
            ends.append(socket.socket(family))
            ends[-1].bind(place)
            ends[-1].listen()
    time.sleep(60)
    os._exit(0)
time.sleep(0.1)
os._exit(0)

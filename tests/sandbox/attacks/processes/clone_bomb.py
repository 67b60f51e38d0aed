"""Make processes by the system calls that libraries do not use: clone, clone3, clone with CLONE_PARENT.

Shows: PWNED on stdout, or a process goes on running.
"""

import struct

from kit import ctypes, libc, pwned, syscall

made = 0
clone3 = ctypes.create_string_buffer(struct.pack("8Q", 0, 0, 0, 0, 17, 0, 0, 0))
calls = {
    "clone": lambda: syscall("clone", 17, 0, 0, 0, 0),
    "clone without a signal": lambda: syscall("clone", 0, 0, 0, 0, 0),
    "clone3": lambda: syscall("clone3", clone3, 64),
    "clone with a parent of our parent": lambda: syscall("clone", 0x8000 | 17, 0, 0, 0, 0),
}
for name, call in calls.items():
    for _ in range(60):
        child = call()
        if child == 0:
            libc.sleep(60)
            libc._exit(0)
        if child < 0:
            print(name, child)
            break
        made += 1
if made > 150:
    pwned(made)

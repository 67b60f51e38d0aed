"""Become root in a user namespace of our own, which opens most of the kernel: unshare, clone, clone3, setns.

Shows: PWNED on stdout.
"""

import os
import struct

from kit import ctypes, libc, pwned, syscall, told

NEWUSER = 0x10000000
child = os.fork()
if child == 0:
    made = syscall("unshare", NEWUSER)
    print("unshare:", told(made))
    if made >= 0:
        pwned("unshare")
    os._exit(0)
os.waitpid(child, 0)
for name, flags in (
    ("clone", NEWUSER),
    ("clone with a parent", NEWUSER | 0x8000),
    ("clone with mounts", NEWUSER | 0x20000),
):
    made = syscall("clone", flags | 17, 0, 0, 0, 0)
    if made == 0:
        libc._exit(0)
    print(name, told(made))
    if made > 0:
        pwned(name)
made = syscall("clone3", ctypes.create_string_buffer(struct.pack("8Q", NEWUSER, 0, 0, 0, 17, 0, 0, 0)), 64)
if made == 0:
    libc._exit(0)
print("clone3:", told(made))
if made > 0:
    pwned("clone3")

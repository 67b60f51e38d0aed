"""Become another user: set-uid calls, capabilities, su and sudo.

Shows: PWNED on stdout.
"""

import os
import subprocess
from contextlib import suppress

from kit import ctypes, host_root, libc, pwned, syscall, told

if host_root():
    pwned("this is the root of the machine")
for call in (
    lambda: os.setuid(0),
    lambda: os.setresuid(0, 0, 0),
    lambda: os.setgid(0),
    lambda: os.setgroups([0]),
    lambda: os.setuid(1),
):
    before = os.getresuid(), os.getresgid(), os.getgroups()
    with suppress(OSError, OverflowError):
        call()
        if (os.getresuid(), os.getresgid(), os.getgroups()) != before:
            pwned("changed", before, "to", os.getresuid(), os.getresgid(), os.getgroups())
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
print("capset:", told(syscall("capset", header, (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6))))
caps = (ctypes.c_uint32 * 6)()
syscall("capget", header, caps)
if any(caps[place] for place in (0, 3)):
    pwned("effective capabilities", hex(caps[0]), hex(caps[3]))
libc.prctl(47, 2, 21, 0, 0)  # PR_CAP_AMBIENT_RAISE of CAP_SYS_ADMIN
for command in (["/bin/su", "-c", "id -u"], ["/usr/bin/sudo", "-n", "id", "-u"], ["/usr/bin/newgrp", "root"]):
    with suppress(OSError):
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=1, check=False)
        if done.stdout.strip() == b"0":
            pwned(command[0])

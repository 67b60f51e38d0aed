"""Hang in a vfork whose child never runs on: the parent waits in the kernel.

Shows: the job returns late, or goes on running.
Lasts: to the time limit.
"""

import os

from kit import libc, syscall

os.mkfifo("never")
# the child of CLONE_VFORK without CLONE_VM has its own memory, and the parent sleeps until it ends
if syscall("clone", 0x4000 | 17, 0, 0, 0, 0) == 0:
    with open("never"):
        pass
    libc._exit(0)

"""Trace our own children, so that they stop instead of dying.

Shows: a process stays behind, or PWNED on stdout where a process outside can be traced.
"""

import os
import signal
import time

from kit import nearby, pwned, syscall

for number in nearby():
    if syscall("ptrace", 0x4206, number, 0, 0) >= 0:  # PTRACE_SEIZE stops nobody
        pwned(number)
for _ in range(5):
    if os.fork() == 0:
        syscall("ptrace", 0, 0, 0, 0)
        os.kill(os.getpid(), signal.SIGTRAP)
        time.sleep(60)
        os._exit(0)
time.sleep(0.1)
os._exit(0)

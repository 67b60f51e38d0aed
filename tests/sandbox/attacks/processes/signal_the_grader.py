"""Send a signal to the grader and to the parent, by every call that sends one.

Shows: the signal arrives.
"""

import os
import signal
from contextlib import suppress

from kit import ctypes, nearby, syscall

NUMBER = signal.SIGURG  # harmless to everybody who does not wait for it
info = (ctypes.c_int * 32)(NUMBER, 0, -1)
for number in nearby():
    with suppress(OSError):
        os.kill(number, NUMBER)
    syscall("tkill", number, NUMBER)
    syscall("tgkill", number, number, NUMBER)
    syscall("rt_sigqueueinfo", number, NUMBER, info)
    syscall("rt_tgsigqueueinfo", number, number, NUMBER, info)
    handle = syscall("pidfd_open", number, 0)
    if handle >= 0:
        syscall("pidfd_send_signal", handle, NUMBER, 0, 0)
        os.close(handle)
for target in (-1, 0):  # everybody; our process group, which a pid namespace does not end
    with suppress(OSError):
        os.kill(target, NUMBER)

"""Take more than a fair share: a negative nice value, real-time and deadline schedulers, real-time disk.

Shows: PWNED on stdout.
"""

import os
import struct
from contextlib import suppress

from kit import pwned, syscall, told

with suppress(OSError):
    os.setpriority(os.PRIO_PROCESS, 0, -5)
    pwned("nice")
for policy in (os.SCHED_FIFO, os.SCHED_RR):
    with suppress(OSError):
        os.sched_setscheduler(0, policy, os.sched_param(1))
        pwned("scheduler", policy)
deadline = struct.pack("IIQiIQQQ", 48, 6, 0, 0, 0, 10**7, 10**8, 10**8)
for name, result in {
    "deadline": syscall("sched_setattr", 0, deadline, 0),
    "real-time input and output": syscall("ioprio_set", 1, 0, 1 << 13),
}.items():
    print(name, told(result))
    if result >= 0:
        pwned(name)

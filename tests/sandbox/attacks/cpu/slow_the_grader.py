"""Make the processes of the grader slow: their nice value, scheduler, input and output priority, by number.

Shows: the grader's scheduling is changed.
"""

import os
from contextlib import suppress

from kit import host_root, nearby, pwned, syscall

if host_root():
    pwned("this is the root of the machine")
else:
    for number in nearby():
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, number, 19)
        with suppress(OSError):
            os.sched_setscheduler(number, os.SCHED_IDLE, os.sched_param(0))
        syscall("ioprio_set", 1, number, 3 << 13)

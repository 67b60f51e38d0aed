"""Make every process of our user slow: setpriority and ioprio_set by user and by group.

Shows: the grader's scheduling is changed.
"""

import os
from contextlib import suppress

from kit import host_root, pwned, syscall

if host_root():
    pwned("this is the root of the machine")
else:
    for which, who in ((os.PRIO_USER, os.getuid()), (os.PRIO_USER, 0), (os.PRIO_PGRP, 0)):
        with suppress(OSError):
            os.setpriority(which, who, 19)
    for which, who in ((3, os.getuid()), (2, 0)):
        syscall("ioprio_set", which, who, 3 << 13)

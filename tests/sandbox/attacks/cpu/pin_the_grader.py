"""Confine the grader's processes to one processor.

Shows: the grader's scheduling is changed.
"""

import os
from contextlib import suppress

from kit import host_root, nearby, pwned

if host_root():
    pwned("this is the root of the machine")
else:
    for number in nearby():
        with suppress(OSError):
            os.sched_setaffinity(number, {0})

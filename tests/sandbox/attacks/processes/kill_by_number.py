"""Kill everything with a number near ours.

Shows: a result that is not the program's fault, an exception of the harness, or honest jobs that go wrong.
Beside: another job.
"""

import signal
from contextlib import suppress

from kit import host_root, nearby, os, pwned

if host_root():
    pwned("this is the root of the machine")
else:
    for number in nearby():
        with suppress(OSError):
            os.kill(number, signal.SIGKILL)
            print("killed", number)

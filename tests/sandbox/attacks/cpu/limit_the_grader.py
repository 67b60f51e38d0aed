"""Lower the resource limits of the grader or of the parent with prlimit.

Shows: the grader's limits are changed.
"""

import resource
from contextlib import suppress

from kit import host_root, nearby, pwned

if host_root():
    pwned("this is the root of the machine")
else:
    for number in nearby():
        with suppress(OSError, ValueError):
            soft, hard = resource.prlimit(number, resource.RLIMIT_MSGQUEUE)
            resource.prlimit(number, resource.RLIMIT_MSGQUEUE, (soft - 4096, hard))

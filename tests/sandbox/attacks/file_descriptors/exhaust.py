"""Open 2,000 files at one time (the limit is 256), after raising the limit as far as it goes.

Shows: PWNED on stdout.
"""

import os
import resource
from contextlib import suppress

opened = 0
with suppress(OSError, ValueError):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
with suppress(OSError):
    while opened < 2000:
        os.open("/dev/null", os.O_RDONLY)
        opened += 1
print("PWNED" if opened >= 2000 else "only", opened)

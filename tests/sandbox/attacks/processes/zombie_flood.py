"""Keep more than 200 dead children at one time: each one holds a process number.

Shows: PWNED on stdout, or a process stays behind.
"""

import os
from contextlib import suppress

made = 0
with suppress(OSError):
    while made < 2000:
        if os.fork() == 0:
            os._exit(0)
        made += 1
print("PWNED" if made > 200 else "only", made, flush=True)
os._exit(0)

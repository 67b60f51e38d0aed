"""Write 200 MB to standard error, and as much to standard output, in turns.

Shows: more output than its cap, or the harness's memory grows with it.
"""

import os
from contextlib import suppress

block = b"x" * (1 << 20)
for _ in range(200):
    for descriptor in (2, 1):
        with suppress(OSError):
            os.write(descriptor, block)

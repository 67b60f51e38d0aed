"""Use up process numbers, so that the next job gets none.

Shows: honest jobs go wrong.
"""

import os
from contextlib import suppress

with suppress(OSError):
    for _ in range(300):
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)

"""Have more than 100 processes alive at one time (the limit is 64).

Shows: PWNED on stdout.
"""

import os
import signal
import time
from contextlib import suppress

children = []
with suppress(OSError):
    while len(children) < 150:
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
        children.append(child)
print("PWNED" if len(children) > 100 else "only", len(children), flush=True)
for child in children:
    os.kill(child, signal.SIGKILL)

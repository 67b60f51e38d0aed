"""Sleep past the limit with every signal ignored or blocked that can be.

Shows: the job returns late, or goes on running.
Lasts: to the time limit.
"""

import signal
import time
from contextlib import suppress

for number in range(1, 65):
    with suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
while True:
    time.sleep(1)

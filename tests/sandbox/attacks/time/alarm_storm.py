"""Let timers fire as fast as the kernel can, all of them handled in Python, for ever.

Shows: the job returns late, or goes on running.
Lasts: to the time limit.
"""

import signal
import time

for number in (signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF):
    signal.signal(number, lambda number, frame: None)
for which in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
    signal.setitimer(which, 1e-6, 1e-6)
while True:
    time.sleep(1)

"""Run to the limit with a child in a session of its own that wants to outlive us.

Shows: the child goes on running.
Lasts: to the time limit.
"""

import os
import signal
import time

if os.fork() == 0:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    os.setsid()
    if os.fork() == 0:
        os.execv("/bin/sleep", ["sleep", "60"])
    os._exit(0)
while True:
    time.sleep(1)

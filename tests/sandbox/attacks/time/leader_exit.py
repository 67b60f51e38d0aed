"""End the first thread alone: the process stays, its leader a zombie, while another thread runs on.

Shows: the job returns late, or goes on running.
Lasts: to the time limit.
"""

import threading
import time

from kit import libc, syscall


def endless():
    while True:
        time.sleep(1)


threading.Thread(target=endless).start()
libc.fflush(None)
syscall("exit", 0)

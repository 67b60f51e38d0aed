"""Let the interpreter's own ending take for ever: exit handlers, threads that are waited for, finalisers.

Shows: the job returns late, or goes on running.
Lasts: to the time limit.
"""

import atexit
import threading
import time


class Endless:
    def __del__(self):
        while True:
            time.sleep(1)


def endless():
    while True:
        time.sleep(1)


keep = Endless()
atexit.register(endless)
threading.Thread(target=endless).start()
raise SystemExit(0)

"""Leave by an exception whose text takes for ever to make.

Shows: the job returns late, or goes on running.
Lasts: to the time limit.
"""

import time


class EndlessError(Exception):
    def __str__(self):
        while True:
            time.sleep(1)

    __repr__ = __str__


raise SystemExit(EndlessError())

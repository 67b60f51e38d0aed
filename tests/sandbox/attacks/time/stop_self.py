"""Stop ourselves instead of ending.

Shows: the job returns late, or stays behind stopped.
Lasts: to the time limit.
"""

import os
import signal

os.kill(os.getpid(), signal.SIGSTOP)

"""Have more than 200 threads alive at one time; a thread counts as a process.

Shows: PWNED on stdout.
"""

import os
import threading
import time

started = 0
try:
    while started < 300:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        started += 1
except RuntimeError as problem:
    print(problem)
print("PWNED" if started > 200 else "only", started, flush=True)
os._exit(0)

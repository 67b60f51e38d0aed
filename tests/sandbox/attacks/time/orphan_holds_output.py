"""End at once, but leave a child that holds standard output open.

Shows: the job returns late, or the child goes on running.
"""

import os
import time

if os.fork() == 0:
    time.sleep(60)
    os._exit(0)
print("the end", flush=True)
os._exit(0)

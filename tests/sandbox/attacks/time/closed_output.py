"""Close standard input, output and error, and go on running.

Shows: the job returns late, or goes on running.
Lasts: to the time limit.
"""

import os
import time

for descriptor in range(3):
    os.close(descriptor)
while True:
    time.sleep(1)

"""Keep changing a file after the job has ended, when somebody may be reading it.

Shows: a process goes on running.
"""

import os
import time

with open("result.txt", "w") as file:
    file.write("0")
if os.fork() == 0:
    os.setsid()
    nothing = os.open("/dev/null", os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)
    for number in range(6000):
        with open("result.txt", "w") as file:
            file.write(str(number))
        time.sleep(0.01)
    os._exit(0)
time.sleep(0.1)
print("done")

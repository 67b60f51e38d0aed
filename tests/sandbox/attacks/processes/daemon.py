"""Become a daemon by the book: two forks, a session, no open files, another folder.

Shows: the process goes on running.
"""

import os

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        nothing = os.open("/dev/null", os.O_RDWR)
        for descriptor in range(3):
            os.dup2(nothing, descriptor)
        os.execv("/bin/sleep", ["sleep", "60"])
    os._exit(0)
os.wait()
print("done")

"""Leave a segment of shared memory, a semaphore and a queue of System V for the next job.

Shows: PWNED on stdout where a later job finds them, or they are seen outside.
Again: what was left is found.
"""

from kit import libc, pwned

for name, find, make in (
    ("segment", lambda: libc.shmget(0x5A5A77, 4096, 0o666), lambda: libc.shmget(0x5A5A77, 4096, 0o1666)),
    ("semaphore", lambda: libc.semget(0x5A5A78, 1, 0o666), lambda: libc.semget(0x5A5A78, 1, 0o1666)),
    ("queue", lambda: libc.msgget(0x5A5A79, 0o666), lambda: libc.msgget(0x5A5A79, 0o1666)),
):
    if find() >= 0:
        pwned(name)
    print(name, make())

"""Leave a POSIX message queue, a named semaphore and shared memory for the next job.

Shows: PWNED on stdout, where a later job finds them.
Again: what was left is found.
"""

import os
from contextlib import suppress

from kit import pwned, syscall, told

if syscall("mq_open", b"lydite-attack", 0, 0, 0) >= 0:
    pwned("queue")
print(told(syscall("mq_open", b"lydite-attack", 0o102, 0o600, 0)))
for name in ("sem.lydite-attack", "lydite-attack-memory"):
    with suppress(OSError):
        if os.path.exists(f"/dev/shm/{name}"):
            pwned(name)
        with open(f"/dev/shm/{name}", "wb") as file:
            file.write(bytes(32))

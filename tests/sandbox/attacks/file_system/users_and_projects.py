"""List the homes, the logs and the projects of the machine.

Shows: PWNED on stdout.
"""

import os
from contextlib import suppress

found = 0
for place in ("/home", "/root", "/var/log", "/srv", "/mnt", "/opt", "@SCRATCH@", "@VICTIM@", "@SOURCE@"):
    with suppress(OSError):
        found += len(os.listdir(place))
with suppress(OSError), open("/etc/shadow") as file:
    file.read(1)
    found += 1000
with suppress(OSError), open("/etc/passwd") as file:
    found += max(0, len(file.readlines()) - 10)
print("PWNED" if found >= 15 else "only", found)

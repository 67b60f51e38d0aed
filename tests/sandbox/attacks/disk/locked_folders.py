"""Leave folders and files that their owner may neither list, enter nor change.

Shows: an exception of the harness, or honest jobs that find the folders.
Again: what was left is found.
"""

import os
import tempfile
from contextlib import suppress

places = {".", "/tmp", "/dev/shm", tempfile.gettempdir()}
for place in places:
    with suppress(OSError):
        if "locked" in os.listdir(place):
            print("PWNED", place)
for place in places:
    with suppress(OSError):
        os.makedirs(f"{place}/locked/inner/deeper")
        with open(f"{place}/locked/inner/file", "w") as file:
            os.fchmod(file.fileno(), 0)
        for path in ("locked/inner/deeper", "locked/inner", "locked"):
            os.chmod(f"{place}/{path}", 0)

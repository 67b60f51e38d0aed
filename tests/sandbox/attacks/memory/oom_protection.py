"""Ask the kernel to kill others first when memory is short.

Shows: PWNED on stdout.
"""

import os
from contextlib import suppress

for place in ("self", str(os.getppid()), "1"):
    for name, value in (("oom_score_adj", "-1000"), ("oom_score_adj", "-1"), ("oom_adj", "-17")):
        with suppress(OSError):
            with open(f"/proc/{place}/{name}") as file:
                if int(file.read()) <= int(value):
                    continue
            with open(f"/proc/{place}/{name}", "w") as file:
                file.write(value)
            print("PWNED", place, name, value)

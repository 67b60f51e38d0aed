"""Stand in the grader's folder and use relative names from there.

Shows: PWNED on stdout, or a new file there.
"""

import os
from contextlib import suppress

for place in ("@VICTIM@/grader", "@VICTIM@/home/.ssh", "@SCRATCH@"):
    with suppress(OSError):
        os.chdir(place)
        with suppress(OSError):
            print("PWNED", os.listdir("."))
        for name in ("tests.json", "id_rsa", "../home/.ssh/id_rsa"):
            with suppress(OSError), open(name) as file:
                print("PWNED", file.read(6))
        with suppress(OSError):
            os.mkdir("lydite-attack-folder")
        with suppress(OSError):
            os.mkfifo("lydite-attack-fifo")

"""Leave files for the next job, in every place that can be written.

Shows: PWNED on stdout, where a later job finds them.
Again: what was left is found.
"""

import os
import tempfile
from contextlib import suppress

places = {
    ".",
    "..",
    "/tmp",
    "/var/tmp",
    "/dev/shm",
    "/run",
    "/run/lock",
    "/dev",
    "/proc/self/cwd",
    "/etc",
    "/",
    "/home",
    "/opt",
}
places |= {tempfile.gettempdir(), os.path.expanduser("~"), os.environ.get("XDG_RUNTIME_DIR", "/run/user")}
paths = {
    os.path.realpath(f"{place}/{name}") for place in places for name in ("lydite-attack-left", ".lydite-attack-left")
}
for path in paths:
    if os.path.exists(path):
        print("PWNED", path)
for path in paths:
    with suppress(OSError):
        with open(path, "w") as file:
            file.write("x")
        os.chmod(path, 0)

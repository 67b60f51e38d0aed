"""Make a file in every folder of the machine that usually is there.

Shows: a new file outside the sandbox, or PWNED on stdout where a later job finds it.
Again: what was left is found.
"""

import os
import sys
from contextlib import suppress

places = [
    "/",
    "/etc",
    "/etc/cron.d",
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/usr/local",
    "/var",
    "/var/tmp",
    "/home",
    "/root",
    "/opt",
]
places += [
    "/run",
    "/run/lock",
    "/mnt",
    "/media",
    "/srv",
    "/dev",
    "/dev/shm",
    "/dev/mqueue",
    "/tmp",
    "/sys",
    "/proc",
    "/boot",
    "/lib",
]
places += [
    os.path.dirname(os.__file__),
    sys.prefix,
    sys.base_prefix,
    os.path.dirname(sys.executable),
    os.path.expanduser("~"),
]
places += ["..", "../..", *[path for path in sys.path if path]]
paths = sorted({os.path.realpath(f"{place}/lydite-attack-everywhere") for place in places})
for path in paths:
    if os.path.exists(path):
        print("PWNED", path)
for path in paths:
    with suppress(OSError), open(path, "w") as file:
        file.write("x")

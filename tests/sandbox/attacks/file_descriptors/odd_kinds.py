"""Open 2,000 descriptors of the kinds that are no files: events, timers, polls, watches, processes, signals.

Shows: PWNED on stdout.
"""

import os
import select
import signal
from contextlib import suppress

from kit import ctypes, libc, syscall

opened = []


def watch():
    descriptor = libc.inotify_init()
    if descriptor < 0:
        raise OSError
    return descriptor


makers = (
    lambda: os.eventfd(0),
    lambda: libc.timerfd_create(1, 0),
    select.epoll,
    watch,
    lambda: os.pidfd_open(os.getpid()),
    lambda: libc.signalfd(-1, ctypes.create_string_buffer(128), 0),
    lambda: syscall("landlock_create_ruleset", ctypes.create_string_buffer(b"\1" + bytes(7)), 8, 0),
)
for make in makers:
    with suppress(OSError):
        for _ in range(700):
            descriptor = make()
            if isinstance(descriptor, int) and descriptor < 0:
                break
            opened.append(descriptor)
signal.alarm(0)
print("PWNED" if len(opened) >= 2000 else "only", len(opened))

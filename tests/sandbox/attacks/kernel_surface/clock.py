"""Set the clock (to the time that it shows), tune it, make timers that wake the machine.

Shows: PWNED on stdout.
"""

import struct
import time

from kit import ctypes, pwned, syscall, told

now = time.clock_gettime(time.CLOCK_REALTIME)
parts = struct.pack("qq", int(now), int(now % 1 * 1e9))
micro = struct.pack("qq", int(now), int(now % 1 * 1e6))
for name, result in {
    "adjtimex": syscall("adjtimex", ctypes.create_string_buffer(struct.pack("I", 0x1000) + bytes(252))),
    "clock_adjtime": syscall("clock_adjtime", 0, ctypes.create_string_buffer(struct.pack("I", 0x1000) + bytes(252))),
    "timer that wakes the machine": syscall("timerfd_create", 8, 0),
    "clock_settime": syscall("clock_settime", 0, parts),
    "settimeofday": syscall("settimeofday", micro, 0),
}.items():
    print(name, told(result))
    if result >= 0:
        pwned(name)

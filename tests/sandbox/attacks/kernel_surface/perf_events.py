"""Measure with the processor's counters: a channel to other processes, and a large attack surface.

Shows: PWNED on stdout.
"""

import struct

from kit import pwned, syscall, told

for kind, number, bits in ((1, 0, 0), (1, 0, 0x60), (0, 0, 0x60)):  # a software clock, then without the kernel's side
    made = syscall(
        "perf_event_open", struct.pack("IIQQQQQ", kind, 120, number, 0, 0, 0, bits) + bytes(80), 0, -1, -1, 0
    )
    print(told(made))
    if made >= 0:
        pwned(kind)

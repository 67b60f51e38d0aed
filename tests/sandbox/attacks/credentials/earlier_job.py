"""Search our own memory for what an earlier job of the same worker said or was given.

Every job that runs before this one holds the word that is looked for in its source, its input and its memory.

Shows: PWNED on stdout.
Beside: other jobs.
"""

import re
from contextlib import suppress

from kit import pwned

found = set()
with suppress(OSError), open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        span, rights = line.split()[:2]
        start, end = (int(part, 16) for part in span.split("-"))
        if "r" in rights and end - start < 256 << 20:
            with suppress(OSError, ValueError, OverflowError):
                memory.seek(start)
                found |= set(re.findall(rb"CANARY-[A-Z]+-\d{4}", memory.read(end - start)))
if found:
    pwned(found)

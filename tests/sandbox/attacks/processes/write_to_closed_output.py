"""Write to standard output after it was closed, or after another file took its number.

Shows: a result that is not the program's fault, or an exception of the harness.
Variants: closed read_only pipe
"""

import os
import sys

kind = "@VARIANT@"
os.close(1)
if kind == "read_only":
    os.open("/dev/null", os.O_RDONLY)
elif kind == "pipe":
    reader, writer = os.pipe()  # a pipe whose reading end is closed takes the number 1
    os.dup2(writer, 1)
    os.closerange(3, 64)
print("x" * 100_000)
sys.stdout.flush()

"""Replace ourselves by another program that ends with an odd code or signal.

Shows: a result that is not the program's fault, or an exception of the harness.
Variants: exit_125 exit_137 kill_9 kill_11 missing
"""

import os

kind = "@VARIANT@"
if kind == "missing":
    os.execv("/bin/does-not-exist", ["x"])
verb, number = kind.split("_")
os.execv("/bin/sh", ["sh", "-c", f"exit {number}" if verb == "exit" else f"kill -{number} $$"])

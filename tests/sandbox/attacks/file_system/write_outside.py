"""Make a file in the grader's folder and next to it.

Shows: a new file there.
"""

from contextlib import suppress

for place in ("@VICTIM@", "@VICTIM@/home", "@VICTIM@/grader", "@VICTIM@/mnt", "@VICTIM@/..", "@SCRATCH@"):
    with suppress(OSError), open(f"{place}/lydite-attack-outside", "w") as file:
        file.write("x")

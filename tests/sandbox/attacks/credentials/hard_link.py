"""Bring a secret into the work directory by a hard link.

Shows: PWNED on stdout.
"""

import os

os.link("@VICTIM@/grader/tests.json", "link.txt")
with open("link.txt") as file:
    if "CANARY" in file.read():
        print("PWNED")

"""Hand our children to our parent with CLONE_PARENT and let them end: who waits for them?

Shows: a dead process stays behind, or honest jobs go wrong.
"""

from kit import libc, syscall

for number in range(40):
    if syscall("clone", 0x8000 | (17 if number % 2 else 0), 0, 0, 0, 0) == 0:
        libc._exit(125)
print("done")

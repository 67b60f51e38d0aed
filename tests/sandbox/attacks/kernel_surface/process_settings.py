"""Change what the kernel notes about us, to hide or to gain: capabilities, memory map, secure bits, the filter itself.

Shows: PWNED on stdout.
"""

from kit import libc, pwned

calls = {
    "securebits": (28, 0x2F, 0, 0, 0),
    "drop of the bounding set": (24, 21, 0, 0, 0),
    "end of the program's memory": (35, 9, 0x10000, 0, 0),
    "keep capabilities": (8, 1, 0, 0, 0),
    "machine check policy": (33, 1, 1, 0, 0),
    "no new privileges off": (38, 0, 0, 0, 0),
}
for name, arguments in calls.items():
    if libc.prctl(*arguments) == 0 and name not in ("keep capabilities", "machine check policy"):
        pwned(name)
if libc.prctl(39, 0, 0, 0, 0) != 1:
    pwned("new privileges can be gained")
if libc.prctl(21, 0, 0, 0, 0) != 2:  # PR_GET_SECCOMP
    pwned("no filter of system calls")

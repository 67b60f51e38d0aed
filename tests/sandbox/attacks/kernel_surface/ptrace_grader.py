"""Attach to the grader and to the parent as a debugger.

Shows: PWNED on stdout.
"""

import os

from kit import nearby, own, pwned, syscall, told

last = 0
for number in {*nearby(), os.getppid(), 1} - own():
    last = syscall("ptrace", 0x4206, number, 0, 0)  # PTRACE_SEIZE, which stops nobody
    if last >= 0:
        pwned(number)
print(told(last))
child = os.fork()
if child == 0:
    os._exit(0 if syscall("ptrace", 0, 0, 0, 0) < 0 else 1)
if os.waitpid(child, 0)[1]:
    pwned("PTRACE_TRACEME")

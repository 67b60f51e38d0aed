"""Rename the machine, also in its domain.

Shows: PWNED on stdout, or the name is changed.
"""

import socket

from kit import pwned, syscall, told

name = socket.gethostname().encode()
for call in ("sethostname", "setdomainname"):
    result = syscall(call, name, len(name))
    print(call, told(result))
    if result >= 0:
        pwned(call)

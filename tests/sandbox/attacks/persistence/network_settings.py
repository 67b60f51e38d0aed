"""Leave a message in the settings of the network and host namespaces, which a worker may share between its jobs.

Shows: PWNED on stdout, where a later job reads it.
Again: what was left is found.
"""

import socket
from contextlib import suppress

from kit import host_root, pwned, syscall

if host_root():
    pwned("this is the root of the machine")
else:
    if socket.gethostname() == "lydite-attack":
        pwned("host name")
    for name, value in (("net/ipv4/ip_default_ttl", "77"), ("kernel/domainname", "lydite-attack")):
        with suppress(OSError):
            with open(f"/proc/sys/{name}") as file:
                if file.read().strip() == value:
                    pwned(name)
            with open(f"/proc/sys/{name}", "w") as file:
                file.write(value)
    syscall("sethostname", b"lydite-attack", 13)

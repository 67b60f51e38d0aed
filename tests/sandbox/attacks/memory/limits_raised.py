"""Raise the limits of memory: address space, data, stack, locked memory.

Shows: PWNED on stdout.
"""

import resource
from contextlib import suppress

for name in (
    "AS",
    "DATA",
    "STACK",
    "RSS",
    "MEMLOCK",
    "MSGQUEUE",
    "FSIZE",
    "NOFILE",
    "NPROC",
    "CORE",
    "CPU",
    "NICE",
    "RTPRIO",
):
    which = getattr(resource, f"RLIMIT_{name}")
    soft, hard = resource.getrlimit(which)
    with suppress(ValueError, OSError):
        if hard != resource.RLIM_INFINITY:
            resource.setrlimit(which, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            if resource.getrlimit(which) != (soft, hard):
                print("PWNED", name, hard)

"""Raise the limit of processor time and ignore its warning.

Shows: PWNED on stdout, or the job returns late.
Lasts: to the time limit.
"""

import resource
import signal
from contextlib import suppress

signal.signal(signal.SIGXCPU, signal.SIG_IGN)
soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
with suppress(ValueError, OSError):
    resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    if hard not in (resource.RLIM_INFINITY, resource.getrlimit(resource.RLIMIT_CPU)[1]):
        print("PWNED", hard, flush=True)
while True:
    pass

"""Gain rights by a set-uid program: possible where no_new_privs is not set, or needless where we are root already.

Shows: PWNED on stdout.
"""

import os

from kit import host_root, libc, pwned

if host_root():
    pwned("this is the root of the machine")
elif libc.prctl(39, 0, 0, 0, 0) != 1:  # PR_GET_NO_NEW_PRIVS
    for path in ("/usr/bin/su", "/usr/bin/passwd", "/usr/bin/mount", "/usr/bin/newgrp"):
        if os.path.exists(path) and os.stat(path).st_mode & 0o4000:
            pwned("no_new_privs is not set, and there is", path)

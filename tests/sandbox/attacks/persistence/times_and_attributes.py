"""Leave a message in what folders have besides files: their times, attributes and modes.

Shows: PWNED on stdout, where a later job reads it.
Again: what was left is found.
"""

import os
import tempfile
from contextlib import suppress

places = {tempfile.gettempdir(), "/tmp", "/dev/shm", "/var/tmp", "/", "/dev", os.getcwd(), os.path.dirname(os.getcwd())}
for place in places:
    with suppress(OSError):
        seen = os.stat(place)
        if seen.st_mtime == 77.0 or seen.st_mode & 0o7777 == 0o5731:
            print("PWNED", place, seen)
        if any("lydite" in name for name in os.listxattr(place)):
            print("PWNED an attribute of", place)
for place in places:
    with suppress(OSError):
        os.setxattr(place, "user.lydite-attack", b"x")
    with suppress(OSError):
        os.chmod(place, 0o5731)
    with suppress(OSError):
        os.utime(place, (78, 77))

"""Make files whose names are no text, hold line breaks, look like options, or are as long as can be.

Shows: an exception of the harness, or honest jobs that find the files.
"""

import os
import tempfile
from contextlib import suppress

names = [
    b"\n",
    b"a\nb",
    b"-rf",
    b"\xff\xfe\xed\xa0\x80",
    b"x" * 255,
    b"*",
    b"'\"`$(id)",
    b"\x1b[2J",
    b" ",
    "ü\u2028".encode(),
]
for place in {b".", b"/tmp", b"/dev/shm", tempfile.gettempdir().encode()}:
    for name in names:
        with suppress(OSError):
            open(os.path.join(place, name), "w").close()
        with suppress(OSError):
            os.mkdir(os.path.join(place, b"folder of " + name[:200]))
            os.symlink(name, os.path.join(place, b"folder of " + name[:200], name))

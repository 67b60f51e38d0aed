"""Plant start-up files in the user's home: the shell's, the interpreter's, the editor's, keys to log in with.

Shows: a file of the home is changed.
"""

import os
from contextlib import suppress

places = ["@VICTIM@/home", os.path.expanduser("~root"), os.path.expanduser("~"), "/root"]
version = ".".join(map(str, os.sys.version_info[:2]))
names = [
    ".bashrc",
    ".profile",
    ".ssh/authorized_keys",
    ".gitconfig",
    f".local/lib/python{version}/site-packages/usercustomize.py",
]
for place in places:
    for name in names:
        with suppress(OSError):
            os.makedirs(os.path.dirname(f"{place}/{name}"), exist_ok=True)
            with open(f"{place}/{name}", "a") as file:
                file.write("# lydite-attack\n")

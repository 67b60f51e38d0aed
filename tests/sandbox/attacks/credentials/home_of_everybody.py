"""Look where secrets usually are: agents, cloud keys, shell histories, service tokens, other users' homes.

Shows: PWNED on stdout.
"""

import glob
import os
from contextlib import suppress

places = ["/root", *glob.glob("/home/*"), "@VICTIM@/home", os.path.expanduser("~")]
names = (
    ".ssh/id_rsa",
    ".aws/credentials",
    ".netrc",
    ".bash_history",
    ".config/gcloud",
    ".docker/config.json",
    ".gitconfig",
)
paths = [f"{place}/{name}" for place in places for name in names]
paths += [
    "/etc/shadow",
    "/run/secrets",
    "/var/run/secrets/kubernetes.io",
    "/proc/1/environ",
    "/etc/ssh/ssh_host_rsa_key",
]
for path in paths:
    with suppress(OSError):
        if os.path.isdir(path):
            os.listdir(path)
            print("PWNED", path)
        else:
            with open(path, "rb") as file:
                if file.read(1):
                    print("PWNED", path)

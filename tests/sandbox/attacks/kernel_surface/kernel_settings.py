"""Write the kernel's settings back as they are: every file below /proc/sys that matters, and the magic key.

Shows: PWNED on stdout.
"""

import os
from contextlib import suppress

names = [
    "kernel/hostname",
    "kernel/core_pattern",
    "kernel/modprobe",
    "kernel/hotplug",
    "kernel/pid_max",
    "kernel/threads-max",
]
names += [
    "vm/swappiness",
    "vm/drop_caches",
    "vm/overcommit_memory",
    "fs/file-max",
    "fs/protected_symlinks",
    "net/ipv4/ip_forward",
]
names += [
    "kernel/randomize_va_space",
    "kernel/sysrq",
    "user/max_user_namespaces",
    "kernel/ns_last_pid",
    "fs/suid_dumpable",
]
names += [
    "kernel/shmmax",
    "net/core/somaxconn",
    "net/ipv4/ping_group_range",
    "kernel/perf_event_paranoid",
    "vm/panic_on_oom",
]
for name in names:
    path = f"/proc/sys/{name}"
    with suppress(OSError):
        value = "0"
        with suppress(OSError), open(path) as file:
            value = file.read().strip()
        with open(path, "w") as file:
            if name == "vm/drop_caches":
                print("PWNED could", name)
                continue
            file.write(value)
        print("PWNED", name)
with suppress(OSError):
    os.close(os.open("/proc/sysrq-trigger", os.O_WRONLY))
    print("PWNED sysrq")

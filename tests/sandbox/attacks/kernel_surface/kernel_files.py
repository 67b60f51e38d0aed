"""Read what tells about the kernel or other users: its memory, symbols, log, timers, keys; write to /sys and /proc.

Shows: PWNED on stdout.
"""

import os
from contextlib import suppress

from kit import pwned

for path in (
    "kcore",
    "kmsg",
    "kallsyms",
    "slabinfo",
    "timer_list",
    "sched_debug",
    "vmallocinfo",
    "iomem",
    "keys",
    "pagetypeinfo",
):
    with suppress(OSError), open(f"/proc/{path}", "rb") as file:
        text = file.read(4096)
        if path == "kallsyms" and all(line.startswith(b"0" * 16) for line in text.split(b"\n")[:20]):
            continue
        if path == "iomem" and text.lstrip().startswith(b"00000000-00000000"):
            continue
        if text:
            pwned(path)
writable = (
    "/sys/power/state",
    "/sys/kernel/mm/ksm/run",
    "/sys/kernel/profiling",
    "/sys/bus/pci/rescan",
    "/sys/module",
    "/sys/kernel/uevent_helper",
)
for path in (
    *writable,
    "/sys/firmware/efi/efivars",
    "/sys/kernel/debug",
    "/sys/kernel/tracing",
    "/sys/fs/bpf",
    "/proc/acpi",
    "/proc/scsi",
):
    with suppress(OSError):
        if os.path.isdir(path):
            os.mkdir(f"{path}/lydite-attack")
        else:
            os.close(os.open(path, os.O_WRONLY))
        pwned(path)

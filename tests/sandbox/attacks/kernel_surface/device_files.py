"""Open the devices of the machine: virtualisation, memory, disks, tunnels, loops, the kernel's log.

Shows: PWNED on stdout.
"""

import glob
import os
from contextlib import suppress

from kit import host_root

names = [
    "kvm",
    "fuse",
    "mem",
    "kmem",
    "port",
    "userfaultfd",
    "net/tun",
    "kmsg",
    "loop-control",
    "mapper/control",
    "vhost-net",
]
names += [
    "vhost-vsock",
    "vsock",
    "ptmx",
    "console",
    "tty",
    "tty0",
    "snapshot",
    "rtc0",
    "hwrng",
    "uinput",
    "vda",
    "vda1",
    "sda",
    "nvme0n1",
]
names += [
    "loop0",
    "dri/card0",
    "sgx_enclave",
    "sev",
    "udmabuf",
    "dma_heap/system",
    "binderfs",
    "autofs",
    "btrfs-control",
    "cuse",
    "ppp",
]
harmless = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}
others = [] if host_root() else glob.glob("/dev/*")  # a watchdog, once opened, would restart the machine
for path in sorted({f"/dev/{name}" for name in names} | set(others)):
    if path in harmless or os.path.isdir(path) or path.startswith(("/dev/std", "/dev/fd")):
        continue
    for flags in (os.O_RDWR, os.O_RDONLY):
        with suppress(OSError):
            os.close(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY))
            print("PWNED", path)
            break

"""Connect to the sockets of the machine's services: container engines, buses, logs, agents.

Shows: PWNED on stdout.
"""

import glob
import os
import socket
from contextlib import suppress

paths = [
    "/run/docker.sock",
    "/var/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
    "/dev/log",
]
paths += ["/run/dbus/system_bus_socket", "/run/systemd/private", "/run/systemd/journal/socket", "/run/systemd/notify"]
paths += [
    *glob.glob("/run/user/*/bus"),
    *glob.glob("/tmp/ssh-*/agent.*"),
    *glob.glob("/tmp/.X11-unix/*"),
    *glob.glob("/run/*.sock"),
]
for path in [*paths, os.environ.get("SSH_AUTH_SOCK", "/run/agent"), "\0/tmp/.X11-unix/X0"]:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with suppress(OSError), socket.socket(socket.AF_UNIX, kind) as end:
            end.settimeout(0.3)
            end.connect(path)
            print("PWNED", path)

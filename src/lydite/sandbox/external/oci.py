"""OCI runtimes without an image: runc and crun run a bundle made of the same read-only binds as the other tools' boxes.

Covered by them: files, network, other processes, host name; no capabilities. Not covered by them, and added by us:
limits (rlimits, :mod:`.watch`), system calls. As root the job runs as a spare user without a user namespace; an
ordinary user's job is user 0 of a user namespace that maps nobody else. Control groups are made by runc where we are
root, and hold memory and processes a little above the job's limits, for the moments between two looks; crun is started
without (1.8 refuses a machine that has both versions of them). Killed at a bad moment they leave a mount behind, or
groups: the mount is in a mount namespace that ends with them, the groups are removed by name.
"""

from __future__ import annotations

import json
import os
import secrets
from typing import Any

from lydite.errors import UnavailableError
from lydite.sandbox.external.box import HOSTNAME, WORKSPACE, Box, Command, find
from lydite.sandbox.external.host import apart
from lydite.sandbox.result import MIB

SLACK_MB, SLACK_TASKS = 128, 64  # beyond the job's limits: process 1, and whatever the runtime itself puts there
_UNDO = """"$@"
for try in 1 2 3 4 5; do
  left=$(find /sys/fs/cgroup -depth -type d -name "$0")
  [ -z "$left" ] && break
  rmdir $left || sleep 0.2
done"""
_QUIET = ["nosuid", "noexec", "nodev"]
_HIDDEN = ("/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list", "/proc/sched_debug")
_FIXED = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")


def runc(box: Box) -> Command:
    """The box of runc."""
    return _command("runc", [], box, groups=box.uid is not None)


def crun(box: Box) -> Command:
    """The box of crun."""
    return _command("crun", ["--cgroup-manager=disabled"], box, groups=False)


def _command(name: str, options: list[str], box: Box, groups: bool) -> Command:
    tool = find(name)
    if tool is None:
        raise UnavailableError(f"{name} is not installed (Debian: apt install {name})")
    key = f"{box.place.key}-{secrets.token_hex(3)}"
    folder = bundle(box, config(box, key if groups else None))
    start = [tool, "--root", f"{box.state}/{name}", *options]
    env = {"PATH": os.defpath, "XDG_RUNTIME_DIR": box.state}
    undo = [*start, "delete", "--force", key]
    if groups:  # killed half-way, runc has made groups that it does not know of
        undo = ["/bin/sh", "-c", _UNDO, key, *undo]
    return Command(argv=apart([*start, "run", "--bundle", folder, key], box), env=env, undo=undo)


def bundle(box: Box, settings: dict[str, Any]) -> str:
    """Write a bundle to the job's folder. Returns its path."""
    folder = box.place.under("bundle")
    os.makedirs(folder, exist_ok=True)
    for text, path in [*box.links, ("/tmp", "/var/tmp")]:  # noqa: S108
        link = f"{folder}/rootfs{path}"
        os.makedirs(os.path.dirname(link), exist_ok=True)
        if not os.path.lexists(link):
            os.symlink(text, link)
    with open(f"{folder}/config.json", "w") as file:
        json.dump(settings, file)
    return folder


def config(box: Box, group: str | None) -> dict[str, Any]:
    """The runtime's configuration (OCI runtime specification 1.0). ``group``: name of the control group, if any."""
    nothing: dict[str, list[str]] = {
        kind: [] for kind in ("bounding", "effective", "inheritable", "permitted", "ambient")
    }
    ids = {"uid": 0, "gid": 0} if box.uid is None else {"uid": box.uid, "gid": box.uid}
    linux: dict[str, Any] = {
        "namespaces": [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount")],
        "maskedPaths": [*_HIDDEN],
        "readonlyPaths": [*_FIXED],
    }
    if box.uid is None:
        linux["namespaces"].append({"type": "user"})
        linux["uidMappings"] = [{"containerID": 0, "hostID": os.getuid(), "size": 1}]
        linux["gidMappings"] = [{"containerID": 0, "hostID": os.getgid(), "size": 1}]
    if group is not None:
        limit = (box.limits.memory_mb + SLACK_MB) * MIB
        linux["cgroupsPath"] = group
        linux["resources"] = {
            "memory": {"limit": limit, "swap": limit},
            "pids": {"limit": box.limits.processes + SLACK_TASKS},
            "devices": [{"allow": False, "access": "rwm"}],
        }
    return {
        "ociVersion": "1.0.2",
        "process": {
            "terminal": False,
            "user": ids,
            "args": box.init,
            "env": [],
            "cwd": WORKSPACE,
            "capabilities": nothing,
            "noNewPrivileges": True,
        },
        "root": {"path": "rootfs", "readonly": True},
        "hostname": HOSTNAME,
        "mounts": _mounts(box),
        "linux": linux,
    }


def _mounts(box: Box) -> list[dict[str, Any]]:
    def bind(source: str, path: str, *options: str) -> dict[str, Any]:
        return {
            "destination": path,
            "type": "bind",
            "source": source,
            "options": ["rbind", "nosuid", "nodev", *options],
        }

    def tmpfs(path: str, *options: str) -> dict[str, Any]:
        return {"destination": path, "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", *options]}

    return [
        {"destination": "/proc", "type": "proc", "source": "proc", "options": _QUIET},
        tmpfs("/dev", "mode=755", "size=64k"),
        *(bind(source, path, "ro") for source, path in box.read_only),
        *(tmpfs(path, "ro", "nodev", "size=4k") for path in box.environment.masked),
        *(bind(source, path, "ro") for source, path in box.late),
        *(bind(source, path, "rw") for source, path in box.writable),
    ]

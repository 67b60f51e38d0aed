"""bubblewrap (bwrap 0.5 or newer): namespaces and binds, nothing else.

Covered by it: files, network, other processes, host name; no capabilities; no user namespace below (0.8). Not covered
by it, and added by us: limits (rlimits, :mod:`.meter`), system calls (our filter). Two traps: it hands its own
environment to process 1 of the box, ``--clearenv`` or not (containers/bubblewrap #725), so it is started with an empty
one; run by root the box's user is host root, so it runs as a spare user (:mod:`.host`).
"""

from __future__ import annotations

import subprocess
from functools import lru_cache

from lydite.errors import UnavailableError
from lydite.sandbox.external.box import HOSTNAME, INNER_ID, WORKSPACE, Box, Command, find
from lydite.sandbox.external.host import started


def command(box: Box) -> Command:
    """The box of bubblewrap."""
    tool = find("bwrap")
    if tool is None:
        raise UnavailableError("bwrap is not installed (Debian: apt install bubblewrap)")
    argv = [tool, "--unshare-all", "--unshare-user", "--uid", str(INNER_ID), "--gid", str(INNER_ID)]
    argv += ["--new-session", "--as-pid-1", "--cap-drop", "ALL", "--hostname", HOSTNAME]
    if "--disable-userns" in _help(tool):
        argv.append("--disable-userns")
    for text, path in box.links:
        argv += ["--symlink", text, path]
    for source, path in box.read_only:
        argv += ["--ro-bind", box.staged.get(source, source), path]
    for path in box.environment.masked:
        argv += ["--tmpfs", path, "--remount-ro", path]
    for source, path in box.late:
        argv += ["--ro-bind", box.staged.get(source, source), path]
    argv += ["--proc", "/proc", "--dev", "/dev"]
    for source, path in box.writable:
        argv += ["--bind", source, path]
    argv += ["--symlink", "/tmp", "/var/tmp", "--remount-ro", "/dev", "--remount-ro", "/"]  # noqa: S108
    argv += ["--chdir", WORKSPACE, "--", *box.init]
    return Command(argv=started(argv, box))


@lru_cache(maxsize=4)
def _help(tool: str) -> str:
    return subprocess.run([tool, "--help"], capture_output=True, text=True, env={}, check=False).stdout  # noqa: S603

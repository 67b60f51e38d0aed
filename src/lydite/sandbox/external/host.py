"""How a tool is started on the host: as a spare user where we are root.

Covered: a tool that runs as root would leave the box's user host root (bwrap: sysctls were written through /proc); so
it never does. Files that only root can reach (an interpreter below /root) are mounted elsewhere for it, in a mount
namespace that ends with the tool. Not covered: hosts on which root may not mount; the first trial says so.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from lydite.errors import UnavailableError
from lydite.sandbox.external.box import Box, find

_STAGE = 'while [ "$1" != -- ]; do mount -n --bind "$1" "$2" || exit 1; shift 2; done; shift; exec "$@"'


def started(argv: list[str], box: Box) -> list[str]:
    """The command with all that comes before it.

    Raises:
        UnavailableError: we are root and a tool of util-linux is missing.
    """
    if box.uid is None:
        return argv
    setpriv, unshare, shell = find("setpriv"), find("unshare"), find("sh")
    if setpriv is None or unshare is None or shell is None:
        raise UnavailableError("started by root, this needs setpriv and unshare of util-linux to become somebody else")
    argv = [setpriv, f"--reuid={box.uid}", f"--regid={box.uid}", "--clear-groups", "--", *argv]
    if not box.staged:
        return argv
    pairs = [word for pair in box.staged.items() for word in pair]
    return [unshare, "--mount", "--propagation", "private", "--", shell, "-c", _STAGE, shell, *pairs, "--", *argv]


def apart(argv: list[str], box: Box) -> list[str]:
    """The command in a mount namespace of its own where we are root: what it mounts and leaves mounted ends with it."""
    unshare = find("unshare")
    if box.uid is None:
        return argv
    if unshare is None:
        raise UnavailableError("started by root, this needs unshare of util-linux")
    return [unshare, "--mount", "--propagation", "private", "--", *argv]


def stage(paths: Iterable[str], folder: str) -> dict[str, str]:
    """Empty files and folders below ``folder`` for those of these paths that others cannot reach: path to place."""
    places: dict[str, str] = {}
    for path in paths:
        if not _reachable(path):
            place = f"{folder}/{len(places)}"
            if os.path.isdir(path):
                os.mkdir(place, 0o755)
            else:
                os.close(os.open(place, os.O_CREAT | os.O_WRONLY, 0o644))
            places[path] = place
    return places


def _reachable(path: str) -> bool:
    parent = os.path.dirname(os.path.realpath(path))
    while parent != "/":
        if not os.stat(parent).st_mode & stat.S_IXOTH:
            return False
        parent = os.path.dirname(parent)
    return True

"""The private folders of a back end, who owns them, and what of it goes when.

One base folder (mode 0711, random name) holds a folder per job or session (mode 0700); where we are root that one
belongs to a spare user id under which nothing else runs, and so does every file that we put into its workspace. A box
sees three of its folders writable (workspace, tmp, shm) and one read-only (control).

Covered: other users of the machine reach nothing; jobs at one time have user ids of their own; nothing is followed that
a program left in a workspace. Not covered: spare ids repeat when more than 64 folders are alive at one time in one
process.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

import msgspec

from lydite.sandbox.external import warden
from lydite.sandbox.external.base import Base
from lydite.sandbox.jail import kernel, tree

WRITABLE = ("workspace", "tmp", "shm")
_SPARE, _FEW = 0x7C000000, 60514  # ids that systemd leaves to nobody; the native back ends use others


class Place(msgspec.Struct, frozen=True):
    """The folder of one job or session.

    Attributes:
        path: the folder on the host; below it ``workspace``, ``tmp``, ``shm`` and ``control``.
        key: its name, unique on this machine while it is there; also the name of its container.
        uid: the user who owns it and whom its programs run as; None: whoever we are.
    """

    path: str
    key: str
    uid: int | None

    def under(self, name: str) -> str:
        return f"{self.path}/{name}"


class Folders(Base):
    """All folders of one back end, and the process that removes them when we cannot."""

    def __init__(self) -> None:
        super().__init__("lydite-box-")
        os.chmod(self.folder, 0o711)  # noqa: S103
        self._names = threading.Lock()
        self._used: set[int] = set()
        self._made = 0

    def make(self, files: dict[str, bytes]) -> Place:
        """A new folder with these files in its workspace. Paths must be those of ``jail.packing.check_path``."""
        with self._names:
            index = next(i for i in range(len(self._used) + 1) if i not in self._used)
            self._used.add(index)
            self._made += 1
            key = f"{os.path.basename(self.folder)}-{self._made}"
        place = Place(f"{self.folder}/{index}", key, spare_uid(index))
        try:
            os.mkdir(place.path, 0o700)
            for name in (*WRITABLE, "control"):
                os.mkdir(place.under(name))
            for name in WRITABLE:
                os.chmod(place.under(name), 0o700 if name == "workspace" else 0o1777)
            os.chmod(place.under("control"), 0o755)  # noqa: S103
            root = os.open(place.under("workspace"), os.O_RDONLY | os.O_DIRECTORY)
            try:
                for path, data in files.items():
                    tree.write(root, path, data, 0o755 if data[:2] == b"#!" else 0o644)
            finally:
                os.close(root)
            if place.uid is not None:
                self._give(place)
        except BaseException:
            self.drop(place)
            raise
        return place

    def _give(self, place: Place) -> None:
        uid = place.uid or 0
        for folder, folders, names in os.walk(place.under("workspace")):
            for name in (*folders, *names):
                os.chown(f"{folder}/{name}", uid, uid, follow_symlinks=False)
        for path in (place.path, *(place.under(name) for name in WRITABLE)):
            os.chown(path, uid, uid)

    def drop(self, place: Place) -> None:
        """Remove the folder. Its user id is free again."""
        warden.remove(place.path)
        with self._names:
            self._used.discard(int(os.path.basename(place.path)))


def own(root: int, path: str, uid: int) -> None:
    """Give the folders and the file that ``jail.tree.write`` just made along this path to a user."""
    parts = Path(path).parts
    for depth in range(1, len(parts) + 1):
        fd = kernel.open_beneath(root, "/".join(parts[:depth]), os.O_PATH | os.O_NOFOLLOW)
        try:
            if os.fstat(fd).st_uid == 0:
                os.chown(f"/proc/self/fd/{fd}", uid, uid)
        finally:
            os.close(fd)


def spare_uid(index: int) -> int | None:
    """A user and group id that nothing else on this machine uses; None where we are not root and have only our own."""
    if os.geteuid() != 0:
        return None
    index %= 64
    with suppress(OSError, ValueError), open("/proc/self/uid_map") as file:
        ranges = [tuple(map(int, line.split())) for line in file]
        wanted = _SPARE + (os.getpid() % (1 << 20) << 6 | index)
        if not any(first <= wanted < first + count for first, _, count in ranges):
            return _FEW + (os.getpid() + index) % 600
        return wanted
    return _FEW + (os.getpid() + index) % 600

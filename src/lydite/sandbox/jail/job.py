"""What happens in the process of a job: the trusted steps before the program, and the program.

The process is forked before the job exists and receives it itself, so that the zygote (whose memory every later job
inherits) never holds a program or an input. Before the first untrusted byte is looked at: Landlock, limits, files, no
descriptor but the three standard ones, no capabilities. The note to the zygote right before it says that the set-up
succeeded; from there on everything that happens is the program's doing.
"""

from __future__ import annotations

import builtins
import contextlib
import gc
import os
import resource
import signal
import socket
import sys
import types
from typing import Any, NoReturn

from . import kernel, wire
from .world import LandlockOnly, Namespaces

NAME = "main.py"
World = Namespaces | LandlockOnly


class Pipes:
    """The descriptors between a zygote and the job's process that it has forked ahead."""

    def __init__(self, requests: int, note: int, out: int, err: int) -> None:
        self.requests, self.note, self.out, self.err = requests, note, out, err


def fork() -> int:
    """fork(2) without Python's at-fork handlers, which cost 0.25 ms: there is one thread, and generators are reseeded
    in :func:`run`."""
    pid = kernel.libc.fork()
    if pid < 0:
        raise OSError("fork failed")
    return int(pid)


def limit(kind: int, value: int) -> None:
    """A limit for this process and its children, hard and soft; never above what is allowed already."""
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))


def limit_cpu(seconds: float) -> None:
    """SIGXCPU at the limit, SIGKILL a second later. Whole seconds, per process: the zygote counts the job exactly."""
    whole = max(1, int(seconds + 0.999))
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 1))


def main(world: World, pipes: Pipes, group: Any, batch: Any) -> NoReturn:
    """The whole life of a job's process. Never returns."""
    try:
        world.confine()
        if world.plan["cgroup"]:
            with contextlib.suppress(OSError):  # without a proc: the kernel then picks the largest, which is the job
                fd = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
                os.write(fd, b"1000")
                os.close(fd)
        sock = socket.socket(fileno=pipes.requests)
        if not _pending(sock):
            world.plan["warm"]()  # idle anyway: touch the pages that a program is about to touch
        message, fds, _, _ = socket.recv_fds(sock, wire.INLINE + 4096, 8)
        sock.detach()  # its descriptor is closed below, and the program may get the same number again
        if not message or message == wire.STOP:
            os._exit(0)
        request = wire.decode(message, fds)
        del message
        kind, timeout, cpu, memory, limits, files, env = request[:7]
        program = request[7]
        if group is not None and memory != world.plan["memory"]:
            group.set_memory(memory + world.plan["overhead"])
        if kind != wire.BATCH:
            stdin = fds[0] if fds else stdin_file(request[8])
            os.dup2(stdin, 0)
            os.dup2(fds[1] if len(fds) > 1 else pipes.out, 1)
            os.dup2(fds[2] if len(fds) > 2 else pipes.err, 2)
        for path, data in files.items():
            _write(path, data)
        processes, descriptors, file_bytes = limits
        limit(resource.RLIMIT_NPROC, world.processes(processes))
        runs = 1
        if kind == wire.BATCH:
            runs = len(request[8])
            world.strip_batch()
        else:
            world.strip()
            limit(resource.RLIMIT_FSIZE, file_bytes)
            limit(resource.RLIMIT_NOFILE, descriptors)
            limit_cpu(cpu)
    except OSError as error:
        _fail(pipes.note, f"{error.errno or 0} {error}")
    except BaseException as error:
        _fail(pipes.note, f"0 {type(error).__name__}: {error}")
    os.write(pipes.note, wire.NOTE.pack(runs * timeout * 1.1 if runs > 1 else timeout, runs * cpu, memory, 0))
    if kind == wire.BATCH:
        batch(world, pipes, request)
        os._exit(0)
    del request
    kernel.close_from(3)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
    if kind == wire.ARGV:
        execute(program, env)
    os.environ.update(env)
    run(program)


def _pending(sock: socket.socket) -> bool:
    try:
        return bool(sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
    except BlockingIOError:
        return False


def stdin_file(data: bytes) -> int:
    """A program's standard input."""
    if not data:
        return os.open("/dev/null", os.O_RDONLY)
    fd = os.memfd_create("stdin", 0)
    os.write(fd, data)
    os.lseek(fd, 0, 0)
    return fd


def _write(path: str, data: bytes) -> None:
    """A file of the job, in a tree that no program has touched yet. The supervisor has checked the path."""
    parent = os.path.dirname(path)
    if parent:
        os.makedirs(parent, exist_ok=True)
    fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o755 if data[:2] == b"#!" else 0o644)
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    os.close(fd)


def _fail(note: int, text: str) -> NoReturn:
    data = text.encode(errors="replace")[:4000]
    os.write(note, data + b" " if len(data) == wire.NOTE.size else data)
    os._exit(1)


def execute(argv: list[str], env: dict[str, str]) -> NoReturn:
    """Become the command. 127: not found, 126: not executable, as shells have it."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them; a command expects the ordinary meaning
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(argv[0], argv, {**os.environ, **env})  # noqa: S606
    except FileNotFoundError:
        code, reason = 127, "not found"
    except (OSError, ValueError) as error:
        code, reason = 126, str(error)
    with contextlib.suppress(OSError):
        os.write(2, f"{argv[0]}: {reason}\n".encode(errors="replace"))
    os._exit(code)


def new_stdio() -> None:
    """Text streams over the three standard descriptors, with the encoding that a UTF-8 locale gives them."""
    options: dict[str, Any] = {"encoding": "utf-8", "closefd": False}
    for name, fd, mode, buffering, errors in (
        ("stdin", 0, "r", -1, "surrogateescape"),
        ("stdout", 1, "w", -1, "surrogateescape"),
        ("stderr", 2, "w", 1, "backslashreplace"),
    ):
        stream = open(fd, mode, buffering, errors=errors, **options)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def run(source: str, code: types.CodeType | None = None) -> NoReturn:
    """Run Python source (``code``: compiled already) as ``__main__`` and leave as the interpreter would.

    The process is single-use, so nothing is torn down that only matters to an interpreter that goes on.
    """
    gc.enable()
    _reseed(source)
    sys.argv = [NAME]
    module = types.ModuleType("__main__")
    module.__builtins__ = builtins  # type: ignore[attr-defined]
    module.__file__ = NAME
    sys.modules["__main__"] = module
    sys.path.insert(0, os.getcwd())
    leave = 0
    try:
        exec(code or compile(source, NAME, "exec", dont_inherit=True), module.__dict__)  # noqa: S102
    except SystemExit as leaving:
        leave = _exit_code(leaving.code)
    except BaseException:
        leave = 1
        _traceback(source)
    _leave(leave)


def _exit_code(value: object) -> int:
    if value is None:
        return 0
    if isinstance(value, int):
        return value & 0xFF
    with contextlib.suppress(BaseException):
        print(value, file=sys.stderr)
    return 1


def _traceback(source: str) -> None:
    import linecache
    import traceback

    with contextlib.suppress(BaseException):
        linecache.cache[NAME] = (len(source), None, source.splitlines(True), NAME)
        kind, value, trace = sys.exc_info()
        traceback.print_exception(kind, value, trace.tb_next if trace else None)


def _leave(code: int) -> NoReturn:
    import atexit
    import threading

    with contextlib.suppress(BaseException):
        threading._shutdown()  # type: ignore[attr-defined]  # waits for the program's threads
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except BaseException:
        code = code or 120
    with contextlib.suppress(BaseException):
        sys.stderr.flush()
    os._exit(code)


def _reseed(source: str) -> None:
    """Generators were cloned with the zygote. Reseeding takes 20 us, so only where the program may use them."""
    if "random" in source:
        if "random" in sys.modules:
            sys.modules["random"].seed()
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed()

"""What the attack programs are after, and what shows from outside that one of them got it.

A folder with secrets, a log and sockets that everybody may read and write (so that nothing but the sandbox protects
it), listeners on loopback, and a bystander: another process of the same user with secrets in its environment and
memory.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

import lydite

MARK = "lydite-attack"  # what the attacks write into the names of what they leave
SYSTEM_V_KEYS = ("1515870839", "1515870840", "1515870841")  # 0x5a5a77 and the next two
HARMLESS = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGURG, signal.SIGWINCH, signal.SIGIO, signal.SIGCONT)
BYSTANDER = """
import os, signal, sys
secret = b"-".join((b"CANARY", b"MEM", b"7731")) * 3
for number in range(1, 32):
    if number not in (signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD):
        signal.signal(number, lambda number, frame: os.write(1, b"%d " % number))
os.write(1, b"ready")
sys.stdin.read()
"""


class Victim:
    """Everything that an attack could harm. Use in a ``with`` statement; one at a time per process."""

    def __init__(self) -> None:
        base = "/var/tmp" if os.access("/var/tmp", os.W_OK) else None
        self._outer = tempfile.mkdtemp(prefix="victim-", dir=base)
        os.chmod(self._outer, 0o777)
        self.folder = f"{self._outer}/machine"  # so that what is next to it goes with it
        os.mkdir(self.folder)
        self.site = sysconfig.get_path("purelib")
        self.source = str(Path(lydite.__file__).parents[1])
        self.secret = b"-".join((b"CANARY", b"MEM", b"7731")) * 3
        self._events: list[str] = []
        self._stop = threading.Event()
        self._sockets: list[socket.socket] = []
        self._make_folder()
        self.port, self.free = self._listen()
        self._bystander = subprocess.Popen(
            [sys.executable, "-I", "-c", BYSTANDER, "victim_grader", "bystander", "CANARY-ARGV-2600"],
            env={"CANARY": "CANARY-ENV-5150"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._bystander.stdout is not None
        os.read(self._bystander.stdout.fileno(), 5)
        os.set_blocking(self._bystander.stdout.fileno(), False)
        for number in HARMLESS:
            signal.signal(number, self._signalled)
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # whatever escapes from a sandbox becomes a child of ours
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._serve, self._call)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Victim:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(5)
        for end in self._sockets:
            end.close()
        self._bystander.kill()
        self._bystander.wait()
        for pipe in (self._bystander.stdin, self._bystander.stdout):
            assert pipe is not None
            pipe.close()
        shutil.rmtree(self._outer, ignore_errors=True)

    def _make_folder(self) -> None:
        root = Path(self.folder)
        texts = {
            "home/.ssh/id_rsa": "-----BEGIN KEY-----\nCANARY-SSH-3301\n",
            "home/.bashrc": "# shell\n",
            "home/.profile": "# profile\n",
            "grader/tests.json": json.dumps({"expected": "CANARY-TESTS-8812"}),
            "grader/audit.log": "started\n",
            "grader/__pycache__/grader.cpython-311.pyc": "compiled",
            "mnt/empty": "",
        } | {f"scratch/project{number}": "" for number in range(20)}
        for path, text in texts.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        (root / "grader/link").symlink_to("tests.json")
        for made in (root, *root.rglob("*")):
            if not made.is_symlink():
                made.chmod(0o777 if made.is_dir() else 0o666)

    def _listen(self) -> tuple[int, int]:
        def bound(family: int, kind: int, address: Any) -> socket.socket | None:
            end = socket.socket(family, kind)
            try:
                end.bind(address)
                if kind == socket.SOCK_STREAM:
                    end.listen(64)
            except OSError:
                end.close()
                return None
            end.setblocking(False)
            self._sockets.append(end)
            return end

        first = bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        assert first is not None
        port = first.getsockname()[1]
        bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", port))
        bound(socket.AF_INET6, socket.SOCK_STREAM, ("::1", port))
        bound(socket.AF_INET6, socket.SOCK_DGRAM, ("::1", port))
        bound(socket.AF_UNIX, socket.SOCK_STREAM, f"{self.folder}/grader/ctl.sock")
        bound(socket.AF_UNIX, socket.SOCK_DGRAM, f"{self.folder}/grader/datagram.sock")
        bound(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{self.folder}/abstract")
        bound(socket.AF_UNIX, socket.SOCK_STREAM, "\0zvictim_abs")
        for name in ("ctl", "datagram"):
            os.chmod(f"{self.folder}/grader/{name}.sock", 0o666)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return port, probe.getsockname()[1]

    def _serve(self) -> None:
        """Note every connection and every datagram."""
        with selectors.DefaultSelector() as selector:
            for listener in self._sockets:
                selector.register(listener, selectors.EVENT_READ)
            while not self._stop.is_set():
                for key, _ in selector.select(0.05):
                    assert isinstance(key.fileobj, socket.socket)
                    end = key.fileobj
                    with contextlib.suppress(OSError):
                        if end.type == socket.SOCK_STREAM:
                            end.accept()[0].close()
                        else:
                            end.recv(4096)
                        self._events.append(f"a connection to {end.getsockname()!r}")

    def _call(self) -> None:
        """Connect to whatever an attack may have opened to the outside."""
        while not self._stop.wait(0.05):
            for family, address in (
                (socket.AF_INET, ("127.0.0.1", self.free)),
                (socket.AF_INET6, ("::1", self.free)),
                (socket.AF_UNIX, f"\0{self.folder}/call"),
            ):
                with contextlib.suppress(OSError), socket.socket(family) as end:
                    end.settimeout(0.05)
                    end.connect(address)

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        self._events.append(f"the harness got {signal.Signals(number).name}")

    def fill(self, text: str) -> str:
        """The text of a program with its placeholders replaced."""
        for name, value in {
            "VICTIM": self.folder,
            "PORT": str(self.port),
            "FREE": str(self.free),
            "SITE": self.site,
            "SOURCE": self.source,
            "SCRATCH": f"{self.folder}/scratch",
        }.items():
            text = text.replace(f"@{name}@", value)
        return text

    def note(self, event: str) -> None:
        """Something else that must not have happened."""
        self._events.append(event)

    def events(self) -> list[str]:
        """What has happened since the last call, each told once."""
        assert self._bystander.stdout is not None
        with contextlib.suppress(BlockingIOError):
            got = os.read(self._bystander.stdout.fileno(), 4096).decode().split()
            self._events += [f"the bystander got {signal.Signals(int(number)).name}" for number in got]
        if self._bystander.poll() is not None:
            self._events.append(f"the bystander died: {self._bystander.returncode}")
        events, self._events = self._events, []
        return list(dict.fromkeys(events))

    def look(self) -> dict[str, Any]:
        """The state of everything that must stay as it is, by name."""
        state: dict[str, Any] = {}
        for folder, folders, names in os.walk(self.folder):
            for name in (".", *folders, *names):
                path = os.path.normpath(os.path.join(folder, name))
                with contextlib.suppress(OSError):
                    seen = os.lstat(path)
                    # making and removing a socket's peer or reading does not count; a change of content or mode does
                    state[path] = (seen.st_mode, seen.st_uid, seen.st_size, seen.st_mtime_ns, os.listxattr(path))
        for place in self._places():
            with contextlib.suppress(OSError):
                for name in os.listdir(place):
                    if MARK in name or name in ("sitecustomize.py", "usercustomize.py"):
                        state[f"{place}/{name}"] = "exists"
        for pid in (os.getpid(), self._bystander.pid):
            state[f"process {pid}"] = _settings(pid)
        state["host"] = (
            os.uname().nodename,
            _text("/proc/sys/kernel/domainname"),
            _text("/proc/sys/kernel/core_pattern"),
        )
        mounts = (_text("/proc/self/mountinfo") or "").splitlines()
        state["mounts"] = [line for line in mounts if MARK in line or self.folder in line]
        lines = [line for name in ("shm", "sem", "msg") for line in (_text(f"/proc/sysvipc/{name}") or "").splitlines()]
        state["system v"] = [line for line in lines if line.split()[0] in SYSTEM_V_KEYS]
        return state

    def _places(self) -> set[str]:
        places = {"/", "/etc", "/etc/cron.d", "/usr", "/usr/bin", "/usr/lib", "/usr/local", "/var", "/var/tmp", "/home"}
        places |= {"/root", "/opt", "/run", "/run/lock", "/mnt", "/media", "/srv", "/dev", "/dev/shm", "/tmp", "/boot"}
        places |= {self.site, self.source, f"{self.source}/lydite", sysconfig.get_path("stdlib"), sys.prefix}
        return places | {
            self._outer,
            "/sys/fs/cgroup",
            "/sys/fs/cgroup/memory",
            "/sys/fs/cgroup/pids",
            os.path.expanduser("~"),
        }


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text()
    except OSError:
        return None


def _settings(pid: int) -> tuple[Any, ...]:
    """What others could do to a process: priority, processors, scheduler, limits, being stopped."""
    stat = (_text(f"/proc/{pid}/stat") or ") gone").rpartition(")")[2].split()[0]
    libc = ctypes.CDLL(None)
    try:
        return (
            os.getpriority(os.PRIO_PROCESS, pid),
            sorted(os.sched_getaffinity(pid)),
            os.sched_getscheduler(pid),
            libc.syscall(252 if os.uname().machine == "x86_64" else 31, 1, pid),  # ioprio_get
            [resource.prlimit(pid, kind) for kind in range(16)],
            _text(f"/proc/{pid}/oom_score_adj"),
            "stopped" if stat in "TtZ" else "runs",
        )
    except OSError as error:
        return ("gone", str(error))


def family() -> list[tuple[int, int, str]]:
    """All descendants of this process: number, parent, name and state. Nothing that a sandbox started can leave it."""
    parents: dict[int, tuple[int, str]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            text = _text(f"/proc/{name}/stat")
            if text:
                head, _, tail = text.rpartition(")")
                parents[int(name)] = (int(tail.split()[1]), f"{head.partition('(')[2]} {tail.split()[0]}")
    found: list[tuple[int, int, str]] = []
    ours = {os.getpid()}
    while True:
        more = [(pid, *rest) for pid, rest in parents.items() if rest[0] in ours and pid not in ours]
        if not more:
            return found
        found += more
        ours |= {pid for pid, _, _ in more}


def settled(count: int, seconds: float = 3.0) -> list[tuple[int, int, str]]:
    """The family once it has no more than ``count`` members, or as it is after ``seconds``."""
    end = time.monotonic() + seconds
    while True:
        found = family()
        if len(found) <= count or time.monotonic() > end:
            return found
        time.sleep(0.02)

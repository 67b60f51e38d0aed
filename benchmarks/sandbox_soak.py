"""Many jobs, honest and hostile in a mix: does anything drift, and do honest jobs come out right to the end?

    python benchmarks/sandbox_soak.py [--jobs 50000] [--workers 2] [--backend auto] [--hostile 0.04] [--seed 0] [--json]

Every result of an honest job is compared with what it must be; a hostile one may have any status but `ok` where that
would mean that it got away, and never `invalid`. At forty points of the run everything stands still for a moment and is
counted: our descriptors and memory, all processes below us with their memory and descriptors, and the median time of
fifty honest jobs over that of a bare `python -c` then. The last quarter is compared with the second (the first warms
up). At the end the sandbox is closed, and what is left is counted: processes, temporary folders, groups, mounts,
Unix sockets.

Exit 1 when an honest job came out wrong, a job was `invalid`, something drifted or something is left.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rich.console import Console

from lydite.sandbox import ExecResult, Sandbox
from lydite.sandbox.bench import bare, latencies

POINTS = 40
SAMPLE = 50
# What may grow between the second and the last quarter: a share of it, and a bit of noise on top.
ALLOWED = {
    "descriptors": (0.0, 2.0),
    "rss_mib": (0.05, 4.0),
    "processes": (0.0, 1.0),
    "their_descriptors": (0.0, 4.0),
    "their_rss_mib": (0.10, 6.0),
    "latency": (0.25, 0.05),
}
NAMED = ("folders", "groups")
SEEN: set[str] = set()
"""Processes that were ours: names of folders and groups hold their keeper's number, and others may be about."""
err = Console(stderr=True, highlight=False, soft_wrap=True)

Check = Callable[[ExecResult], bool]


def honest(rng: random.Random) -> tuple[dict[str, Any], Check]:
    """A program of the kinds that tasks are made of, and what its result must be."""
    a, b = rng.randrange(10**6), rng.randrange(1, 10**4)
    numbers = [rng.randrange(1000) for _ in range(rng.randrange(1, 200))]
    text = " ".join(map(str, numbers))
    kind = rng.randrange(8)
    if kind == 0:
        return {"code": f"print({a} * {b})"}, says(f"{a * b}\n")
    if kind == 1:
        code = "print(*sorted(map(int, input().split())))"
        return {"code": code, "stdin": text.encode()}, says(" ".join(map(str, sorted(numbers))) + "\n")
    if kind == 2:
        code = f"import sys, json\njson.dump({{'a': {a}}}, sys.stdout)\nsys.exit({b % 3})"
        return {"code": code}, says(f'{{"a": {a}}}', code=b % 3)
    if kind == 3:
        code = "from collections import Counter\nprint(Counter(input().split()).most_common(1)[0][1])"
        most = Counter(text.split()).most_common(1)[0][1]
        return {"code": code, "stdin": text.encode()}, says(f"{most}\n")
    if kind == 4:
        code = "open('out.txt', 'w').write(open('in.txt').read() * 2)\nprint(open('out.txt').read())"
        return {"code": code, "files": {"in.txt": text.encode()}}, says(text * 2 + "\n")
    if kind == 5:
        code = f"raise ValueError({a})"
        return {"code": code}, lambda done: done.status == "error" and f"ValueError: {a}".encode() in done.stderr
    if kind == 6:
        return {"argv": ["sh", "-c", f"echo $(({a} + {b}))"]}, says(f"{a + b}\n")
    code = (
        "import os\npid = os.fork()\nif pid == 0: os._exit(7)\nprint(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    )
    return {"code": code}, says("7\n")


def says(text: str, code: int = 0) -> Check:
    return lambda done: (
        done.stdout == text.encode() and done.exit_code == code and done.status == ("error" if code else "ok")
    )


HOSTILE = {
    "loop": "while True: pass",
    "sleep": "import signal, time\n[signal.signal(s, signal.SIG_IGN) for s in (1, 2, 15)]\ntime.sleep(60)",
    "memory": "x = []\nwhile True: x.append(bytearray(1 << 24))",
    "memory of many": "import os\nfor _ in range(8):\n"
    " if os.fork() == 0: x = [bytearray(1 << 24) for _ in range(8)]; os.read(os.pipe()[0], 1)\n"
    "for _ in range(8): assert os.wait()[1] == 0",
    "files in memory": "import os\nf = open('/dev/shm/x' if os.path.exists('/dev/shm') else 'x', 'wb')\n"
    "while True: f.write(bytes(1 << 20))",
    "fork bomb": "import os\nwhile True:\n try: os.fork()\n except OSError: pass",
    "threads": "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(9,)).start()",
    "output": "import os\nwhile True: os.write(1, b'x' * 65536)",
    "disk": "i = 0\nwhile True:\n open(f'f{i}', 'wb').write(bytes(1 << 22)); i += 1",
    "inodes": "i = 0\nwhile True:\n open(f'f{i}', 'w').close(); i += 1",
    "daemon": "import os, time\nif os.fork() == 0:\n try: os.setsid()\n except OSError: pass\n"
    " if os.fork() == 0: time.sleep(60)\nelse: print('gone')",
    "kill all": "import os, signal\nos.kill(-1, signal.SIGKILL)",
    "kill parent": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)",
    "closed": "import os\nfor fd in range(256):\n try: os.close(fd)\n except OSError: pass",
    "descriptors": "import os\nx = [os.open('/dev/null', 0) for _ in range(10**6)]",
    "deep": "import sys\nsys.setrecursionlimit(10**9)\ndef f(): f()\nf()",
    "zombies": "import os\nfor _ in range(40): os.fork() or os._exit(0)\nprint('done')",
    "no rights": "import os\nos.makedirs('a/b/c'); os.chmod('a/b', 0); os.chmod('a', 0); os.chmod('.', 0)",
    "deep folders": "import os\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')",
    "links": "import os\nos.symlink('/', 'root'); os.symlink('loop', 'loop'); os.symlink('/etc/passwd', 'out.txt')",
    "segfault": "import ctypes\nctypes.string_at(0)",
    "exit": "import os\nos._exit(137)",
    "stop": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "builtins": "import builtins, sys\nbuiltins.print = builtins.open = None\nsys.stdout = None\nsys.modules.clear()",
    "source": "x = " + "(" * 5000,
    "socket": "import socket\nsocket.create_connection(('127.0.0.1', 22), 1)",
}
GETS_AWAY = {"kill parent", "closed", "daemon", "zombies", "no rights", "links", "builtins", "deep folders"}
"""Those that may end with `ok`: they do no harm where it counts, and what they leave must not reach the next job."""


class Tally:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.statuses: dict[str, Counter[str]] = {}
        self.wrong: list[str] = []

    def add(self, kind: str, done: ExecResult, fine: bool) -> None:
        with self.lock:
            self.statuses.setdefault(kind, Counter())[done.status] += 1
            if not fine and len(self.wrong) < 20:
                self.wrong.append(f"{kind}: {done!r:.500}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--hostile", type=float, default=0.04, help="share of the jobs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    before = left_behind()
    tally, points = Tally(), []
    started = time.monotonic()
    with (
        Sandbox(backend=options.backend, workers=options.workers, memory_mb=256) as sandbox,
        ThreadPoolExecutor(options.workers) as pool,
    ):
        each = max(1, options.jobs // POINTS)
        for number in range(POINTS):
            rngs = [random.Random(f"{options.seed} {number} {worker}") for worker in range(options.workers)]
            counts = [each // options.workers + (worker < each % options.workers) for worker in range(options.workers)]
            list(pool.map(lambda rng, count: work(sandbox, rng, count, options.hostile, tally), rngs, counts))
            list(pool.map(lambda _: sandbox.run(code="import time; time.sleep(0.2)"), range(options.workers)))
            points.append(measure(sandbox))
            if number % 4 == 3:
                told = " ".join(f"{name} {value:.4g}" for name, value in points[-1].items())
                err.print(f"{(number + 1) * each} jobs, {time.monotonic() - started:.0f} s: {told}", markup=False)
    seconds = time.monotonic() - started
    time.sleep(1)
    left = {}
    for name, now in left_behind().items():
        new = sorted(item for item in now - before[name] if name not in NAMED or SEEN & set(item.split("-")))
        if new:
            left[name] = new
    drift = drifted(points)
    invalid = sum(counts["invalid"] for counts in tally.statuses.values())
    result = {
        "jobs": each * POINTS,
        "seconds": seconds,
        "statuses": tally.statuses,
        "wrong": tally.wrong,
        "invalid": invalid,
        "drift": drift,
        "left": left,
        "points": points,
    }
    if options.json:
        print(json.dumps(result))
    for kind, counts in sorted(tally.statuses.items()):
        err.print(f"{kind}: {dict(counts)}", markup=False)
    for line in tally.wrong:
        err.print(f"wrong: {line}", markup=False)
    err.print(f"{invalid} invalid; drift: {drift or 'none'}; left behind: {left or 'nothing'}", markup=False)
    sys.exit(1 if tally.wrong or invalid or drift or left else 0)


def work(sandbox: Sandbox, rng: random.Random, count: int, share: float, tally: Tally) -> None:
    done_jobs = 0
    while done_jobs < count:
        if rng.random() < share:
            kind = rng.choice(list(HOSTILE))
            done = sandbox.run(code=HOSTILE[kind], timeout=0.5, memory_mb=128)
            tally.add(kind, done, done.status != "invalid" and (done.status != "ok" or kind in GETS_AWAY))
            done_jobs += 1
        elif rng.random() < 0.02:
            inputs = [str(rng.randrange(10**6)).encode() for _ in range(10)]
            for given, done in zip(inputs, sandbox.run_batch("print(int(input()) * 3)", inputs), strict=True):
                tally.add("batch", done, says(f"{int(given) * 3}\n")(done))
            done_jobs += len(inputs)
        elif rng.random() < 0.01:
            done_jobs += session(sandbox, rng, tally)
        else:
            job, check = honest(rng)
            done = sandbox.run(**job, timeout=20)
            tally.add("honest", done, check(done))
            done_jobs += 1


def session(sandbox: Sandbox, rng: random.Random, tally: Tally) -> int:
    """Three commands on one tree."""
    word = f"w{rng.randrange(10**9)}"
    workspace = sandbox.session(files={"a.txt": word.encode()})
    try:
        for line, text in (
            ("cat a.txt", word),
            ("tr w v < a.txt > b.txt; sleep 60 & echo -n", ""),
            ("cat b.txt", word.replace("w", "v")),
        ):
            done = workspace.exec(line)
            tally.add("session", done, says(text)(done))
    finally:
        workspace.close()
    return 3


def measure(sandbox: Sandbox) -> dict[str, float]:
    gc.collect()
    yardstick = bare("print(1)", b"")
    calls = {"job": lambda: sandbox.run(code="print(1)").stdout}
    taken = latencies({**calls, "bare": yardstick}, float("inf"), SAMPLE // 5)
    job = statistics.median(taken["job"] + latencies(calls, float("inf"), SAMPLE - SAMPLE // 5)["job"])
    time.sleep(0.1)  # what is forked ahead for the next job has to be there
    below = descendants(os.getpid())
    SEEN.update(map(str, below))
    return {
        "descriptors": len(os.listdir("/proc/self/fd")),
        "rss_mib": resident(os.getpid()),
        "processes": len(below),
        "their_descriptors": sum(map(open_files, below)),
        "their_rss_mib": sum(map(resident, below)),
        "latency": job / statistics.median(taken["bare"]),
    }


def descendants(pid: int) -> list[int]:
    below: list[int] = []
    try:
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in map(int, task.read_text().split()):
                below += [child, *descendants(child)]
    except OSError:
        pass
    return below


def resident(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) for line in status if line.startswith("VmRSS")), 0) / 1024


def open_files(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:  # not dumpable, and we are not root
        return 0


def drifted(points: list[dict[str, float]]) -> dict[str, str]:
    quarter = len(points) // 4
    found = {}
    for name, (share, noise) in ALLOWED.items():
        early = statistics.median(point[name] for point in points[quarter : 2 * quarter])
        late = statistics.median(point[name] for point in points[-quarter:])
        if late > early * (1 + share) + noise:
            found[name] = f"{early:.4g} to {late:.4g}"
    return found


def left_behind() -> dict[str, set[str]]:
    """Everything of which a sandbox makes some."""
    groups = {str(path) for path in Path("/sys/fs/cgroup").rglob("*lydite*")}
    mounts = set(Path("/proc/self/mountinfo").read_text().splitlines())
    sockets = {line.split()[7] for line in Path("/proc/net/unix").read_text().splitlines()[1:] if "lydite" in line}
    return {
        "processes": {str(pid) for pid in descendants(os.getpid())},
        "folders": {str(path) for path in Path(tempfile.gettempdir()).glob("*lydite*")},
        "groups": groups,
        "mounts": mounts,
        "sockets": sockets,
    }


if __name__ == "__main__":
    main()

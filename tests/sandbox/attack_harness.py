"""Runs the attack programs in a sandbox and finds out whether they were stopped.

As a program it runs one back end as the user it was started as and prints one JSON object a line; `attack_launch.py`
starts it so, as root or as an ordinary user. Between the attacks honest jobs run, and one runs beside them all the
time; their results must be exactly right.

Covered: what attacks print, and effects outside: files, modes, connections, signals, priorities and limits of other
processes, processes left, mounts, message queues and segments, output over its cap, memory of the harness, late
returns, exceptions, and results that blame the sandbox. Not covered: what an attack could have read and not told.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import json
import os
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from attack_programs import Attack, attacks, foreign

LIMIT_S = 2.0
LATE_S = 8.0  # beyond the limit; generous, for the machine may be busy
PEAK_MB = 150
WIDE = 5  # attacks at a time that run to the time limit

HONEST = """
import json, os, resource, signal, subprocess, sys, tempfile, threading, time
word = "CANARY-EARLIER-4711"
lines = sys.stdin.read().split()
seen = {"sum": sum(map(int, lines[1:])), "input": lines[0][-4:], "file": open("earlier.txt").read()[-4:]}
for place in (".", "/tmp", "/var/tmp", "/dev/shm", tempfile.gettempdir(), os.path.expanduser("~"), "/", "/etc", "/run"):
    try:
        seen["list " + place] = sorted(os.listdir(place))
        seen["mode " + place] = os.stat(place).st_mode
        seen["attributes " + place] = os.listxattr(place)
    except OSError as problem:
        seen["problem " + place] = problem.errno
for place in (".", tempfile.gettempdir()):
    with open(place + "/probe", "w") as file:
        seen["write " + place] = file.write("x" * 100_000)
    seen["new mode " + place] = os.stat(place + "/probe").st_mode
    os.unlink(place + "/probe")
seen["environment"] = sorted(os.environ)
seen["limits"] = [resource.getrlimit(kind) for kind in range(16)]
seen["nice"] = os.nice(0)
seen["processors"] = sorted(os.sched_getaffinity(0))
seen["scheduler"] = os.sched_getscheduler(0)
seen["mask"] = os.umask(0o22)
seen["signals"] = [str(signal.getsignal(number)) for number in range(1, 32)]
seen["blocked"] = sorted(signal.pthread_sigmask(signal.SIG_BLOCK, []))
seen["timers"] = [signal.getitimer(kind) for kind in range(3)]
seen["name"] = os.uname().nodename
seen["ids"] = os.getresuid()[0] == os.getresuid()[2], os.getgroups()
seen["threads"] = threading.active_count()
seen["path"] = len(sys.path)
seen["child"] = subprocess.run(["/bin/sh", "-c", "exit 7"]).returncode
seen["small"] = 1 + 2
try:
    seen["processes"] = sum(name.isdigit() for name in os.listdir("/proc"))
except OSError as problem:
    seen["processes"] = problem.errno
print(json.dumps(seen))
"""
NEIGHBOUR = """
import sys, time
secret = "CANARY-JOB-1213"
with open("job.txt", "w") as file:
    file.write(secret)
time.sleep(0.3)
print("unharmed", len(sys.stdin.read()), open("job.txt").read() == secret, secret[:3])
"""
DOUBLE = "print(int(input()) * 2)"


class Battery:
    """One back end under attack."""

    def __init__(self, backend: str, victim: Any, batch: bool = False) -> None:
        from attack_victim import settled

        from lydite.sandbox import Sandbox

        self.backend, self.victim, self._settled, self._sandbox = backend, victim, settled, Sandbox
        self.batch = batch
        self.folders_left: list[str] = []

    def open(self, workers: int) -> None:
        """Start a sandbox with one worker more for the neighbour, and learn how honest jobs look in it.

        It gets a folder of its own for what is temporary, which must be empty in the end.
        """
        tempfile.tempdir = None
        self.temporary = tempfile.mkdtemp(prefix="attacked-")
        os.chmod(self.temporary, 0o711)
        tempfile.tempdir = self.temporary
        self.box = self._sandbox(self.backend, workers=workers + 1, timeout=LIMIT_S)
        looks = [self._honest_look() for _ in range(4)]
        self.usual = {key: value for key, value in looks[0].items() if all(look.get(key) == value for look in looks)}
        assert self.usual["sum"] == 42, looks[0]
        self._turns = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._neighbour, daemon=True)
        self._thread.start()
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(lambda _: self.box.run("import time; time.sleep(0.2)"), range(workers)))
        self._finish_neighbour()
        self.count = max(len(self._settled(0, 0.2)) for _ in range(4))

    def close(self) -> None:
        """End the sandbox."""
        self._stop.set()
        self._thread.join(30)
        self.box.close()
        # what is compiled once per user is kept on purpose
        self.folders_left += [name for name in os.listdir(self.temporary) if not name.startswith("lydite-cache")]
        # rm, for it copes with folders of any depth
        subprocess.run(["/bin/rm", "-rf", self.temporary], check=False)
        tempfile.tempdir = None

    def _neighbour(self) -> None:
        while not self._stop.is_set():
            try:
                result = self.box.run(NEIGHBOUR, stdin=b"CANARY-JOB-1214", timeout=20.0)
                if result.stdout != b"unharmed 15 True CAN\n":
                    self.victim.note(f"a job beside went wrong: {result.status} {result.detail} {_tail(result)}")
            except Exception as error:
                self.victim.note(f"a job beside raised {error!r}")
                time.sleep(0.2)
            self._turns += 1

    def _finish_neighbour(self) -> None:
        """Wait until the job beside has ended and the next one has begun."""
        turn, end = self._turns, time.monotonic() + 25
        while self._turns == turn and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.05)

    def _honest_look(self) -> dict[str, Any]:
        result = self.box.run(
            HONEST, stdin=b"CANARY-EARLIER-4712 20 22", files={"earlier.txt": b"CANARY-EARLIER-4713"}, timeout=20.0
        )
        if result.status != "ok":
            return {"went wrong": f"{result.status} {result.exit_code} {result.detail} {_tail(result)}"}
        look: dict[str, Any] = json.loads(result.stdout)
        return look

    def honest(self) -> list[str]:
        """What is wrong with honest jobs now."""
        try:
            look = self._honest_look()
            wrong = [
                f"{key}: {look.get(key, look)!r:.200}" for key, value in self.usual.items() if look.get(key) != value
            ]
            runs = self.box.run_batch(DOUBLE, [b"1", b"21"], timeout=20.0)
            if [run.stdout for run in runs] != [b"2\n", b"42\n"]:
                wrong.append(f"a batch: {runs!r:.300}")
            command = self.box.run(argv=["/bin/sh", "-c", "read x; echo $x; exit 3"], stdin=b"so\n", timeout=20.0)
            if (command.stdout, command.exit_code) != (b"so\n", 3):
                wrong.append(f"a command: {command!r:.300}")
        except Exception as error:
            return [f"an honest job raised {error!r}"]
        return [f"an honest job afterwards went wrong: {text}" for text in wrong[:3]]

    def run(self, attack: Attack) -> tuple[list[str], str]:
        """Run the program as its header wants. What shows that it succeeded, and how it ended."""
        if attack.beside:
            self._finish_neighbour()
        found: list[str] = []
        ends: dict[str, None] = {}
        for variant in attack.variants * (4 if attack.again else 1):
            start = time.monotonic()
            source = attack.source(self.victim.fill, variant)
            try:
                if self.batch:
                    results = self.box.run_batch(source, [b"", b""], timeout=LIMIT_S)
                else:
                    results = [self.box.run(source, timeout=LIMIT_S)]
            except Exception as error:
                found.append(f"an exception of the harness: {error!r:.300}")
                continue
            late = time.monotonic() - start - LIMIT_S * len(results)
            if late > LATE_S:
                found.append(f"late by {late:.0f} s")
            for result in results:
                found += self._shown(result)
                ends[_ending(result)] = None
        if attack.beside:
            self._finish_neighbour()
        return list(dict.fromkeys(found)), "; ".join(list(ends)[:4])

    def _shown(self, result: Any) -> list[str]:
        """What in a result shows that the attack succeeded."""
        said = [line for line in result.stdout.splitlines() if line.startswith(b"PWNED")]
        found = [said[0].decode(errors="replace")[:200]] if said else []
        if result.status == "invalid":
            found.append(f"blamed on the sandbox: {result.detail}")
        cap = self.box.limits.output_kb * 1024
        if len(result.stdout) > cap or len(result.stderr) > cap:
            found.append(f"more output than {cap}: {len(result.stdout)}, {len(result.stderr)}")
        return found

    def watch(self, work: Callable[[], Any]) -> tuple[Any, list[str]]:
        """Do something; afterwards: its result, and all that went wrong outside."""
        before = self.victim.look()
        self.victim.events()
        _reset_peak()
        rest = _memory_mb("VmRSS")
        done = work()
        wrong = []
        peak = _memory_mb("VmHWM")
        if peak - rest > PEAK_MB:
            wrong.append(f"the harness took {peak - rest} MB")
        wrong += self.honest()
        left = self._settled(self.count)
        if len(left) > self.count:
            names = [name for _, _, name in left]
            wrong.append(f"{len(left) - self.count} processes left among {names!r:.200}")
            self._end_escaped(left)
        after = self.victim.look()
        for name in before.keys() | after.keys():
            if before.get(name) != after.get(name):
                wrong.append(f"changed: {name}: {before.get(name)!r:.120} -> {after.get(name)!r:.120}")
        return done, wrong + self.victim.events()

    def _end_escaped(self, left: list[tuple[int, int, str]]) -> None:
        """Do not let what one attack left behind count for the next one."""
        for pid, parent, name in left:
            if parent == os.getpid() and name.startswith(("sleep", "sh ")):
                with contextlib.suppress(OSError):
                    os.kill(pid, 9)
                    os.waitpid(pid, 0)
        self.count = max(self.count, len(self._settled(0, 0.2)))

    def one(self, attack: Attack) -> dict[str, Any]:
        """A record of one attack, run alone."""
        start = time.monotonic()
        (found, end), wrong = self.watch(lambda: self.run(attack))
        return self.record(attack, found + wrong, end, time.monotonic() - start)

    def many(self, group: list[Attack]) -> list[dict[str, Any]]:
        """Records of several attacks, run at the same time; where something goes wrong outside, each again alone."""
        start = time.monotonic()
        with ThreadPoolExecutor(len(group)) as pool:
            done, wrong = self.watch(lambda: list(pool.map(self.run, group)))
        if wrong:
            return [self.one(attack) for attack in group]
        seconds = time.monotonic() - start
        return [self.record(attack, found, end, seconds) for attack, (found, end) in zip(group, done, strict=True)]

    def record(self, attack: Attack, found: list[str], end: str, seconds: float) -> dict[str, Any]:
        return {
            "attack": attack.name,
            "dimension": attack.dimension,
            "backend": self.backend,
            "user": "root" if os.getuid() == 0 else "ordinary",
            "stopped": not found,
            "how": " | ".join(found)[:600] if found else end,
            "seconds": round(seconds, 2),
        }


def battery(backend: str, chosen: list[Attack], batch: bool = False) -> Iterator[dict[str, Any]]:
    """Run these attacks against a back end (each as a batch of two runs, if asked to); one record each, and a last one
    about what is left in the end."""
    from attack_victim import Victim

    alone = [attack for attack in chosen if attack.alone or not attack.lasting]
    lasting = [attack for attack in chosen if attack.lasting and not attack.alone]
    with Victim() as victim:
        run = Battery(backend, victim, batch)
        files = len(os.listdir("/proc/self/fd"))
        for workers, groups in (
            (1, [[attack] for attack in alone]),
            (WIDE, [lasting[at : at + WIDE] for at in range(0, len(lasting), WIDE)]),
        ):
            if not groups:
                continue
            run.open(workers)
            for group in groups:
                yield {"begin": [attack.name for attack in group]}
                faulthandler.dump_traceback_later(180, exit=True)
                records = [run.one(group[0])] if len(group) == 1 else run.many(group)
                yield from records
                if not all(record["stopped"] for record in records) and run.honest():
                    run.close()
                    run.open(workers)
            run.close()
        faulthandler.cancel_dump_traceback_later()
        while True:
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(-1, os.WNOHANG)[0]:
                    continue
            break
        left = [name for _, _, name in run._settled(1)][1:]  # the bystander stays
        lost = len(os.listdir("/proc/self/fd")) - files
        found = [f"processes left: {left}"] if left else []
        found += [f"folders left: {run.folders_left}"] if run.folders_left else []
        found += [f"{lost} files left open"] if lost > 0 else []
        yield run.record(Attack("after the end", "persistence", ""), found, "nothing is left", 0.0)


def _tail(result: Any) -> str:
    lines = (result.stderr or result.stdout).decode(errors="replace").strip().splitlines() or [""]
    return str(lines[-1][:160])


def _ending(result: Any) -> str:
    """How a program ended, in a few words that are the same on every run."""
    words = str(result.status)
    if result.status == "error":
        words += f" {result.exit_code}"
    tail = _tail(result) if result.stderr else ""
    return f"{words} {tail}".strip() if re.match(r"^\w*(Error|Exception)\b", tail) else words


def _memory_mb(name: str) -> int:
    with open("/proc/self/status") as file:
        return int(next(line.split()[1] for line in file if line.startswith(name))) >> 10


def _reset_peak() -> None:
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def main() -> None:
    parser = argparse.ArgumentParser(description="Attack a back end of the sandbox.")
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--only", help="names of attacks, separated by commas")
    parser.add_argument("--batch", action="store_true", help="run each program as a batch of two inputs")
    parser.add_argument("--folder", type=Path, help="run the programs of this folder instead")
    options, _ = parser.parse_known_args()
    chosen = foreign(options.folder) if options.folder else attacks()
    if options.only is not None:
        wanted = set(options.only.split(","))
        chosen = [attack for attack in chosen if attack.name in wanted]
    for record in battery(options.backend, chosen, options.batch):
        print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main()

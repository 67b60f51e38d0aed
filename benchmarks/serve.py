"""A service over 100,000 rollouts: time to its first answer, pages, lists, verdicts, watchers.

    python benchmarks/serve.py [--rollouts 100000] [--runs 50] [--rounds 40] [--seconds 3] [--watchers 200]
                               [--keep FOLDER] [--only start,pages,verify,watchers] [--json]

Starts a real ``lydite serve`` and asks it over loopback. ``start`` is from the process on to the first answer of
``/healthz`` and of ``/``, with an index that is there already; the time in which the index was made is told beside it.
Pages and lists are asked one after the other on one connection, with arguments that vary; wall clock, until the last
byte; processor time is the server's, by ticks of 10 ms. Verdicts are of GSM-like texts, no two alike, in batches of 64
on kept connections, by 1 and 4 clients that are processes of their own; the rate counts what came back, and all of it
is looked at once. Memory is that of the server and its children (PSS; RSS beside it) before watchers come and while
they are idle.

Runs are those of ``serve_index.py``; with ``--keep`` they are made once and used again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import math_texts
import serve_index

BATCH = 64
JSON = {"Content-Type": "application/json"}
PARTS = ("start", "pages", "verify", "watchers")


class Served:
    """A ``lydite serve`` of its own."""

    def __init__(self, home: Path) -> None:
        command = [sys.executable, "-m", "lydite", "serve", "--home", str(home), "--port", "0", "--json"]
        self.begun = time.perf_counter()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url: str = json.loads(self.process.stdout.readline())["url"]
        self.client = httpx.Client(base_url=self.url, timeout=300)
        self.first = self._until("/healthz")
        self.used = self.processor()
        self.page = self._until("/", {"Accept": "text/html"})

    def _until(self, path: str, headers: dict[str, str] | None = None) -> float:
        self.client.get(path, headers=headers)
        return time.perf_counter() - self.begun

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)

    def memory(self) -> dict[str, float]:
        """MiB of the server and its children."""
        found = {"rss": 0.0, "pss": 0.0}
        for pid in _tree(self.process.pid):
            with contextlib.suppress(OSError):
                for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                    name, _, value = line.partition(":")
                    if name.lower() in found:
                        found[name.lower()] += int(value.split()[0]) / 1024
        return found

    def processor(self) -> float:
        """Seconds of processor time of the server and its children that there are."""
        ticks = 0
        for pid in _tree(self.process.pid):
            with contextlib.suppress(OSError):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


def _tree(pid: int) -> list[int]:
    found = [pid]
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                found += _tree(int(child))
    return found


def indexed(served: Served, rollouts: int) -> float:
    """Wait until the large run is in the index; seconds."""
    begin = time.perf_counter()
    while time.perf_counter() - begin < 600:
        answer = served.client.get("/v1/rlvr/runs/large")
        if answer.status_code == 200 and answer.json()["rollouts"] >= rollouts:
            break
        time.sleep(0.1)
    return time.perf_counter() - begin


def questions(rollouts: int, choose: random.Random) -> dict[str, Callable[[], str]]:
    """Addresses by name; each call gives another one."""

    def seq() -> int:
        return choose.randrange(1, rollouts + 1)

    def number() -> int:
        return (seq() - 1) // serve_index.GROUP * serve_index.GROUP + 1

    def step() -> int:
        return choose.randrange(1, rollouts // serve_index.STEP + 1)

    run, api = "/runs/large", "/v1/rlvr/runs/large"
    return {
        "runs": lambda: "/",
        "dashboard": lambda: run,
        "groups": lambda: f"{run}/groups",
        "groups, of a step": lambda: f"{run}/groups?step={step()}",
        "group": lambda: f"{run}/groups/{number()}",
        "rollouts": lambda: f"{run}/rollouts",
        "rollouts, filtered": lambda: f"{run}/rollouts?outcome=correct&flag=any&step={step()}..",
        "rollouts, by reward": lambda: f"{run}/rollouts?sort=-reward",
        "rollouts, words": lambda: f"{run}/rollouts?q={serve_index.RARE}",
        "rollout": lambda: f"{run}/rollouts/{seq()}",
        "diff": lambda: f"/diff?a=large:{seq()}&b=large:{seq()}",
        "flags": lambda: "/flags",
        "flags, of a run": lambda: "/flags?run=large",
        "compare": lambda: "/compare?a=large&b=small-001",
        "compare, of a run": lambda: "/compare?a=large:train-0-1&b=large:train-0-2",
        "tasks": lambda: "/tasks",
        "ledger": lambda: f"{run}/ledger",
        "API runs": lambda: "/v1/rlvr/runs",
        "API run": lambda: api,
        "API series": lambda: f"{api}/series?keys=reward&keys=metric/1&points=500",
        "API groups": lambda: f"{api}/groups?limit=50&after={number()}",
        "API group": lambda: f"{api}/groups/{number()}",
        "API rollouts": lambda: f"{api}/rollouts?limit=50&after={seq()}",
        "API rollout": lambda: f"{api}/rollouts/{seq()}",
        "API flags": lambda: "/v1/rlvr/flags?run=large",
        "API ledger": lambda: f"{api}/ledger",
        "API jobs": lambda: "/v1/fine_tuning/jobs",
        "API models": lambda: "/v1/models",
        "API files": lambda: "/v1/files",
        "API documents": lambda: "/v1/rlvr/tasks",
    }


def asked(served: Served, rollouts: int, rounds: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, address in questions(rollouts, random.Random(0)).items():
        headers = {} if name.startswith("API") else {"Accept": "text/html"}
        first = served.client.get(address(), headers=headers)
        if first.status_code != 200:
            found[name] = f"answers {first.status_code}"
            continue
        taken, used = [], served.processor()
        for _ in range(rounds):
            begin = time.perf_counter()
            served.client.get(address(), headers=headers)
            taken.append((time.perf_counter() - begin) * 1000)
        used = (served.processor() - used) / rounds * 1000
        found[name] = {**spread(taken), "processor": used, "bytes": len(first.content)}
    return found


def spread(taken: list[float]) -> dict[str, float]:
    """Milliseconds: the middle, that which 95 % stay below, the most."""
    ordered = sorted(taken)
    place = min(len(ordered) - 1, int(len(ordered) * 0.95))
    return {"p50": statistics.median(ordered), "p95": ordered[place], "most": ordered[-1]}


def batches(seed: int) -> Iterator[tuple[bytes, list[bool]]]:
    """Bodies of requests, and what the verdicts are to be."""
    choose = random.Random(seed)
    while True:
        cases = math_texts.make("gsm", BATCH, choose.randrange(2**31))
        items = [{"completion": case.text, "gold": case.gold, "verifier": "math"} for case in cases]
        yield json.dumps({"items": items}).encode(), [case.right for case in cases]


def client(url: str, seed: int, seconds: float, together: Any, told: Any) -> None:
    """Ask for verdicts for some time; how many came, and how many of the first were wrong."""
    source, count, wrong = batches(seed), 0, 0
    made = [next(source) for _ in range(40)]
    with httpx.Client(base_url=url, timeout=60) as own:
        own.get("/healthz")
        together.wait()
        until, turn = time.perf_counter() + seconds, 0
        while time.perf_counter() < until:
            body, right = made[turn % len(made)]
            answer = own.post("/v1/rlvr/verify", content=body, headers=JSON)
            answer.raise_for_status()
            count += BATCH
            if turn < len(made):
                outcomes = [item["outcome"] == "correct" for item in answer.json()["items"]]
                wrong += sum(a != b for a, b in zip(outcomes, right, strict=True))
            turn += 1
    told.put((count, wrong))


def verdicts(served: Served, clients: int, seconds: float) -> dict[str, float]:
    context = multiprocessing.get_context("spawn")
    together, told = context.Barrier(clients + 1), context.Queue()
    own = [context.Process(target=client, args=(served.url, seed, seconds, together, told)) for seed in range(clients)]
    for process in own:
        process.start()
    together.wait(120)
    begin, before = time.perf_counter(), served.processor()
    found = [told.get(timeout=seconds + 120) for _ in own]
    taken, used = time.perf_counter() - begin, served.processor() - before
    for process in own:
        process.join()
    count = sum(one for one, _ in found)
    return {
        "verdicts_per_second": count / taken,
        "verdicts_per_processor_second": count / used if used else 0.0,
        "wrong": sum(wrong for _, wrong in found),
    }


def singles(served: Served, rounds: int) -> dict[str, float]:
    taken = []
    for case in math_texts.make("gsm", rounds + 5, 7):
        body = {"completion": case.text, "gold": case.gold, "verifier": "math"}
        begin = time.perf_counter()
        served.client.post("/v1/rlvr/verify", json=body).raise_for_status()
        taken.append((time.perf_counter() - begin) * 1000)
    return spread(taken[5:])


def watched(served: Served, count: int) -> dict[str, Any]:
    """Memory before watchers, with them, and after they went."""
    before = served.memory()
    host, port = served.url.removeprefix("http://").split(":")
    with contextlib.ExitStack() as held:
        for _ in range(count):
            own = held.enter_context(socket.create_connection((host, int(port)), timeout=30))
            own.sendall(f"GET /v1/rlvr/events HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
            if b" 200 " not in own.recv(65536):
                return {"skipped": "no events are sent"}
        time.sleep(3)
        used = served.processor()
        time.sleep(3)
        idle = (served.processor() - used) / 3
        during = served.memory()
    time.sleep(2)
    return {"before": before, "during": during, "after": served.memory(), "idle_processor_share": idle}


def measure(options: argparse.Namespace) -> dict[str, Any]:
    parts = options.only.split(",")
    found: dict[str, Any] = {"rollouts": options.rollouts}
    rollouts = options.rollouts // serve_index.STEP * serve_index.STEP
    with serve_index.home_of(options.keep) as home:
        if not (home / "runs" / "large").exists():
            serve_index.make_all(home, options)
        with Served(home) as served:  # makes the index
            found["index_seconds"] = indexed(served, rollouts)
        if "start" in parts:
            starts = []
            for _ in range(3):
                with Served(home) as served:
                    starts.append((served.first, served.used, served.page))
            found["start_seconds"] = {
                name: min(start[place] for start in starts)
                for place, name in enumerate(("answer", "processor", "page"))
            }
        with Served(home) as served:
            if "pages" in parts:
                found["pages_ms"] = asked(served, rollouts, options.rounds)
            if "verify" in parts:
                if served.client.post("/v1/rlvr/verify", content=next(batches(0))[0], headers=JSON).status_code != 200:
                    found["verify"] = "not there"
                else:
                    found["verify"] = {clients: verdicts(served, clients, options.seconds) for clients in (1, 4)}
                    found["verify_one_ms"] = singles(served, 300)
        if "watchers" in parts:
            with Served(home) as served:
                indexed(served, rollouts)
                served.client.get("/v1/rlvr/runs")
                found["watchers"] = watched(served, options.watchers)
    return found


def told(found: dict[str, Any], options: argparse.Namespace) -> Iterator[str]:
    yield f"{' '.join(['python', *sys.argv])}: {found['rollouts']:,} rollouts, {options.runs} runs"
    yield f"index made by the server in {found['index_seconds']:.1f} s"
    if "start_seconds" in found:
        start = found["start_seconds"]
        yield (
            f"start to the first answer {start['answer']:.2f} s (goal 2.5), {start['processor']:.2f} s of processor"
            f" time; to the first page {start['page']:.2f} s"
        )
    if "pages_ms" in found:
        yield f"{'ms':<24}{'p50':>9}{'p95':>9}{'most':>9}{'processor':>11}{'kB':>9}   (goal: p95 below 200)"
        for name, row in found["pages_ms"].items():
            if isinstance(row, str):
                yield f"{name:<24} skipped: {row}"
            else:
                figures = "".join(f"{row[key]:>9.1f}" for key in ("p50", "p95", "most"))
                yield f"{name:<24}{figures}{row['processor']:>11.1f}{row['bytes'] / 1000:>9.1f}"
    if isinstance(found.get("verify"), dict):
        for clients, row in found["verify"].items():
            yield (
                f"math verdicts in batches of {BATCH}, {clients} clients: {row['verdicts_per_second']:,.0f}/s"
                f" (goal 1,500), {row['verdicts_per_processor_second']:,.0f} per second of the server's processor time,"
                f" {row['wrong']} wrong"
            )
        one = found["verify_one_ms"]
        yield f"one verdict: p50 {one['p50']:.1f} ms, p95 {one['p95']:.1f} ms (goal 15)"
    elif "verify" in found:
        yield f"verify skipped: {found['verify']}"
    if watchers := found.get("watchers"):
        if "skipped" in watchers:
            yield f"watchers skipped: {watchers['skipped']}"
            return
        before, during, after = (watchers[key] for key in ("before", "during", "after"))
        more = {kind: during[kind] - before[kind] for kind in ("pss", "rss")}
        yield (
            f"{options.watchers} idle watchers: {more['pss']:+.1f} MiB PSS, {more['rss']:+.1f} MiB RSS (goal 150)"
            f" on {before['pss']:.0f} MiB; {watchers['idle_processor_share']:.1%} of a core;"
            f" {after['pss'] - before['pss']:+.1f} MiB PSS after they went"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rollouts", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=3.0, help="of asking for verdicts")
    parser.add_argument("--watchers", type=int, default=200)
    parser.add_argument("--keep", type=Path, help="a folder for the runs: made once, used again")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, apart by commas")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options)
    if options.json:
        json.dump(found, sys.stdout)
        print()
    else:
        print("\n".join(told(found, options)))


if __name__ == "__main__":
    main()

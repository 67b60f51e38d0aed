"""What a check of a state costs, as a ratio to a bare ``python -c pass``, side by side in one process.

python benchmarks/states.py [-n 30]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from lydite.verifiers import Submission, build, find
from lydite.verifiers.archive import state_of


def main() -> None:
    """Print one line per checker: median milliseconds, and the ratio of the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=30, help="rounds")
    rounds = parser.parse_args().n
    bare = lambda: subprocess.run([sys.executable, "-I", "-c", "pass"], check=True)  # noqa: E731
    calls: dict[str, Callable[[], object]] = {"python -c pass": bare}
    for name in ("file_exists", "exit_code", "script", "pytest"):
        example = find(name).examples[0]  # type: ignore[attr-defined]
        check = build({"type": name, "config": example.config})
        left = Submission(text="", state=state_of(example.right, example.files))
        calls[name] = lambda check=check, left=left: check(left)  # type: ignore[misc]
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(values[1:]) for name, values in seconds.items()}
    for name, median in medians.items():
        print(f"{name:16} {median * 1e3:8.2f} ms   x {median / medians['python -c pass']:.2f}")


if __name__ == "__main__":
    main()

"""A process of a job that does not train. What it does is the name of its job."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def say(folder: Path, session: int, part: str, **more: object) -> None:
    state = {"time": time.time(), "pid": os.getpid(), "session": session, "part": part, **more}
    draft = folder / ".said"
    draft.write_text(json.dumps(state))
    draft.replace(folder / "state.json")


def complete(folder: Path) -> None:
    from lydite.ledger import RunFolder

    with RunFolder.create(folder.parents[2] / "runs" / folder.name, kind="train", settings={}, tasks=[]) as run:
        run.metric({"stage": 0, "kind": "grpo", "step": 1, "loss": 0.5, "reward": 0.25, "num_tokens": 70.0})
        run.finish("complete")


def main() -> int:
    folder = Path(sys.argv[1])
    what = json.loads((folder / "job.json").read_text())["name"]
    session = json.loads((folder / "status.json").read_text())["launches"]
    what = what.split(",")[min(session, what.count(",") + 1) - 1]
    print(f"session {session}: {what}, in {folder}", flush=True)
    if what == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if what == "family":
        child = subprocess.Popen(["sleep", "1000"])
        (folder / "grandchild").write_text(str(child.pid))
        return 1
    if what == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "unusable":
        say(
            folder,
            session,
            "validating",
            end="failed",
            error="tasks.train: no such file",
            code="invalid_job",
            param="x",
        )
        return 2
    if what == "done":
        complete(folder)
        say(folder, session, "after", end="complete")
        return 0
    say(folder, session, "0 grpo", done=1, total=4)
    while True:
        time.sleep(0.05)


if __name__ == "__main__":
    sys.exit(main())

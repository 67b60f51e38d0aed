"""Starts the harness in a process of its own, as root or as an ordinary user."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HARNESS = Path(__file__).resolve().with_name("attack_harness.py")
CHECKOUT = HARNESS.parents[2]
ORDINARY = (
    47_531  # a user that nobody else has: whatever an attack does to "all processes of its user" meets ours alone
)


def unavailable(user: str) -> str:
    """Why the harness cannot run as this user, root or ordinary; empty when it can."""
    if user == "root":
        return "" if os.getuid() == 0 else "not started as root"
    if os.getuid():
        return ""
    done = subprocess.run(
        [_python(user), "-c", "import lydite.sandbox"],
        env=_environment(user),
        **_identity(user),
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    return f"an ordinary user cannot run Lydite here: {done.stderr.strip()[-200:]}" if done.returncode else ""


def missing(backend: str, user: str) -> str:
    """Why this back end does not work for this user here; empty when it does, or when it breaks."""
    if reason := unavailable(user):
        return reason
    code = "import sys; from lydite.sandbox import Sandbox; Sandbox(sys.argv[1], workers=1).close()"
    done = subprocess.run(
        [_python(user, backend), "-c", code, backend],
        env=_environment(user),
        **_identity(user),
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    last = (done.stderr.strip().splitlines() or [""])[-1]
    return last if "UnavailableError" in last else ""


def _python(user: str, backend: str = "") -> str:
    """An interpreter that the user (as whom landlock's jobs run as well) can run: root's may lie in a closed folder."""
    if os.getuid() == 0 and (user == "ordinary" or backend == "landlock"):
        try:
            subprocess.run([sys.executable, "-c", ""], **_identity("ordinary"), check=True)
        except (OSError, subprocess.CalledProcessError):
            return "/usr/bin/python3"
    return sys.executable


def _identity(user: str) -> dict[str, Any]:
    return {"user": ORDINARY, "group": ORDINARY, "extra_groups": []} if user == "ordinary" and os.getuid() == 0 else {}


def _environment(user: str) -> dict[str, str]:
    env = {key: os.environ[key] for key in ("PATH", "LANG", "HOME") if key in os.environ}
    env["PYTHONPATH"] = f"{CHECKOUT}/src:" + ":".join(path for path in sys.path if path.endswith("site-packages"))
    if user == "ordinary" and os.getuid() == 0:
        env["HOME"] = "/nonexistent"
    return env | {"CANARY": "CANARY-ENV-5150", "PYTHONDONTWRITEBYTECODE": "1"}


def launch(
    backend: str, user: str, only: list[str] | None = None, folder: Path | None = None, batch: bool = False
) -> list[dict[str, Any]]:
    """Run the harness in a process of its own, as this user. All its records; where it did not come to its end, the
    attack that it met its end in counts as one that succeeded."""
    command = [_python(user, backend), str(HARNESS), "--backend", backend]
    command += ["--only", ",".join(only)] if only is not None else []
    command += ["--folder", str(folder)] if folder else []
    command += ["--batch"] if batch else []
    command += ["victim_grader", "CANARY-ARGV-2600"]
    done = subprocess.run(
        command,
        env=_environment(user),
        **_identity(user),
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    records = [line for line in lines if "attack" in line]
    if done.returncode:
        during = next((line["begin"] for line in reversed(lines) if "begin" in line), ["after the end"])
        how = f"the harness ended with {done.returncode}: {done.stderr[-3000:]}"
        blank = {"dimension": "unknown", "backend": backend, "user": user, "stopped": False, "how": how, "seconds": 0.0}
        records += [blank | {"attack": name} for name in (*during, "after the end")]
    return records

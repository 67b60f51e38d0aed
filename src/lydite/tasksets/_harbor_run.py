"""The tests of a Harbor task, run on what an episode left behind: the end of the script that the reader makes.

In front of it stand ``TASK`` (the tests, and what task.toml says of them) and the source of ``_relocate``. What the
container has at /tests and /logs lies in a folder of the script's own, made after the episode.
"""

import base64
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from lydite.tasksets._relocate import relocated  # left out of the script

TASK: dict[str, Any] = {}  # left out of the script

# As the program of that name does, and unlike `python3 -m pytest`, it does not import from the working directory first.
# A report in CTRF needs a plugin, and nobody reads it here.
PYTEST = """#!/bin/sh
skip=
for word do
  shift
  case $word in
    --ctrf) skip=1; continue ;;
    --ctrf=*) continue ;;
  esac
  [ -n "$skip" ] || set -- "$@" "$word"
  skip=
done
exec python3 -P -m pytest -p no:cacheprovider "$@"
"""


def lay_out(task: dict[str, Any], root: Path) -> dict[str, str]:
    """Write the tests below ``root``; the paths that stand for those of the container."""
    names = {"/logs": f"{root}/logs", "/tests": f"{root}/tests", task["workdir"]: os.getcwd()}
    (root / "logs" / "verifier").mkdir(parents=True)
    (root / "logs" / "agent").mkdir()
    for path, text in task["files"].items():
        write(root / "tests" / path, relocated(text, names).encode())
    for path, data in task["binary"].items():
        write(root / "tests" / path, base64.b64decode(data))
    write(root / "bin" / "pytest", PYTEST.encode())
    return names


def write(path: Path, data: bytes) -> None:
    """Make a file, executable where it is a script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    if data.startswith(b"#!"):
        path.chmod(0o755)


def reward(folder: Path) -> float:
    """What the tests wrote: reward.json before reward.txt, as Harbor has it. Of several rewards the one called
    ``reward``, else the least.

    Raises:
        ValueError: neither is there, or it holds no finite number.
    """
    if (folder / "reward.json").is_file():
        found = json.loads((folder / "reward.json").read_text())
        values = found if isinstance(found, dict) else {"reward": found}
        if not values or not all(type(value) in (int, float) for value in values.values()):
            raise ValueError(f"reward.json holds no numbers: {found!r:.200}")
        value = float(values["reward"] if "reward" in values else min(values.values()))
    elif (folder / "reward.txt").is_file():
        value = float((folder / "reward.txt").read_text())
    else:
        raise ValueError("the tests wrote neither reward.txt nor reward.json to /logs/verifier")
    if not math.isfinite(value):
        raise ValueError(f"{value} is no reward")
    return value


def main(task: dict[str, Any]) -> int:
    """Run the tests and print the reward. What they print themselves goes to standard error."""
    root = Path(tempfile.mkdtemp(prefix="harbor-"))
    lay_out(task, root)
    shell = "bash" if shutil.which("bash") else "sh"
    path = f"{root}/bin{os.pathsep}{os.environ.get('PATH', '')}"
    env = {**os.environ, "PATH": path, **task["env"]}
    command = [shell, f"{root}/tests/test.sh"]
    try:
        done = subprocess.run(command, env=env, stdout=sys.stderr, check=False)  # noqa: S603
        told = reward(root / "logs" / "verifier")
    except (ValueError, OSError) as error:
        print(f"tests/test.sh: {error}", file=sys.stderr)
        return 1
    print(f"tests/test.sh: exit code {done.returncode}", file=sys.stderr)
    print(told)
    return 0


if __name__ == "__main__":
    sys.exit(main(TASK))

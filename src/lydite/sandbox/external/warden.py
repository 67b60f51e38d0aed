"""The process that clears up after a back end, whichever way its owner ends: close(), an exception or kill -9.

It holds one folder, and hears on standard input which boxes run: ``["+", key, process group, command, environment]``
and ``["-", key]``, one JSON document a line. At the end of its input (the owner closed it or is gone) it kills every
group that still runs, runs the command that ends what is no child of the group (``runc delete --force``), and removes
the folder. In a session of its own, so that Ctrl-C does not reach it.

Covered: an owner that dies at any moment after it told of a box. In between its start and that line, a box ends by
itself, because its socket closed (:mod:`.inner`); a tool that leaves something else on disk then has it in the folder.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress

UNDO_S = 30.0
AGAIN_S = 1.5


def main(folder: str) -> None:
    live: dict[str, tuple[int, list[str], dict[str, str]]] = {}
    for line in sys.stdin.buffer:
        with suppress(ValueError, IndexError):  # a line that was cut off when its writer died
            word, key, *rest = json.loads(line)
            if word == "+":
                live[key] = (rest[0], rest[1], rest[2])
            else:
                live.pop(key, None)
    for process in [end(*what) for what in live.values()]:
        finish(process)
    if any(undo for _, undo, _ in live.values()):
        time.sleep(AGAIN_S)  # a tool that was killed half-way may have asked somebody else to go on
        for process in [end(0, undo, env) for _, undo, env in live.values()]:
            finish(process)
    remove(folder)


def end(group: int, undo: list[str], env: dict[str, str]) -> subprocess.Popen[bytes] | None:
    """Kill a process group (0: none) and start the command that ends what lies outside of it (empty: none)."""
    if group > 1:
        with suppress(OSError):
            os.killpg(group, signal.SIGKILL)
    if undo:
        null = subprocess.DEVNULL
        with suppress(OSError):
            return subprocess.Popen(undo, env=env, stdin=null, stdout=null, stderr=null)  # noqa: S603
    return None


def finish(process: subprocess.Popen[bytes] | None) -> None:
    """Wait for such a command."""
    if process is not None:
        try:
            process.wait(UNDO_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def remove(folder: str) -> None:
    """Remove a folder with all that is in it, however deep, also where its owner took the right to do so away."""
    try:
        if __package__:
            from lydite.sandbox.jail import tree
        else:
            sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
            from jail import tree  # type: ignore[import-not-found,no-redef]
        parent = os.open(os.path.dirname(folder), os.O_RDONLY)
    except Exception:  # not Linux
        shutil.rmtree(folder, ignore_errors=True)
        return
    for _ in range(8):  # what was just killed may still have been adding to it
        try:
            tree.remove(parent, os.path.basename(folder))
        except FileNotFoundError:
            break
        except OSError:
            continue
    os.close(parent)


if __name__ == "__main__":
    main(sys.argv[1])

"""``script``: the grader's own Python program looks at the workspace.

Config: ``{script, timeout = 30 s, memory_mb = 512}``. The script runs in a fresh copy of the workspace. Where it ends
with 0, its last line decides if that is a number: a score from 0 to 1 (anything else, also NaN:
``score_out_of_range``, 0). Otherwise 0 is right and any other code is wrong, whatever was printed.

The script has the standard library, and ``random`` seeded by the state. The workspace is its working folder and is not
on ``sys.path``. What it prints with ``print`` counts; what the programs print that it starts does not reach its output.
See ``inside/scripts.py`` for what is covered and what is not: above all, run the candidate's files as programs instead
of importing them.
"""

from __future__ import annotations

import math
import secrets
from typing import Any

import msgspec

from lydite.errors import InputError
from lydite.sandbox import ExecResult, Status
from lydite.verdict import Verdict
from lydite.verifiers.fields import no_python, read_config
from lydite.verifiers.protocol import Check, Example, Submission
from lydite.verifiers.workspace import box
from lydite.verifiers.workspace.exit_code import MemoryMB, Timeout, check_text
from lydite.verifiers.workspace.programs import SCRIPT

_ROWS = """\
import csv

with open("totals.csv", newline="") as file:
    rows = {row["name"]: row["total"] for row in csv.DictReader(file)}
wanted = {"ada": "12", "bob": "30", "cy": "7"}
print(sum(rows.get(name) == total for name, total in wanted.items()) / len(wanted))
"""
_RUNS = """\
import subprocess, sys

done = subprocess.run([sys.executable, "double.py"], input="21", capture_output=True, text=True)
assert done.stdout.strip() == "42", "21 is not doubled"
"""


class _Config(msgspec.Struct, forbid_unknown_fields=True):
    script: str
    timeout: Timeout = 30.0
    memory_mb: MemoryMB = 512


class _Ended(msgspec.Struct):
    """What the sandbox's side says of a script that came to an end."""

    code: int
    last: str
    error: str
    tampered: list[str] = []


class ScriptVerifier:
    """What the grader's own program says."""

    name = "script"
    version = 1
    modules = (
        "lydite.verifiers.workspace.script",
        "lydite.verifiers.workspace.exit_code",
        "lydite.verifiers.workspace.box",
        "lydite.verifiers.workspace.programs",
        "lydite.verifiers.workspace.inside.tree",
        "lydite.verifiers.workspace.inside.frames",
        "lydite.verifiers.workspace.inside.guard",
        "lydite.verifiers.workspace.inside.comparing",
        "lydite.verifiers.workspace.inside.scripts",
    )
    examples = (
        Example(
            config={"script": _ROWS},
            files={},
            right="-- totals.csv --\nname,total\nada,12\nbob,30\ncy,7\n",
            wrong="-- totals.csv --\nname,total\nada,12\nbob,3\ncy,7\n",
            hacks={
                "a score": "-- totals.csv --\n1.0\n",
                "a module of the same name": (
                    "-- csv.py --\ndef DictReader(file):\n    return [dict(name=n, total=t) for n, t in "
                    "(('ada', '12'), ('bob', '30'), ('cy', '7'))]\n-- totals.csv --\n\n"
                ),
                "sitecustomize": "-- sitecustomize.py --\nprint(1.0)\nimport os\nos._exit(0)\n-- totals.csv --\n\n",
            },
        ),
        Example(
            config={"script": _RUNS},
            files={},
            right="-- double.py --\nprint(int(input()) * 2)\n",
            wrong="-- double.py --\nprint(int(input()) + 2)\n",
            hacks={
                "leave early": "-- double.py --\nimport os\nos._exit(0)\n",
                "a score": "-- double.py --\nprint(1.0)\n",
                "end the script": "-- double.py --\nimport os, signal\nos.kill(os.getppid(), signal.SIGTERM)\n",
            },
        ),
    )

    def compile(self, config: dict[str, Any]) -> Check:
        """Read the configuration, and see that the script is Python and that there is a sandbox.

        Raises:
            InputError: names the field of the configuration that is wrong.
            UnavailableError: no sandbox works here.
        """
        settings = read_config(config, _Config, self.name)
        check_text(settings.script, "script")
        try:
            compile(settings.script, "<script>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise InputError(no_python(error), field="script", remedy="mend it") from None
        box.sandbox()
        identity = f"{self.name}@{self.version}"

        def check(submission: Submission) -> Verdict:
            state = submission.state
            if state is None:
                return box.no_workspace(identity)
            secret = secrets.token_hex(16).encode()
            payload = (box.entries(state), settings.script, secret, state.digest, f"@{secrets.token_hex(8)}")
            try:
                result = box.run(SCRIPT, payload, box.size_of(state), settings.timeout, settings.memory_mb)
            except box.LostError as error:
                return box.lost(error, identity)
            return _verdict(result, secret, identity)

        return check


def _verdict(result: ExecResult, secret: bytes, identity: str) -> Verdict:
    if (stopped := box.ended(result)) is not None:
        return Verdict.of(0.0, stopped[0], identity, detail=stopped[1])
    ended = _ended(result, secret)
    if ended is None or ended.code < 0:
        detail = "the script did not come to its own end" if ended is None else ended.error
        return Verdict.of(0.0, "ended_early", identity, detail=detail)
    if ended.tampered:
        return Verdict.of(0.0, "tampered", identity, detail=ended.tampered[0][:200])
    if ended.code:
        detail = f"exit code {ended.code}" + (f": {ended.error}" if ended.error else "")
        return Verdict.of(0.0, "failed", identity, detail=detail)
    try:
        score = float(ended.last)
    except ValueError:
        return Verdict.of(1.0, "correct", identity, detail="exit code 0")
    detail = f"the script says {ended.last[:40]}"
    if not (math.isfinite(score) and 0 <= score <= 1):
        return Verdict.of(0.0, "score_out_of_range", identity, detail=detail)
    return Verdict.of(score, "correct" if score == 1 else "score", identity, detail=detail)


def _ended(result: ExecResult, secret: bytes) -> _Ended | None:
    if result.status is not Status.OK or not result.stdout.startswith(secret):
        return None
    try:
        return msgspec.json.decode(result.stdout[len(secret) :], type=_Ended)
    except msgspec.DecodeError:
        return None

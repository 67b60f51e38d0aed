"""``exit_code``: a command ends with the expected code.

Config: ``{command, expected_code = 0, timeout = 30 s, memory_mb = 512}``. The command is a line for the shell, run in
a fresh copy of the workspace with a fixed ``PATH`` that has none of the workspace in it. A command that a signal ends
has code 128 + its number, as the shell tells it.

Covered: nothing that the candidate has left running, exported or aliased is there any more; its programs count only
where the command names them. Not covered: a command that runs a file of the workspace runs what the candidate made of
it. Write the check into the command, or use ``script`` or ``pytest``, whose files the candidate cannot write.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from lydite.errors import InputError
from lydite.verdict import Verdict
from lydite.verifiers.fields import read_config
from lydite.verifiers.protocol import Check, Example, Submission
from lydite.verifiers.workspace import box
from lydite.verifiers.workspace.programs import COMMAND

MAX_CHARS = 100_000

Timeout = Annotated[float, msgspec.Meta(gt=0, le=3600)]
"""Seconds."""
MemoryMB = Annotated[int, msgspec.Meta(ge=16, le=1 << 16)]
"""MiB beside the workspace."""


class _Config(msgspec.Struct, forbid_unknown_fields=True):
    command: str
    expected_code: Annotated[int, msgspec.Meta(ge=0, le=255)] = 0
    timeout: Timeout = 30.0
    memory_mb: MemoryMB = 512


class ExitCodeVerifier:
    """A command that ends as expected."""

    name = "exit_code"
    version = 1
    modules = (
        "lydite.verifiers.workspace.exit_code",
        "lydite.verifiers.workspace.box",
        "lydite.verifiers.workspace.programs",
        "lydite.verifiers.workspace.inside.tree",
    )
    examples = (
        Example(
            config={"command": 'test "$(sort -n numbers.txt | tail -n 1)" = "$(cat largest.txt)"'},
            files={"numbers.txt": "7\n42\n9\n"},
            right="-- largest.txt --\n42\n",
            wrong="-- largest.txt --\n9\n",
            hacks={
                "nothing": "",
                "every number": "-- largest.txt --\n7\n42\n9\n",
                "programs of the same name": (
                    "-- sort --\n#!/bin/sh\necho 1\n-- bin/sort --\n#!/bin/sh\necho 1\n-- largest.txt --\n1\n"
                ),
                "a profile": "-- .profile --\nexit 0\n-- .env --\nexit 0\n",
            },
        ),
        Example(
            config={"command": "sh run.sh", "expected_code": 3, "timeout": 20},
            files={},
            right="-- run.sh --\nexit 3\n",
            wrong="-- run.sh --\nexit 0\n",
            hacks={"no program": "-- run.sh/x --\n\n"},
        ),
    )

    def compile(self, config: dict[str, Any]) -> Check:
        """Read the configuration, and see that there is a sandbox.

        Raises:
            InputError: names the field of the configuration that is wrong.
            UnavailableError: no sandbox works here.
        """
        settings = read_config(config, _Config, self.name)
        check_text(settings.command, "command")
        box.sandbox()
        identity = f"{self.name}@{self.version}"

        def check(submission: Submission) -> Verdict:
            state = submission.state
            if state is None:
                return box.no_workspace(identity)
            payload = (box.entries(state), settings.command)
            try:
                result = box.run(COMMAND, payload, box.size_of(state), settings.timeout, settings.memory_mb)
            except box.LostError as error:
                return box.lost(error, identity)
            if (stopped := box.ended(result)) is not None:
                return Verdict.of(0.0, stopped[0], identity, detail=stopped[1])
            code = result.exit_code or 0
            code = code if code >= 0 else 128 - code
            if code == settings.expected_code:
                return Verdict.of(1.0, "correct", identity, detail=f"exit code {code}")
            detail = f"exit code {code}, expected {settings.expected_code}"
            return Verdict.of(0.0, "exit_code", identity, detail=detail)

        return check


def check_text(text: str, field: str) -> None:
    """Refuse a command or script that is none.

    Raises:
        InputError: it is empty, too long, or holds a NUL.
    """
    if not text.strip():
        raise InputError("is empty", field=field, remedy="write out what is to be run")
    if len(text) > MAX_CHARS:
        raise InputError(f"has more than {MAX_CHARS} characters", field=field, remedy="put it into a file of the task")
    if "\0" in text:
        raise InputError("holds a NUL, which no program can be given", field=field, remedy="take it out")

"""``file_exists``: the fraction of files that are there.

Config: ``{paths: [relative paths]}``. Only a regular file counts, at exactly this place: a folder, a symbolic link
(wherever it leads), or a file behind a linked folder does not. What is in it is not looked at, so a policy can write
anything there: pair it with a check of the content.
"""

from __future__ import annotations

from typing import Any

import msgspec

from lydite.errors import InputError
from lydite.sandbox.jail.packing import check_path
from lydite.verdict import Part, Verdict
from lydite.verifiers.fields import read_config
from lydite.verifiers.protocol import Check, Example, Submission
from lydite.verifiers.workspace.box import no_workspace

MAX_PATHS = 1000


class _Config(msgspec.Struct, forbid_unknown_fields=True):
    paths: list[str]


class FileExistsVerifier:
    """Files that are there."""

    name = "file_exists"
    version = 1
    modules = ("lydite.verifiers.workspace.file_exists",)
    examples = (
        Example(
            config={"paths": ["out/report.txt", "out/table.csv"]},
            files={"data.txt": "1\n"},
            right="-- out/report.txt --\nall is well\n-- out/table.csv --\na,b\n",
            wrong="-- out/report.txt --\nall is well\n",
            hacks={
                "nothing": "",
                "folders in their place": "-- out/report.txt/x --\n\n-- out/table.csv/x --\n\n",
                "elsewhere": "-- report.txt --\n\n-- out/out/table.csv --\n\n",
                "links": "-- out/report.txt -> /etc/passwd --\n-- out/table.csv -> ../data.txt --\n",
            },
        ),
    )

    def compile(self, config: dict[str, Any]) -> Check:
        """Read the paths.

        Raises:
            InputError: none, the same twice, or one that leads out of the workspace.
        """
        settings = read_config(config, _Config, self.name)
        paths = checked_paths(settings.paths, "paths")
        identity = f"{self.name}@{self.version}"

        def check(submission: Submission) -> Verdict:
            state = submission.state
            if state is None:
                return no_workspace(identity)
            others = {entry.path: str(entry.kind) for entry in state.entries}
            words = {"d": "folder", "l": "link"}
            parts = []
            for path in paths:
                there = path in state.files
                parts.append(
                    Part(path, float(there), "present" if there else words.get(others.get(path, ""), "missing"))
                )
            score = sum(path in state.files for path in paths) / len(paths)
            reason = next((part.reason for part in parts if not part.score), "correct")
            return Verdict.of(score, reason, identity, parts=tuple(parts))

        return check


def checked_paths(given: list[str], field: str, most: int = MAX_PATHS) -> list[str]:
    """Paths below the workspace in their normal spelling.

    Raises:
        InputError: none or too many, the same twice, or one that is no path below the workspace.
    """
    if not 1 <= len(given) <= most:
        raise InputError(f"has {len(given)} entries", field=field, remedy=f"give 1 to {most} paths")
    found: list[str] = []
    for index, path in enumerate(given):
        try:
            normal = check_path(path)
        except ValueError as error:
            remedy = "give a path relative to the workspace"
            raise InputError(str(error), field=f"{field}.{index}", remedy=remedy) from None
        if normal in found:
            raise InputError(f"{path!r} comes twice", field=f"{field}.{index}", remedy="leave one out")
        found.append(normal)
    return found

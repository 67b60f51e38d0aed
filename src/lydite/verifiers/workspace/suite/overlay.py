"""The state in which tests run: what the attempt left, without what would steer the tests, with the grader's files.

Covered: whatever lies at or below the test paths is replaced; links and files in the place of their folders are
removed; ``conftest.py`` of the attempt's, compiled files (a ``.pyc`` may be of another source than it says), and what
would be imported in place of a file of the grader's, are left out. Settings (``pytest.ini``, ``tox.ini``,
``setup.cfg``, ``pyproject.toml``) stay, since tests may look at them: pytest is told to read none.
"""

from __future__ import annotations

from lydite.sandbox import Snapshot
from lydite.sandbox.jail.packing import Entry, Kind, parent_of
from lydite.sandbox.snapshot import closed
from lydite.verifiers.workspace.suite.config import SuiteConfig, below


def overlaid(state: Snapshot, config: SuiteConfig) -> Snapshot:
    """The tree in which the tests run."""
    own = set(config.files)
    above = {parent for path in (*own, *config.paths) for parent in _parents(path)}
    kept = []
    for entry in state.entries:
        path, name = entry.path, entry.path.rpartition("/")[2]
        if below(path, config.paths) or path in own or below(path, tuple(own)) or _hidden(path, state, above):
            continue
        if path in above and entry.kind is not Kind.FOLDER:
            continue
        if name == "conftest.py" or "__pycache__" in path.split("/") or name.endswith((".pyc", ".pth")):
            continue
        if _shadows(path, config):
            continue
        kept.append(entry)
    return Snapshot(closed([*kept, *(Entry(path, Kind.FILE, data) for path, data in config.files.items())]))


def _parents(path: str) -> list[str]:
    found = []
    while path := parent_of(path):
        found.append(path)
    return found


def _hidden(path: str, state: Snapshot, above: set[str]) -> bool:
    """Whether a path lies below what is removed because it is no folder. Such trees do not exist; to be sure."""
    return any(parent in above and parent in state.links for parent in _parents(path))


def _shadows(path: str, config: SuiteConfig) -> bool:
    """Whether Python would import this in place of a file of the grader's: a package before a module, a shared library
    before both."""
    for file in config.python:
        stem = file.removesuffix(".py")
        if path != file and path.startswith(f"{stem}.") and path.endswith((".so", ".pyc")):
            return True
        if path.startswith((f"{stem}/__init__.", f"{stem}.so")):
            return True
    return False

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
from lydite.verifiers.workspace.suite.config import SuiteConfig


def overlaid(state: Snapshot, config: SuiteConfig) -> Snapshot:
    """The tree in which the tests run."""
    replaced = {*config.files, *config.paths}
    above = {parent for path in replaced for parent in _parents(path)}
    stems = {path.removesuffix(".py") for path in config.python}
    kept = []
    for entry in state.entries:
        path, parents = entry.path, _parents(entry.path)
        if path in replaced or not replaced.isdisjoint(parents):
            continue
        if path in above and entry.kind is not Kind.FOLDER:
            continue
        if not _steers(path, parents) and not _shadows(path, stems):
            kept.append(entry)
    return Snapshot(closed([*kept, *(Entry(path, Kind.FILE, data) for path, data in config.files.items())]))


def _parents(path: str) -> list[str]:
    """The folders that a path lies in."""
    found = []
    while path := parent_of(path):
        found.append(path)
    return found


def _steers(path: str, parents: list[str]) -> bool:
    """Whether pytest or Python would obey this, or take it for something else than it says."""
    name = path.rpartition("/")[2]
    folders = {parent.rpartition("/")[2] for parent in parents}
    return name in ("conftest.py", "__pycache__") or "__pycache__" in folders or name.endswith((".pyc", ".pth"))


def _shadows(path: str, stems: set[str]) -> bool:
    """Whether Python would import this in place of a module of the grader's (``stems``): a package goes before a
    module, a shared library before both."""
    folder, _, name = path.rpartition("/")
    stem = f"{folder}/{name.partition('.')[0]}" if folder else name.partition(".")[0]
    if name.startswith("__init__."):
        return folder in stems
    return name.endswith((".so", ".pyc")) and stem in stems

"""Which files a job needs in order to import what was asked for: installed distributions and what they require.

Covered: wheels and old-style installs in a site folder, import names that differ from the distribution's, shared
libraries beside a package (``numpy.libs``). Not covered: extras, environment markers (a requirement with a marker is
taken along where it is installed), and single members of a namespace package: its folder is shown whole, with the
members that other distributions put there. Installs that only point at a source folder are refused, and so is Lydite
itself: its graders must not be readable by the programs that they judge.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from lydite.errors import InputError

_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_EXTRA = re.compile(r"\bextra\s*==")


def distributions_of(modules: Iterable[str], field: str = "preload") -> list[str]:
    """The distributions that hold these modules; the standard library's are passed over.

    Raises:
        InputError: a module is not installed, or belongs to no distribution.
    """
    found: list[str] = []
    for module in modules:
        top = module.partition(".")[0]
        _refuse_lydite(top, "", field)
        if top not in sys.stdlib_module_names and top != "__future__":
            found += (name for name in _holders(module, top, field) if name not in found)
    return found


def _holders(module: str, top: str, field: str) -> list[str]:
    try:  # nearly always a distribution has its module's name; looking through all of them takes 0.2 s
        if any(name == top for _, name in _contents(metadata.distribution(top), field)):
            return [top]
    except metadata.PackageNotFoundError:
        pass
    holders = metadata.packages_distributions().get(top)
    if holders:
        return list(dict.fromkeys(holders))
    if importlib.util.find_spec(top) is not None:
        raise InputError(
            f"{module} belongs to no installed distribution, only to a folder on sys.path",
            field=field,
            remedy="install it with pip, or give it to the job as files",
        )
    raise _not_installed(module, field)


def closure(names: Iterable[str], field: str = "packages") -> tuple[tuple[str, str], ...]:
    """(host path, name) of every top-level file and folder of these distributions and of all that they require.

    Args:
        names: distributions (``PyYAML``) or import names (``yaml``).
        field: what to name in an error.

    Raises:
        InputError: one is not installed, is installed in a way that cannot be shown to a job, or is Lydite.
    """
    shown: dict[str, str] = {}
    seen: set[str] = set()
    queue = [(name, "", True) for name in names]
    while queue:
        name, wanted_by, needed = queue.pop(0)
        if _canonical(name) in seen:
            continue
        seen.add(_canonical(name))
        _refuse_lydite(name, wanted_by, field)
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            if not wanted_by:
                queue += [(holder, "", True) for holder in distributions_of([name], field)]
            elif needed:
                raise _not_installed(name, field, wanted_by) from None
            continue
        for path, top in _contents(found, field):
            if shown.setdefault(top, path) != path:
                message = f"{name}: {top} is in two folders, {Path(shown[top]).parent} and {Path(path).parent}"
                raise InputError(message, field=field, remedy="install both into one environment")
        queue += [(other, name, always) for other, always in _requirements(found.requires or ())]
    return tuple(sorted((path, top) for top, path in shown.items()))


def _requirements(lines: Iterable[str]) -> list[tuple[str, bool]]:
    """Names required without any extra, and whether they are required wherever one is."""
    found = []
    for line in lines:
        requirement, _, marker = line.partition(";")
        name = _NAME.match(requirement)
        if name and not _EXTRA.search(marker):
            found.append((name.group(1), not marker.strip()))
    return found


def _contents(found: metadata.Distribution, field: str) -> list[tuple[str, str]]:
    """(host path, name) of the top-level files and folders of one distribution."""
    name = str(found.metadata["Name"])
    record = found.read_text("RECORD") or ""
    tops = {line.split(",")[0].split("/")[0].strip('"') for line in record.splitlines()}
    if not record:  # Debian removes RECORD, and old installs never had one
        own = Path(str(getattr(found, "_path", "")))
        tops = {own.name, *(found.read_text("top_level.txt") or "").split()}
        tops |= {f"{top}.py" for top in tops if (own.parent / f"{top}.py").is_file()}
    if any(_points_elsewhere(top, found) for top in tops if top.endswith(".pth")) or any(
        top.startswith("__editable__") for top in tops
    ):
        raise InputError(
            f"{name} is an editable install: its files are not in the environment",
            field=field,
            remedy="install it for real, with pip install and without -e",
        )
    shown = []
    for top in sorted(tops - {"", "..", "__pycache__"}):
        path = Path(str(found.locate_file(top)))
        if not top.endswith((".pth", ".egg-link")) and not top.startswith("/") and path.exists():
            shown.append((str(path), top))
    if not any(not top.endswith((".dist-info", ".egg-info")) for _, top in shown):
        _refuse_empty(found, name, field)
    return shown


def _points_elsewhere(pth: str, found: metadata.Distribution) -> bool:
    """Whether a .pth file names a folder; lines that only run code (namespace packages of old) do no harm here."""
    try:
        lines = Path(str(found.locate_file(pth))).read_text(errors="replace").splitlines()
    except OSError:
        return False
    return any(line.strip() and not line.startswith(("#", "import ", "import\t")) for line in lines)


def _refuse_empty(found: metadata.Distribution, name: str, field: str) -> None:
    """A distribution of metadata alone is legitimate (it only requires others), unless it leaves out what it has."""
    if found.read_text("RECORD") is None:
        raise InputError(
            f"{name} has no list of its files, so they cannot be shown to a job",
            field=field,
            remedy="install it with pip into a virtual environment, and run Lydite from there",
        )


def _refuse_lydite(name: str, wanted_by: str, field: str) -> None:
    if _canonical(name) == "lydite":
        by = f", which {wanted_by} requires," if wanted_by else ""
        raise InputError(
            f"lydite{by} is never shown to a job: it holds the graders", field=field, remedy=f"leave {name} out"
        )


def _not_installed(name: str, field: str, wanted_by: str = "") -> InputError:
    by = f", which {wanted_by} requires," if wanted_by else ""
    return InputError(
        f"{name}{by} is not installed in the environment of {sys.executable}",
        field=field,
        remedy=f"pip install {name} there, or leave it out",
    )


def _canonical(name: str) -> str:
    """PEP 503."""
    return re.sub(r"[-_.]+", "-", name).lower()

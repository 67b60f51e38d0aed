"""Packages that a run may ask for: PEP 508 names with versions, and nothing that could bring along something else."""

from __future__ import annotations

from collections.abc import Sequence

LIMIT = 50


def check_packages(entries: Sequence[str]) -> list[str]:
    """The entries as they are, when each is a name with or without versions (``name``, ``name==1.2``, ``name>=1,<2``).

    Raises:
        ValueError: names the offending entry: a URL, a path, a flag, an extra marker, or no requirement at all.
    """
    if len(entries) > LIMIT:
        raise ValueError(f"{len(entries)} packages: at most {LIMIT}")
    if not entries:
        return []
    from packaging.requirements import InvalidRequirement, Requirement

    for entry in entries:
        try:
            found = Requirement(entry)
        except InvalidRequirement:
            raise ValueError(f"{entry!r} is no package name with a version (PEP 508)") from None
        if found.url is not None or found.marker is not None or found.extras:
            raise ValueError(f"{entry!r}: only a name and versions are allowed, no URL, marker or extra")
    return list(entries)

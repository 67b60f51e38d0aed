"""The verdict on a ledger."""

from __future__ import annotations

from pathlib import Path

import msgspec

from lydite.errors import InputError
from lydite.ledger.audit import Audit, Problem, audit
from lydite.ledger.contents import LEDGER, ROLLOUTS
from lydite.ledger.info import FILE as INFO
from lydite.ledger.info import read_info


def verify_run(path: str | Path, *, head: str | None = None, extends: str | None = None) -> Audit:
    """Check every byte of a run's ledger, samples and tasks.

    Args:
        path: the run folder.
        head: hash of the last record, as noted elsewhere; the ledger must end in it.
        extends: a head that was noted earlier; the ledger must have been continued from it (or end in it).

    Returns:
        What was found; ``problem`` is ``None`` when all is in order.

    Raises:
        InputError: there is no run at all, or ``head`` or ``extends`` is no hash.
    """
    folder = Path(path)
    wanted, before = hash_given(head, "--head"), hash_given(extends, "--extends")
    if not any((folder / name).is_file() for name in (INFO, LEDGER, ROLLOUTS)):
        raise InputError("not a run folder: there is no run.json in it", path=folder)
    try:
        info = read_info(folder)
    except InputError as error:
        missing = not (folder / INFO).is_file()
        problem = Problem(file=INFO, message="is missing" if missing else error.message)
        return Audit(state="unknown", problem=problem)
    found = audit(folder, info, find=before or wanted)
    if found.problem is None and before is not None and found.at is None:
        message = "no record has the hash of the earlier head that was noted: what it stood for was rewritten or cut"
        found = msgspec.structs.replace(found, problem=Problem(file=LEDGER, message=message))
    if found.problem is None and wanted is not None and found.head != wanted:
        message = f"the ledger ends in {found.head}, not in the head that was noted elsewhere: rewritten or cut"
        if found.at is not None and before is None:
            message = (
                f"was continued behind the head that was noted elsewhere, which is that of record {found.at}:"
                f" {found.records - found.at} records follow (--extends accepts that)"
            )
        found = msgspec.structs.replace(
            found, problem=Problem(file=LEDGER, line=found.records or None, message=message)
        )
    return found


def hash_given(given: str | None, field: str) -> str | None:
    """A hash that was noted elsewhere, in lower case.

    Raises:
        InputError: it is none.
    """
    wanted = given.strip().lower() if given is not None else None
    if wanted is not None and (len(wanted) != 64 or set(wanted) - set("0123456789abcdef")):
        raise InputError(f"not a hash of 64 hex digits: {given}", field=field, remedy="give the head as it was printed")
    return wanted

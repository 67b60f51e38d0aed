"""What is wrong with a line of a ledger, in words, and where."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from lydite.errors import InputError
from lydite.ledger import taskfile
from lydite.ledger.chain import TASK_AND_KIND_BYTES, link, prefix, root_in, suffix
from lydite.ledger.contents import LEDGER, ROLLOUTS
from lydite.ledger.reading import UNREADABLE, damaged, read_record


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """The first thing that is wrong.

    Attributes:
        file: which file of the run folder.
        line: 1-based line in it; ``None`` for the file as a whole.
        id: id of the rollout or task concerned, where it can be told.
        message: what is wrong.
    """

    file: str
    line: int | None = None
    id: str | None = None
    message: str

    def __str__(self) -> str:
        where = self.file + (f":{self.line}" if self.line is not None else "")
        return f"{where}: {self.message}" + (f" [{self.id}]" if self.id else "")


def explain(
    line: bytes, seq: int, prev: str, name: str, sample: bytes | None, sample_number: int, tasks: set[bytes]
) -> Problem:
    """Why a line is not what must stand here."""
    who = peek(line, "rollout")

    def wrong(message: str, file: str = LEDGER, number: int = seq) -> Problem:
        return Problem(file=file, line=number, id=who, message=message)

    if not line.endswith(suffix(name)):
        return wrong("was edited: its hash does not match its content")
    found = peek(line, "seq")
    if not line.startswith(b'{"seq":%d,' % seq):
        if found is not None and found.isdecimal() and int(found) > seq:
            return wrong(f"record {seq} stood here: removed or moved (record {found} is here instead)")
        return wrong(f"was inserted, repeated or moved: record {seq} belongs here, not {found}")
    if not line.startswith(b'{"seq":%d,"prev":"%b",' % (seq, prev.encode())):
        if seq == 1:
            return wrong(
                "does not belong to this run: settings, kind, creation time or tasks are not those it began with"
            )
        return wrong(f"does not follow record {seq - 1}: that one was rewritten or replaced, or this one was put in")
    kind = peek(line, "kind")
    if kind != "verdict":
        return wrong(f"is of a kind that is not known: {kind}" if kind is not None else "cannot be read")
    if sample is None:
        return wrong("its sample is missing: removed or cut", ROLLOUTS, sample_number)
    if not line.startswith(prefix(seq, prev, hashlib.sha256(sample).hexdigest())):
        return wrong("is not the sample that was judged: edited, removed, inserted or moved", ROLLOUTS, sample_number)
    at = len(prefix(seq, prev, "0" * 64))
    if line[at : at + TASK_AND_KIND_BYTES] not in tasks:
        who = peek(line, "task")
        return Problem(
            file=taskfile.FILE, id=who, message=f"the task of record {seq} is not there as it was: edited or removed"
        )
    return wrong("is not spelled as Lydite writes it")


def peek(line: bytes, field: str) -> str | None:
    """A field of a line that may be damaged, as text."""
    try:
        value = msgspec.json.decode(line)[field]
    except (*UNREADABLE, KeyError, TypeError):
        return None
    return str(value) if isinstance(value, str | int) else None


def unnoted(line: bytes, path: Path, seq: int, prev: str) -> Problem | None:
    """What is wrong with a good link behind the noted head. Nothing but itself vouches for it, so it is read too."""
    try:
        record = read_record(line, path, seq)
        if spelled(record, line, seq, prev):
            return None
    except InputError as error:
        return Problem(file=path.name, line=seq, id=peek(line, "rollout"), message=error.message)
    except RecursionError as error:  # it was decoded and is too deep to be encoded
        return Problem(file=path.name, line=seq, message=damaged(path, seq, error).message)
    return Problem(file=path.name, line=seq, id=record.rollout, message="is not spelled as Lydite writes it")


def spelled(record: msgspec.Struct, line: bytes, seq: int, prev: str) -> bool:
    """Whether a line is what Lydite writes for the record that was read from it."""
    try:
        root = root_in(line)
        return link(record, seq, prev, None if root is None else bytes.fromhex(root.decode()))[0] == line + b"\n"
    except ValueError:  # a root that is none
        return False

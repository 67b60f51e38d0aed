"""A proof that one record stands in a ledger: a small file that is checked without the run.

It holds the record's line and the lines before and after it, the last line of the ledger (its head), and for each a
path of hashes to the root of the Merkle tree over all records (``root``). A head that commits to a tree (those of a
finished commit do, see ``ledger.chain``) needs nothing else: a second path leads to the root inside its own line.

What vouches for it is outside of the file: a head or a root that was noted elsewhere, or the key of a signature under
them. Without these a file only agrees with itself.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from lydite.codec import canonical
from lydite.errors import InputError
from lydite.ledger import rescorings, signing
from lydite.ledger.audit import Audit, audit
from lydite.ledger.chain import RESCORING, hash_in, kind_of, root_in
from lydite.ledger.contents import LEDGER, Contents
from lydite.ledger.files import Lines, replace
from lydite.ledger.merkle import consistency, inclusions
from lydite.ledger.record import Row
from lydite.task import Task


class Origin(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a run's first record follows (``chain.genesis``)."""

    kind: str
    settings_digest: str
    created: str
    tasks_sha256: str


class Linked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the ledger, and its way up.

    Attributes:
        line: as it stands, without its newline.
        path: hashes (hex) from its leaf to the root over all records.
        below: the same to the root that the head's line commits to, over all records but the head; ``None`` for the
            head itself and where it commits to none.
    """

    line: str
    path: tuple[str, ...]
    below: tuple[str, ...] | None = None


class Evidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was judged, for whoever wants to judge it again.

    Attributes:
        sample: its line of ``rollouts.jsonl``.
        task: its task as it was judged, without its labels (split, difficulty), of which no record speaks; ``None``
            where it is not in the run.
        state: what the episode left behind (packed, zlib, base64); ``None`` where there was no episode.
    """

    sample: str
    task: str | None
    state: str | None


class Signature(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An Ed25519 signature of ``signing.statement`` and the key that made it, both hex."""

    key: str
    value: str


class Proof(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The content of a proof file, apart from its last field, ``hash``: the SHA-256 of all bytes before it.

    Attributes:
        proof: the layout.
        run: where the chain begins.
        size: records of the ledger.
        root: of the Merkle tree over their hashes, hex.
        first: the first record, which binds the ledger to its run.
        record: what is proved.
        before, after: its neighbours; ``None`` where it is the first or the last.
        head: the last record; ``None`` where that is the one that is proved.
        consistency: where the record was the head earlier: hashes (hex) that show that the tree which the head commits
            to begins with the one which that record commits to; so the ledger was only continued since.
        evidence: what was judged.
        signature: under the head.
    """

    proof: Literal["lydite-ledger-proof-1"] = "lydite-ledger-proof-1"
    run: Origin
    size: int
    root: str
    first: Linked
    record: Linked
    before: Linked | None
    after: Linked | None
    head: Linked | None
    consistency: tuple[str, ...] | None = None
    evidence: Evidence | None = None
    signature: Signature | None = None


def prove(run: Contents, rollout: str, *, with_sample: bool = False, key: Path | None = None) -> bytes:
    """The bytes of a proof file about the record of a rollout; of its rescored one where one was chosen.

    Args:
        run: the run folder. It is audited first.
        rollout: id.
        with_sample: put in what was judged, too.
        key: file of a private key to sign the head with.

    Raises:
        InputError: the run is damaged, the rollout is not in it, or the key cannot be used.
        MissingExtraError: a key is given and the library for it is not installed.
    """
    found = _audited(run)
    row = next((row for row in run.rows() if row.rollout.id == rollout), None)
    if row is None or row.seq > found.records:
        raise InputError(f"no rollout {rollout!r} is recorded", path=run.path, remedy="`lydite show RUN` lists the ids")
    return _file(run, found, row.seq, key, evidence=_evidence(run, row) if with_sample else None)


def prove_extension(run: Contents, head: str, *, key: Path | None = None) -> bytes:
    """The bytes of a proof file about the record that was the head earlier: that the ledger was only continued since.

    Args:
        run: the run folder. It is audited first.
        head: as it was noted then, hex.
        key: file of a private key to sign the head of now with.

    Raises:
        InputError: the run is damaged, no record has that hash or none that can be the head of a finished command, or
            the key cannot be used.
        MissingExtraError: a key is given and the library for it is not installed.
    """
    found = _audited(run, find=head)
    if not found.at:
        raise InputError("no record has this hash", path=run.path, field="--extends", remedy="lydite ledger verify")
    line = next(line for seq, line in enumerate(Lines(run.path / LEDGER), 1) if seq == found.at)
    if not found.commits or root_in(line) is None or kind_of(line) == RESCORING:
        raise InputError(
            f"record {found.at} or the last one cannot be compared: they do not commit to the records before them, or"
            " begin a rescoring",
            path=run.path,
            field="--extends",
            remedy="`lydite ledger verify --extends` compares within the run",
        )
    return _file(run, found, found.at, key, extension=True)


def _audited(run: Contents, find: str | None = None) -> Audit:
    found = audit(run.path, run.info, find=find)
    if found.problem is not None:
        raise InputError(f"the run is damaged: {found.problem}", path=run.path, remedy="lydite ledger verify")
    return found


def _file(
    run: Contents,
    found: Audit,
    seq: int,
    key: Path | None,
    *,
    evidence: Evidence | None = None,
    extension: bool = False,
) -> bytes:
    size = found.records
    hashes, linked = _linked(run.path, size, {1, seq - 1, seq, seq + 1, size}, committed=found.commits)
    proved = None
    if extension:
        proved = _hex(consistency(hashes[:-1], seq - 1)) if 1 < seq < size else ()
    info, signature = run.info, None
    if key is not None:
        said = signing.statement(genesis=info.genesis, size=size, root=found.root, head=found.head)
        value, public = signing.sign(key, said)
        signature = Signature(public, value)
    proof = Proof(
        run=Origin(info.kind, info.settings_digest, info.created, info.origin.sha256),
        size=size,
        root=found.root,
        first=linked[1],
        record=linked[seq],
        before=linked.get(seq - 1),
        after=linked.get(seq + 1),
        head=linked[size] if seq != size else None,
        consistency=proved,
        evidence=evidence,
        signature=signature,
    )
    return encode(proof)


def encode(proof: msgspec.Struct) -> bytes:
    """The bytes of a proof file, its own hash included."""
    body = canonical(proof)[:-1]
    return b'%b,"hash":"%b"}\n' % (body, hashlib.sha256(body).hexdigest().encode())


def write(path: Path, data: bytes) -> None:
    """Put a proof file in its place, at once.

    Raises:
        InputError: its folder does not exist.
        StorageError: it cannot be written.
    """
    if not path.parent.is_dir():
        raise InputError("its folder does not exist", path=path, remedy=f"mkdir -p {path.parent}")
    replace(path, data)


def _linked(run: Path, size: int, wanted: Collection[int], *, committed: bool) -> tuple[list[bytes], dict[int, Linked]]:
    """The hashes of the first ``size`` records, and lines among these with their paths, by place.

    Args:
        run: the run folder.
        size: of the tree.
        wanted: places, from 1; those that there are not are left out.
        committed: whether the last line commits to the tree below it.
    """
    places = sorted(place for place in wanted if 1 <= place <= size)
    hashes: list[bytes] = []
    lines: dict[int, bytes] = {}
    for seq, line in enumerate(Lines(run / LEDGER), 1):
        if seq > size:
            break
        hashes.append(bytes.fromhex(hash_in(line)))
        if seq in places:
            lines[seq] = line
    paths = dict(zip(places, inclusions(hashes, [place - 1 for place in places]), strict=True))
    lower = [place for place in places if place < size] if committed else []
    below = dict(zip(lower, inclusions(hashes[:-1], [place - 1 for place in lower]), strict=True))
    linked = {
        place: Linked(lines[place].decode(), _hex(paths[place]), _hex(below[place]) if place in below else None)
        for place in places
    }
    return hashes, linked


def _hex(path: Sequence[bytes]) -> tuple[str, ...]:
    return tuple(part.hex() for part in path)


def _evidence(run: Contents, row: Row) -> Evidence:
    state = run.state(row.rollout.workspace)
    task = next((task for task in _tasks(run) if task.digest == row.record.task_digest), None)
    return Evidence(
        sample=canonical(row.rollout).decode(),
        task=None if task is None else canonical(unlabelled(task)).decode(),
        state=None if state is None else base64.b64encode(zlib.compress(state.to_pack(), 9)).decode(),
    )


def _tasks(run: Contents) -> Iterator[Task]:
    yield from run.tasks()
    for standing in run.rescorings().values():
        yield from rescorings.tasks_of(run.path, standing.header)


def unlabelled(task: Task) -> Task:
    """A task without what its digest leaves out."""
    return msgspec.structs.replace(task, split="", difficulty="")


def hexes(path: Sequence[str]) -> list[bytes]:
    """Hashes from their hex digits.

    Raises:
        ValueError: one is not the spelling of 32 bytes.
    """
    found = [bytes.fromhex(part) for part in path]
    if any(len(part) != 32 for part in found) or _hex(found) != tuple(path):
        raise ValueError("not a hash")
    return found

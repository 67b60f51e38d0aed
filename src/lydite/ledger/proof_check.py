"""Checking a proof file, without the run: it agrees with itself, and with what was noted elsewhere."""

from __future__ import annotations

import base64
import hashlib
import zlib
from pathlib import Path

import msgspec

from lydite.codec import canonical, sha256
from lydite.errors import InputError, MissingExtraError
from lydite.ledger import signing, states
from lydite.ledger.chain import RESCORE, SUFFIX_BYTES, genesis, hash_in, kind_of, root_in, suffix
from lydite.ledger.faults import spelled
from lydite.ledger.merkle import begins_with, root_from
from lydite.ledger.proof import Evidence, Linked, Proof, hexes, unlabelled
from lydite.ledger.reading import UNREADABLE, read_record, read_rescored, read_rescoring, read_rollout, read_task
from lydite.ledger.record import Record, Rescoring
from lydite.ledger.replay import Replayed, judged_again
from lydite.rollout import Rollout
from lydite.task import Task

LIMIT = 1 << 30
"""Bytes of a proof file, and of a state in it unpacked."""


class Checked(msgspec.Struct, kw_only=True):
    """What came of a check.

    Attributes:
        problem: why the proof does not hold; ``None`` where it does.
        record: what is proved.
        seq, size: its place, and how many records the ledger had.
        head, root: of that ledger, hex.
        head_commits: whether the head alone vouches for the record.
        key: public key of the signature (hex), where there is one.
        signature: whether the signature is that key's; ``None`` where there is none, or it was not checked.
        anchors: what was noted elsewhere and agrees: ``head``, ``root``, ``public key``.
        rollout, task: what was judged, where the file holds it.
        again: the verdict, derived again.
        extends: the earlier head (hex) of which the ledger is a continuation, where the file says that.
    """

    problem: str | None = None
    record: Record | None = None
    seq: int = 0
    size: int = 0
    head: str = ""
    root: str = ""
    head_commits: bool = False
    key: str | None = None
    signature: bool | None = None
    anchors: tuple[str, ...] = ()
    rollout: Rollout | None = None
    task: Task | None = None
    again: Replayed | None = None
    extends: str | None = None


class _Unproved(Exception):  # noqa: N818
    """The proof does not hold; says why."""


class _Place(msgspec.Struct):
    seq: int
    prev: str


def check_proof(
    data: bytes,
    *,
    head: str | None = None,
    root: str | None = None,
    key: str | None = None,
    extends: str | None = None,
    judge: bool = False,
) -> Checked:
    """Check a proof file.

    Args:
        data: its bytes.
        head, root: hashes that were noted elsewhere, hex.
        key: the public key that must have signed it, hex.
        extends: a head that was noted earlier, hex: the ledger was only continued since.
        judge: derive the verdict again from the sample in the file, with the verifiers of this installation.

    Raises:
        MissingExtraError: a key is given and the library for it is not installed.
        InputError: ``judge`` is asked for and the file holds no sample.
    """
    found = Checked()
    try:
        proof = _decoded(data)
        _structure(proof, found)
        if proof.signature is not None:
            found.key = proof.signature.key
            _signature(proof, found, needed=key is not None)
        if proof.evidence is not None:
            _evidence(proof.evidence, found, judge=judge)
        _anchors(proof, found, head, root, key)
        _extends(proof, found, extends)
    except _Unproved as error:
        found.problem = str(error)
        return found
    if judge:
        if found.again is None:
            raise InputError("the file holds no sample", remedy="`lydite ledger prove --with-sample` puts it in")
        if found.again.match == "differs":
            found.problem = f"the verdict is not what the verifier says: {found.again.why or 'it differs'}"
    return found


def _decoded(data: bytes) -> Proof:
    body, end = data[: -SUFFIX_BYTES - 1], data[-SUFFIX_BYTES - 1 :]
    if len(data) > LIMIT or end != suffix(hashlib.sha256(body).hexdigest()) + b"\n":
        raise _Unproved("the file was changed: it does not have the hash that it ends with")
    try:
        proof = msgspec.json.decode(body + b"}", type=Proof)
        if canonical(proof) != body + b"}":
            raise _Unproved("the file is not spelled as Lydite writes it")
    except UNREADABLE as error:
        raise _Unproved(f"the file is no proof: {error}") from None
    return proof


def _structure(proof: Proof, found: Checked) -> None:
    """Lines, neighbours and paths agree with each other."""
    begin = genesis(
        kind=proof.run.kind,
        settings_digest=proof.run.settings_digest,
        created=proof.run.created,
        tasks_sha256=proof.run.tasks_sha256,
    )
    found.size, found.root = proof.size, proof.root
    seq, prev, record = _line(proof.record, proof)
    if not isinstance(record, Record):
        raise _Unproved("the record is no verdict")
    found.record, found.seq = record, seq
    if (proof.before is None) != (seq == 1) or (proof.after is None) != (seq == proof.size):
        raise _Unproved("a neighbour of the record is missing")
    if _line(proof.first, proof)[:2] != (1, begin):
        raise _Unproved("the first record does not belong to this run")
    if proof.before is not None and (
        _line(proof.before, proof)[0] != seq - 1 or hash_in(proof.before.line.encode()) != prev
    ):
        raise _Unproved("the record does not follow the one before it")
    own = hash_in(proof.record.line.encode())
    if proof.after is not None and _line(proof.after, proof)[:2] != (seq + 1, own):
        raise _Unproved("the record after it does not follow it")
    if (proof.head is None) != (seq == proof.size):
        raise _Unproved("the head is missing")
    last = proof.head if proof.head is not None else proof.record
    if _line(last, proof)[0] != proof.size:
        raise _Unproved("the head is not the last record")
    found.head = hash_in(last.line.encode())
    found.head_commits = _below(proof, last)


def _line(linked: Linked, proof: Proof) -> tuple[int, str, Record | Rescoring]:
    """Place, predecessor and content of a line whose hash, spelling and path are right."""
    line = linked.line.encode()
    if not line.endswith(suffix(hashlib.sha256(line[:-SUFFIX_BYTES]).hexdigest())):
        raise _Unproved("a record was changed: its hash does not match its content")
    try:
        place = msgspec.json.decode(line, type=_Place)
        kind, here = kind_of(line), Path("proof")
        record = (read_rescoring if kind == b"rescoring" else read_rescored if kind == RESCORE else read_record)(
            line, here, place.seq
        )
        if not spelled(record, line, place.seq, place.prev):
            raise _Unproved(f"record {place.seq} is not spelled as Lydite writes it")
        top = root_from(bytes.fromhex(hash_in(line)), place.seq - 1, proof.size, hexes(linked.path))
        if top is None or top.hex() != proof.root:
            raise _Unproved(f"the path of record {place.seq} does not lead to the root")
    except (InputError, ValueError, *UNREADABLE) as error:
        raise _Unproved(f"a record cannot be read: {error}") from None
    return place.seq, place.prev, record


def _below(proof: Proof, last: Linked) -> bool:
    """Whether the head's line commits to all the others here; where it does, they have to be below its root."""
    others = [
        item for item in (proof.first, proof.record, proof.before, proof.after) if item is not None and item != last
    ]
    committed = root_in(last.line.encode())
    if last.below is not None or (committed is None and any(item.below is not None for item in others)):
        raise _Unproved("a path leads to a root that the head does not have")
    if committed is None:
        return last is proof.record
    for item in others:
        seq = msgspec.json.decode(item.line, type=_Place).seq
        try:
            name = bytes.fromhex(hash_in(item.line.encode()))
            top = root_from(name, seq - 1, proof.size - 1, hexes(item.below or ()))
        except ValueError as error:
            raise _Unproved(f"a path cannot be read: {error}") from None
        if top is None or top.hex().encode() != committed:
            raise _Unproved(f"the path of record {seq} does not lead to the root that the head commits to")
    return True


def _signature(proof: Proof, found: Checked, *, needed: bool) -> None:
    assert proof.signature is not None
    begin = genesis(
        kind=proof.run.kind,
        settings_digest=proof.run.settings_digest,
        created=proof.run.created,
        tasks_sha256=proof.run.tasks_sha256,
    )
    said = signing.statement(genesis=begin, size=proof.size, root=proof.root, head=found.head)
    try:
        found.signature = signing.holds(proof.signature.key, proof.signature.value, said)
    except MissingExtraError:
        if needed:
            raise
        return
    if not found.signature:
        raise _Unproved("the signature is not that of the key in the file")


def _anchors(proof: Proof, found: Checked, head: str | None, root: str | None, key: str | None) -> None:
    agreed = []
    if root is not None:
        if root != proof.root:
            raise _Unproved(f"its root is {proof.root}, not the one that was noted elsewhere")
        agreed.append("root")
    if head is not None:
        if head != found.head:
            raise _Unproved(f"its head is {found.head}, not the one that was noted elsewhere")
        if not found.head_commits:
            raise _Unproved(
                "this head does not commit to the records before it (an older ledger, or a run that was killed and not"
                " resumed): a root or a signature is needed"
            )
        agreed.append("head")
    if key is not None:
        if proof.signature is None:
            raise _Unproved("it is not signed")
        if proof.signature.key != key:
            raise _Unproved(f"it is signed by another key: {proof.signature.key}")
        agreed.append("public key")
    found.anchors = tuple(agreed)


def _extends(proof: Proof, found: Checked, extends: str | None) -> None:
    """The record was a head earlier, and the head of now commits to a tree that begins with the one of then."""
    if proof.consistency is None:
        if extends is not None:
            raise _Unproved("it is no proof that a ledger was continued: `lydite ledger prove --extends` makes one")
        return
    old, new = root_in(proof.record.line.encode()), root_in((proof.head or proof.record).line.encode())
    if old is None or new is None:
        raise _Unproved("a head does not commit to the records before it")
    try:
        path = hexes(proof.consistency)
        trees = bytes.fromhex(old.decode()), bytes.fromhex(new.decode())
    except ValueError as error:
        raise _Unproved(f"a path cannot be read: {error}") from None
    nothing = found.seq in (1, found.size)  # before the first record there is none; the same head extends itself
    if bool(path) and nothing:
        raise _Unproved("a path leads nowhere")
    if not nothing and not begins_with(trees[0], found.seq - 1, trees[1], found.size - 1, path):
        raise _Unproved("the ledger does not begin with the one of the earlier head: it was rewritten")
    name = hash_in(proof.record.line.encode())
    if extends is not None:
        if extends != name:
            raise _Unproved(f"the earlier head in it is {name}, not the one that was noted")
        found.anchors = (*found.anchors, "earlier head")
    found.extends = name


def _evidence(evidence: Evidence, found: Checked, *, judge: bool) -> None:
    record, here = found.record, Path("proof")
    assert record is not None
    if sha256(evidence.sample.encode()) != record.sample:
        raise _Unproved("the sample is not the one that was judged")
    try:
        found.rollout = rollout = read_rollout(evidence.sample.encode(), here, 1)
        if evidence.task is not None:
            found.task = read_task(evidence.task.encode(), here, 1)
        if found.task is not None and (
            found.task.digest != record.task_digest or canonical(unlabelled(found.task)).decode() != evidence.task
        ):
            raise _Unproved("the task is not the one of the record")
        state = None
        if evidence.state is not None:
            packed = zlib.decompressobj()
            data = packed.decompress(base64.b64decode(evidence.state, validate=True), LIMIT)
            state = states.unpacked(data if packed.eof and not packed.unused_data else b"")
        if (None if state is None else state.digest) != rollout.workspace:
            raise _Unproved("what the episode left behind is not what the sample names")
    except (InputError, ValueError, zlib.error, *UNREADABLE) as error:
        raise _Unproved(f"what was judged cannot be read: {error}") from None
    if judge:
        found.again = judged_again(record, rollout, found.task, state, found.seq)

"""The chain: how ledger lines hold each other in place.

A line is one JSON object::

    {"seq":N,"prev":"<64 hex>","sample":"<64 hex>","task_digest":"<64 hex>","kind":"verdict",…,"hash":"<64 hex>"}\\n

``hash`` is the SHA-256 of the line's bytes before ``,"hash":"``; ``prev`` is the hash of the line before. ``seq``
counts from 1, so it is the line number. The first ``prev`` is the genesis value, which is bound to the run's kind,
settings, time of creation and first tasks: a ledger cannot be moved under another run. There is one hash per record,
over the bytes as they stand, so every byte is covered and an edited record names itself.

The last line of each group commit has ``,"root":"<64 hex>"`` before its hash: the root of the Merkle tree over the
hashes of all lines before it (see ``ledger.merkle``). So whoever holds a head holds each single record too, and a short
path shows that one is below it. Lines of older ledgers have none.
"""

from __future__ import annotations

import hashlib

import msgspec

from lydite.codec import canonical, digest

SUFFIX_BYTES = len(b',"hash":"') + 64 + len(b'"}')
"""Length of what follows the hashed part of a line, without the newline."""

_ROOT = b',"root":"'
_ROOT_BYTES = len(_ROOT) + 64 + 1
_ROOT_FROM, _ROOT_TO = SUFFIX_BYTES + _ROOT_BYTES, SUFFIX_BYTES + _ROOT_BYTES - len(_ROOT)

VERDICT, RESCORING, RESCORE = b"verdict", b"rescoring", b"rescore"
"""Kinds of records: of a new sample, the beginning of a rescoring, and another verdict on a sample that has one."""


def genesis(*, kind: str, settings_digest: str, created: str, tasks_sha256: str) -> str:
    """The ``prev`` of a run's first record, hex."""
    return digest(["lydite-ledger-1", kind, settings_digest, created, tasks_sha256])


def link(record: msgspec.Struct, seq: int, prev: str, root: bytes | None = None) -> tuple[bytes, str]:
    """The line (with its newline) of the record at place ``seq`` after the one with hash ``prev``; and its own hash.

    Args:
        record: what it says; one without a field ``root``.
        root: of the Merkle tree over the hashes of all lines before it.
    """
    body = b'{"seq":%d,"prev":"%b",%b' % (seq, prev.encode(), canonical(record)[1:-1])
    if root is not None:
        body += b'%b%b"' % (_ROOT, root.hex().encode())
    name = hashlib.sha256(body).hexdigest()
    return b'%b,"hash":"%b"}\n' % (body, name.encode()), name


def root_in(line: bytes) -> bytes | None:
    """The root that a line commits to, as its hex digits; ``None`` where it has none.

    No record's own last field ends in a quotation mark, so nothing that is said in one can pass for a root.
    """
    return line[-_ROOT_TO : -SUFFIX_BYTES - 1] if line[-_ROOT_FROM:-_ROOT_TO] == _ROOT else None


def hash_in(line: bytes) -> str:
    """The hash that a line ends with, whether it is right or not."""
    return line[-66:-2].decode("ascii", "replace")


def kind_of(line: bytes) -> bytes:
    """The kind of a line that is in order, without decoding it; empty where it cannot be told."""
    at = line.find(b'"kind":"', 0, 400)
    return b"" if at < 0 else line[at + 8 : line.find(b'"', at + 8)]


def place(seq: int, prev: str) -> bytes:
    """How every line at place ``seq`` must begin."""
    return b'{"seq":%d,"prev":"%b",' % (seq, prev.encode())


def prefix(seq: int, prev: str, sample: str) -> bytes:
    """How the record of a sample at place ``seq`` must begin, up to the value of ``task_digest``."""
    return b'{"seq":%d,"prev":"%b","sample":"%b","task_digest":"' % (seq, prev.encode(), sample.encode())


def suffix(name: str) -> bytes:
    """How a line whose hash is ``name`` must end, without the newline."""
    return b',"hash":"%b"}' % name.encode()


def task_and_kind(task_digest: str) -> bytes:
    """What follows ``prefix`` in the record of a verdict on this task."""
    return b'%b","kind":"verdict",' % task_digest.encode()


TASK_AND_KIND_BYTES = len(task_and_kind("0" * 64))

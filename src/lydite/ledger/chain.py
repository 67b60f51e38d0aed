"""The chain: how ledger lines hold each other in place.

A line is one JSON object::

    {"seq":N,"prev":"<64 hex>","sample":"<64 hex>","task_digest":"<64 hex>","kind":"verdict",…,"hash":"<64 hex>"}\\n

``hash`` is the SHA-256 of the line's bytes before ``,"hash":"``; ``prev`` is the hash of the line before. ``seq``
counts from 1, so it is the line number. The first ``prev`` is the genesis value, which is bound to the run's kind,
settings, time of creation and first tasks: a ledger cannot be moved under another run. There is one hash per record,
over the bytes as they stand, so every byte is covered and an edited record names itself.
"""

from __future__ import annotations

import hashlib

from lydite.codec import canonical, digest
from lydite.ledger.record import Record

SUFFIX_BYTES = len(b',"hash":"') + 64 + len(b'"}')
"""Length of what follows the hashed part of a line, without the newline."""


def genesis(*, kind: str, settings_digest: str, created: str, tasks_sha256: str) -> str:
    """The ``prev`` of a run's first record, hex."""
    return digest(["lydite-ledger-1", kind, settings_digest, created, tasks_sha256])


def link(record: Record, seq: int, prev: str) -> tuple[bytes, str]:
    """The line (with its newline) of the record at place ``seq`` after the one with hash ``prev``; and its own hash."""
    body = b'{"seq":%d,"prev":"%b",%b' % (seq, prev.encode(), canonical(record)[1:-1])
    name = hashlib.sha256(body).hexdigest()
    return b'%b,"hash":"%b"}\n' % (body, name.encode()), name


def prefix(seq: int, prev: str, sample: str) -> bytes:
    """How the line at place ``seq`` must begin, up to the value of ``task_digest``."""
    return b'{"seq":%d,"prev":"%b","sample":"%b","task_digest":"' % (seq, prev.encode(), sample.encode())


def suffix(name: str) -> bytes:
    """How a line whose hash is ``name`` must end, without the newline."""
    return b',"hash":"%b"}' % name.encode()


def task_and_kind(task_digest: str) -> bytes:
    """What follows ``prefix`` in the record of a verdict on this task."""
    return b'%b","kind":"verdict",' % task_digest.encode()


TASK_AND_KIND_BYTES = len(task_and_kind("0" * 64))

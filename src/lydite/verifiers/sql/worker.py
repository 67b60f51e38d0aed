"""What runs at the side: databases are made there, references and candidates run there, results are compared there.

A request is ``p`` and a configuration, or ``j``, the key of what was prepared, and a query; where that key is not known
here the reply is ``?`` and the request comes again as ``k``, with what was prepared.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import msgspec

from lydite.errors import InputError
from lydite.verifiers.sql.compare import compare, same
from lydite.verifiers.sql.prepare import Prepared, SqlConfig, engine_named, prepare
from lydite.verifiers.sql.rows import Limits, Other, QueryError, Row

KEY = 32
UNKNOWN = b"?"
CACHE_BYTES = 128_000_000
"""Of what was prepared, kept here; a cache, and nothing more."""


class Refused(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """An unusable configuration: the message, field and remedy of an ``InputError``."""

    message: str
    field: str | None
    remedy: str | None


class Ready(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """A usable one; ``prepared``: an encoded ``Prepared``."""

    prepared: bytes


class Judged(msgspec.Struct, frozen=True, array_like=True):
    """What became of a query. ``findings``: (reason, evidence) per database, up to the first that ended it;
    ``constant``: it is a literal answer, and why one thinks so."""

    findings: list[tuple[str, str | None]]
    constant: str | None


_kept: OrderedDict[bytes, tuple[Prepared, int]] = OrderedDict()
_ENDING = frozenset({"timeout", "resource"})


def serve(request: bytes) -> bytes:
    """The reply to one request."""
    kind, rest = request[:1], request[1:]
    if kind == b"p":
        return msgspec.msgpack.encode(_prepared(msgspec.msgpack.decode(rest, type=SqlConfig)))
    key, rest = rest[:KEY], rest[KEY:]
    if kind == b"k":
        size = int.from_bytes(rest[:8], "big")
        _keep(key, msgspec.msgpack.decode(rest[8 : 8 + size], type=Prepared), size)
        rest = rest[8 + size :]
    if key not in _kept:
        return UNKNOWN
    _kept.move_to_end(key)
    return msgspec.msgpack.encode(judge(_kept[key][0], rest.decode()))


def _keep(key: bytes, prepared: Prepared, size: int) -> None:
    for expected in prepared.expected:
        expected.rows[:] = [tuple(map(_cell, row)) for row in expected.rows]
    _kept[key] = (prepared, size)
    while len(_kept) > 1 and sum(bytes_ for _, bytes_ in _kept.values()) > CACHE_BYTES:
        _kept.popitem(last=False)


def _cell(cell: Any) -> Any:
    return Other(*cell) if isinstance(cell, list) else cell  # MessagePack knows no named tuples


def _prepared(config: SqlConfig) -> Refused | Ready:
    try:
        return Ready(msgspec.msgpack.encode(prepare(config)))
    except InputError as error:
        return Refused(error.message, error.field, error.remedy)


def judge(prepared: Prepared, sql: str) -> Judged:
    """Run a query on every database, each a copy of its own, and compare."""
    engine = engine_named(prepared.engine)
    findings: list[tuple[str, str | None]] = []
    first: list[Row] | None = None
    read, ran = False, False
    for database, expected in zip(prepared.databases, prepared.expected, strict=True):
        try:
            result = engine.run(database, sql, Limits(expected.count, prepared.max_steps))
        except QueryError as error:
            findings.append((error.reason, error.evidence))
            if error.reason in _ENDING:
                break
            continue
        ran, read = True, read or bool(result.read)
        first = result.rows if first is None else first
        findings.append(compare(expected, len(result.columns), result.rows, prepared.tolerance) or ("correct", None))
    constant = None
    if ran and not read:
        constant = "reads no table"
    elif first is not None and prepared.twins and all(reason == "correct" for reason, _ in findings):
        constant = _unmoved(prepared, sql, first)
    return Judged(findings, constant)


def _unmoved(prepared: Prepared, sql: str, first: list[Row]) -> str | None:
    """Whether a query that is right here is as sure of its answer where half of the rows are gone and the reference's
    answer is another one."""
    engine = engine_named(prepared.engine)
    for twin in prepared.twins:
        try:
            rows = engine.run(twin, sql, Limits(len(first), prepared.max_steps)).rows
        except QueryError:
            return None
        if not same(rows, first):
            return None
    return "gives the same where the rows that the reference needs are gone"

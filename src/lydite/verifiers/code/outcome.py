"""What became of one test."""

from __future__ import annotations

from typing import Any, NamedTuple

from lydite.sandbox import ExecResult, Status
from lydite.verifiers.code.compare import told
from lydite.verifiers.code.values import MalformedError, decode_at

_KINDS = {Status.TIMEOUT: "timeout", Status.MEMORY: "memory", Status.OUTPUT: "output"}
_WORDS = {
    "timeout": "ran out of time",
    "memory": "used more memory than it may",
    "output": "wrote more than it may",
}


class Outcome(NamedTuple):
    """``kind``: ok, wrong, error, timeout, memory or output; ``evidence``: words for people."""

    kind: str
    evidence: str | None = None


OK = Outcome("ok")


class Record(NamedTuple):
    """What the candidate's process claims of one call: a value, or why there is none.

    Attributes:
        kind: ``V``, ``E``, ``U``, ``L``, ``D`` (see ``candidate.py``).
        content: the value; (exception type, nearest built-in type, message); a name.
        raw: the encoded content.
    """

    kind: str
    content: Any
    raw: bytes


def ended(result: ExecResult) -> Outcome | None:
    """How a program ended where it did not leave with 0."""
    if result.status is Status.OK:
        return None
    kind = _KINDS.get(result.status, "error")
    if result.status is Status.ERROR:
        code = result.exit_code or 0
        last = result.stderr[-1000:].decode("utf-8", "replace").strip().rpartition("\n")[2]
        words = f"ended with code {code}" if code > 0 else f"ended by signal {-code}"
        return Outcome(kind, f"{words}: {told(last, '')}" if last else words)
    return Outcome(kind, _WORDS.get(kind, f"stopped: {result.status}"))


def read_records(data: bytes) -> tuple[list[Record], bool]:
    """The records of a channel, and whether they are all that is in it. Never raises."""
    found: list[Record] = []
    at = 0
    while at < len(data):
        kind = chr(data[at])
        if kind not in "VEULD":
            return found, False
        try:
            content, end = decode_at(data, at + 1)
        except MalformedError:
            return found, False
        if not (_is_exception(content) if kind in "EL" else kind == "V" or type(content) is str):
            return found, False
        found.append(Record(kind, content, data[at + 1 : end]))
        at = end
    return found, True


def _is_exception(content: Any) -> bool:
    return type(content) is tuple and len(content) == 3 and all(type(part) is str for part in content)


def failed(record: Record) -> Outcome | None:
    """Why a record has no value; ``None`` where it has one."""
    if record.kind == "V":
        return None
    if record.kind == "U":
        return Outcome("wrong", f"returned no plain value ({told(record.content[:80], '')})")
    if record.kind == "D":
        return Outcome("error", f"{record.content[:80]!a} is not defined")
    name, near, message = record.content
    kind = "memory" if near == "MemoryError" else "error"
    return Outcome(kind, ("on loading: " if record.kind == "L" else "") + told(name[:80], message))

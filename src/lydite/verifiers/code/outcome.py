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
    """``kind``: ok, wrong, error, timeout, memory or output; ``evidence``: words for people; ``share``: what a checker
    that gives parts of the score has given."""

    kind: str
    evidence: str | None = None
    share: float | None = None

    @property
    def score(self) -> float:
        """In [0, 1]."""
        return float(self.kind == "ok") if self.share is None else self.share


OK = Outcome("ok")


class Record(NamedTuple):
    """What the candidate's process claims of one call: a value, or why there is none.

    Attributes:
        kind: ``V``, ``W``, ``E``, ``U``, ``L``, ``D`` (see ``candidate.py``).
        content: the value; (exception type, nearest built-in type, message); a name.
        raw: the encoded content.
        changed: the encoded arguments as the call has left them, where it has changed them.
    """

    kind: str
    content: Any
    raw: bytes
    changed: bytes = b""


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
    changed = b""
    at = 0
    while at < len(data):
        kind = chr(data[at])
        if kind not in ("VWE" if changed else "MVWEULD"):
            return found, False
        try:
            content, end = decode_at(data, at + 1)
        except MalformedError:
            return found, False
        if not _fits(kind, content):
            return found, False
        if kind == "M":
            changed = data[at + 1 : end]
        else:
            found.append(Record(kind, content, data[at + 1 : end], changed))
            changed = b""
        at = end
    return found, not changed


def _fits(kind: str, content: Any) -> bool:
    if kind == "M":
        return type(content) is tuple and [*map(type, content)] == [list, dict]
    if kind in "EL":
        return _is_exception(content)
    return kind in "VW" or type(content) is str


def _is_exception(content: Any) -> bool:
    return type(content) is tuple and len(content) == 3 and all(type(part) is str for part in content)


def failed(record: Record) -> Outcome | None:
    """Why a record has no value; ``None`` where it has one."""
    if record.kind in "VW":
        return None
    if record.kind == "U":
        return Outcome("wrong", f"returned no plain value ({told(record.content[:80], '')})")
    if record.kind == "D":
        return Outcome("error", f"{record.content[:80]!a} is not defined")
    name, near, message = record.content
    kind = "memory" if near == "MemoryError" else "error"
    return Outcome(kind, ("on loading: " if record.kind == "L" else "") + told(name[:80], message))

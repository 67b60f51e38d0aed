"""What one verdict may cost, and what it did.

Cost is counted in steps of about a microsecond, from the shape of what is evaluated, never from a clock: so that the
same answer runs out on every machine, under any load, and whether or not a value was still in a cache.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextvars import ContextVar

from lydite.verifiers.math.nodes import Node, TooBigError

MAX_STEPS = 60_000
"""Steps that one comparison may take; the heaviest labelled cases, sums over n terms, take about 11,000."""
MAX_OPINIONS = 2
"""Pairs of one comparison that are sent to SymPy; points decide about further ones."""
MAX_NOTES = 60

_STEPS = {"num": 1, "sym": 2, "const": 10, "add": 2, "mul": 4, "div": 4, "neg": 1, "percent": 2, "degree": 4, "pow": 60,
          "root": 50, "fact": 20, "rem": 5, "base": 1}  # fmt: skip
_CALL = 60


class TooLongError(TooBigError):
    """Comparing takes more steps than an answer may."""


class Work:
    """One comparison's account. Within another account, it is apart from that one.

    Attributes:
        left: steps that may still be taken.
        notes: (stage, what it said), where somebody listens.
    """

    __slots__ = ("_asked", "_paid", "_token", "left", "notes")

    def __init__(self, notes: list[tuple[str, str]] | None = None) -> None:
        self.left = MAX_STEPS
        self.notes = notes
        self._paid: set[Hashable] | None = None  # most comparisons need neither
        self._asked: set[Hashable] | None = None

    def __enter__(self) -> None:
        self._token = _CURRENT.set(self)

    def __exit__(self, *error: object) -> None:
        _CURRENT.reset(self._token)


_CURRENT: ContextVar[Work | None] = ContextVar("work", default=None)
working = Work
"""``with working(notes):`` counts the steps of what is done within."""


def note(stage: str, told: str) -> None:
    """Tell who listens what a stage said."""
    work = _CURRENT.get()
    if work is not None and work.notes is not None and len(work.notes) < MAX_NOTES:
        work.notes.append((stage, told))


def is_heard() -> bool:
    """Whether notes are kept: else their words need not be made."""
    work = _CURRENT.get()
    return work is not None and work.notes is not None


def charge(steps: int, once: Hashable = None) -> None:
    """Count steps; for the same ``once``, only the first time.

    Raises:
        TooLongError: no steps are left.
    """
    work = _CURRENT.get()
    if work is None:
        return
    if once is not None:
        if work._paid is None:
            work._paid = set()
        if once in work._paid:
            return
        work._paid.add(once)
    work.left -= steps
    if work.left < 0:
        raise TooLongError


def pay(node: Node, index: int, digits: int) -> None:
    """Count the evaluation of a tree at a point.

    Raises:
        TooLongError: no steps are left.
    """
    work = _CURRENT.get()
    if work is not None and (key := (node, index, digits)) not in (work._paid or ()):
        charge(cost(node) * (10 if digits > 200 else 2 if digits > 100 else 1), key)


def may_ask(pair: Hashable) -> bool:
    """Whether one more second opinion may be had; on the same pair, as often as one likes."""
    work = _CURRENT.get()
    if work is None:
        return True
    if work._asked is None:
        work._asked = set()
    if len(work._asked) < MAX_OPINIONS:
        work._asked.add(pair)
    return pair in work._asked


def terms_of(node: Node) -> int:
    """How many terms a sum has; 20 where that hangs on a symbol."""
    low, high = node.args[1], node.args[2]
    return int(max(1, high.args[0] - low.args[0] + 1)) if low.op == high.op == "num" else 20


def cost(node: Node) -> int:
    """Steps of one evaluation."""
    total = 0
    stack = [node]
    while stack:
        item = stack.pop()
        total += _STEPS.get(item.op, _CALL)
        if item.op in ("sum", "prod"):
            total += terms_of(item) * cost(item.args[3])
            continue
        parts = item.args[1] if item.op == "call" else item.args
        stack.extend(part for part in parts if isinstance(part, Node))
    return total

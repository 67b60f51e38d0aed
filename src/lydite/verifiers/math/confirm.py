"""A second opinion on equalities that only sample points vouch for: SymPy, in a process of its own.

Two expressions that agree at every point, and whose normal forms do not decide, go to SymPy as a tree: never as text
(SymPy's parsers evaluate what they read). It says

- ``different``: it computed a difference, with an error bound, before anything else; the answer is incorrect;
- ``equal``: it proved that the difference is zero;
- ``open``: neither; ``over budget``: it ran out of processor time or memory; ``too large``: it was not asked.

All but the first leave the verdict to the points. So a verdict never hangs on how far a proof came in its time:
computing the difference is a small, fixed amount of work, and only what follows it can be cut off. What the points then
vouch for alone: functions that agree to 90 digits where each symbol has 32 random bits, and constants that agree to 375
digits, which takes an expression that was built to deceive, by someone who knows the answer. Right answers whose proof
is beyond SymPy (sums of arcs, say) stay right.

A lost process is our fault and decides nothing: ``LostError``, of which the verdict ``confirm_lost`` (invalid) is made.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

import msgspec

from lydite.verifiers.aside import Aside, OverBudgetError
from lydite.verifiers.math.nodes import Node

Opinion = Literal["equal", "different", "open", "over budget", "too large"]

MAX_NODES = 150
"""Nodes of both trees; larger ones are not sent."""
MAX_BITS = 2048
"""Bits of a number in them."""
CPU_SECONDS, MEMORY_MB = 0.08, 256
"""Budget of one opinion, in which trying to prove it usually takes 1 to 60 ms."""

_ASIDE = Aside("lydite.verifiers.math.prover:opinion", cpu_seconds=CPU_SECONDS, memory_mb=MEMORY_MB)


def prepare() -> None:
    """Have the process started, without waiting for it."""
    _ASIDE.start()


def close() -> None:
    """End the idle processes."""
    _ASIDE.close()


@lru_cache(maxsize=4096)
def confirm(a: Node, b: Node) -> Opinion:
    """What SymPy says of two scalars that agree at sample points.

    Raises:
        LostError: the process is gone, or its code failed; not remembered, so that the next call tries again.
    """
    data = encoded(a, b)
    if data is None:
        return "too large"
    try:
        reply = _ASIDE.call(data)
    except OverBudgetError:
        _ASIDE.start()  # the next opinion should not wait for it
        return "over budget"
    return "equal" if reply == b"equal" else "different" if reply == b"different" else "open"


def encoded(a: Node, b: Node) -> bytes | None:
    """Two trees as JSON; ``None`` where they are too large to be sent."""
    names: dict[str, int] = {}
    budget = [MAX_NODES]
    try:
        return msgspec.json.encode([_encoded(node, names, budget) for node in (a, b)])
    except OverflowError:
        return None


def _encoded(node: Node, names: dict[str, int], budget: list[int]) -> Any:
    """The tree as nested lists; symbols by number, numbers as text."""
    budget[0] -= 1
    if budget[0] < 0:
        raise OverflowError
    op, args = node
    if op in ("sum", "prod"):
        raise OverflowError  # their points are whole numbers, and few
    if op in ("num", "base"):
        value = args[0]
        if value.numerator.bit_length() + value.denominator.bit_length() > MAX_BITS:
            raise OverflowError
        return ["num", f"{value.numerator}", f"{value.denominator}"]
    if op == "sym":
        return ["sym", names.setdefault(args[0], len(names))]
    if op == "const":
        return ["const", args[0]]
    if op == "call":
        return ["call", args[0], *(_encoded(argument, names, budget) for argument in args[1])]
    return [op, *(_encoded(argument, names, budget) for argument in args)]

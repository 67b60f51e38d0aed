"""Whether two expressions have the same value: in stages, of which the first that can decides.

| stage | says equal | says different |
|---|---|---|
| ``exact`` | rational numbers of one value | other rational numbers |
| | polynomials, single square roots (``simple``) | other ones |
| ``points`` | | a difference at a first sample point (``points``), in 45 digits |
| ``exact`` again | one normal form (``canonical``) | |
| ``points`` again | | a difference at another point, in 45 digits, then in 90 |
| ``exact`` for the last time | | normal forms that are complete and differ: pi + 10^-100 is not pi |
| ``points`` for the last time | | constants that differ within 375 digits |
| ``confirm`` | all that is left, proved or not (``confirm``) | a difference that SymPy computes |
"""

from __future__ import annotations

from fractions import Fraction

from lydite.verifiers.math import canonical, simple
from lydite.verifiers.math.confirm import confirm
from lydite.verifiers.math.evaluate import number
from lydite.verifiers.math.exact import rational
from lydite.verifiers.math.nodes import Node, TooBigError, UndefinedError, contains, symbols
from lydite.verifiers.math.points import FINEST, POINTS, agree, agree_finest, differ_at_once, is_near, point, traits
from lydite.verifiers.math.powers import same_powers
from lydite.verifiers.math.work import may_ask, note

__all__ = ["POINTS", "equal", "number", "point"]

_STEPS = frozenset(["floor", "ceil", "max", "min"])
_PEERS = frozenset(["abs", "root", "rem", "mod", "sum", "sgn"])
"""What may stand for steps: max(x, -x) is |x|."""


def equal(a: Node, b: Node, tolerance: Fraction | None = None) -> bool:
    """Whether two scalars are the same number, or the same function of their symbols.

    Args:
        tolerance: relative difference that is forgiven, for constants.

    Raises:
        TooBigError: deciding would cost too much.
        LostError: the process that confirms is gone, which is our fault.
    """
    if a == b and not contains((a, b), "div", "pow", "const"):
        note("exact", "the same")
        return True
    try:
        try:
            x, y = rational(a), rational(b)
        except TooBigError:
            same = same_powers(a, b)
            if same is None:
                raise
            note("exact", "products of powers, " + ("the same" if same else "different"))
            return same
        if x is not None and y is not None:
            same = x == y or (tolerance is not None and abs(x - y) <= tolerance * abs(y))
            note("exact", "rational numbers, " + ("the same" if x == y else "close enough" if same else "different"))
            return same
        if a == b:
            note("exact", "the same")
            return True
        names = bool(traits(a).names or traits(b).names)
        if not names and ((x is not None and _is_no_number(b)) or (y is not None and _is_no_number(a))):
            return False
        if tolerance is not None and not names:
            near = is_near(a, b, tolerance)
            note("points", f"{'within' if near else 'not within'} the tolerance of {float(tolerance):g}")
            return near
        told = simple.same(a, b, names)
        if told is not None:
            kind = "polynomials" if names else "square roots"
            note("exact", f"{kind}, {'the same' if told else 'different'}")
            return told
        return _decide(a, b, names)
    except UndefinedError:
        note("exact", "one side has no value")
        return False


def _is_stepped_alone(a: Node, b: Node) -> bool:
    """Whether one side has floors, ceilings, maxima or minima of symbols, and the other nothing of the kind."""
    one, other = _calls(a), _calls(b)
    return bool((one & _STEPS and not other) or (other & _STEPS and not one))


def _calls(node: Node) -> set[str]:
    found: set[str] = set()
    stack: list[object] = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, Node):
            if item.op in _PEERS or (item.op == "call" and (item.args[0] in _STEPS or item.args[0] in _PEERS)):
                found |= {item.args[0] if item.op == "call" else item.op} if symbols(item) else set()
            stack.extend(item.args)
        elif type(item) is tuple:
            stack.extend(item)
    return found


def _is_no_number(node: Node) -> bool:
    return node.op in ("tuple", "set", "matrix", "named", "dots", "list")


def _decide(a: Node, b: Node, names: bool) -> bool:
    if differ_at_once(a, b):
        note("points", "they differ" + (" at a sample point" if names else ""))
        return False
    form, complete = canonical.decide(a, b)
    if form == "equal" and complete:
        note("exact", "the same normal form")
        return True
    if not agree(a, b):
        note("points", "they differ at a sample point" if names else "they differ")
        return False
    if form == "equal":
        note("exact", "the same normal form")
        return True
    if names and _is_stepped_alone(a, b):
        note("points", "one side alone takes steps: no points can show that these never matter")
        return False
    note("points", "they agree" + (" at every sample point" if names else "") + ", to 90 digits")
    if form == "different":
        note("exact", "different normal forms: they differ below that")
        return False
    if not names and not agree_finest(a, b):
        note("points", f"they differ below that, within {FINEST} digits")
        return False
    answer = confirm(a, b) if may_ask((a, b)) else "not asked again"
    stands = "" if answer in ("equal", "different") else "; the points decide"
    note("confirm", f"SymPy: {answer}{stands}")
    return answer != "different"

"""The arithmetic claims of a text, each checked exactly.

A claim is an equality of two known values at least one of which has to be worked out: ``12 * 3 = 36``. In a chain
(``x = 3 + 4 = 7``) neighbours are claims, unknown values left out. ``5 = 5`` and ``2 + 3 = 2 + 3`` claim nothing, and
what is said twice counts once. A question (``is 5 + 3 = 9?``), a supposition (``if 5 + 3 = 9``) and fenced code are not
claims.

Words that say the same (``12 + 13 is 25``, see ``spoken``) are claims as well. What is true of any number (``5 + 0 =
5``, ``3 - 3 = 0``, see ``idle``) is none, unless it is said wrongly; nor is what is said to be false (``denied``).

Right is what is exactly equal, and a number that is correctly rounded: to two decimals or more behind ``=``, to one
where the exact value has no end (``100 / 3 = 33.3``), to any place behind ``≈``. Percent signs, units that convert
(``2 kg + 500 g = 2.5 kg``) and words such as ``million`` are taken as they are meant: a claim is wrong only when no
reading of it is right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain, pairwise

from lydite.verifiers.math.exact import rational
from lydite.verifiers.math.nodes import Node, NotMathError, TooBigError, UndefinedError
from lydite.verifiers.math.parse import parse
from lydite.verifiers.math.tokens import tokenize as math_tokens
from lydite.verifiers.steps.denied import is_denied, may_deny
from lydite.verifiers.steps.glance import Said, glance, has_no_end
from lydite.verifiers.steps.idle import is_idle
from lydite.verifiers.steps.reading import statements
from lydite.verifiers.steps.sides import Piece, Side, Statement
from lydite.verifiers.steps.spoken import written_out
from lydite.verifiers.steps.tokens import (
    GROUP,
    MAX_TOKENS,
    TooManyClaimsError,
    groups,
    may_claim,
    regions,
    regions_of,
    sentences,
    spelled,
    tokenize,
    work_and_notes,
)
from lydite.verifiers.text import after_thinking

MAX_CLAIMS = 1000
"""Different claims of one text; more is padding."""
MAX_EXPRESSION = 500
"""Characters of one side; a longer one is not checked."""
_ROUNDED = 2
"""Decimals from which on a rounded number may stand behind ``=``."""


@dataclass(frozen=True)
class Claim:
    """One claim. ``text``: as it was written, white space collapsed. ``value``: of the side that is worked out."""

    text: str
    right: bool
    value: Fraction | None = None


def find_claims(text: str) -> list[Claim]:
    """The claims of the work that follows the thinking, in order, each once.

    Takes linear time. Text whose thinking was never finished has none.

    Raises:
        TooManyClaimsError: there are too many to look at.
    """
    work = after_thinking(text)
    return [] if work is None else _Reader().all_of(written_out(work))


def false_claims(text: str, enough: int) -> list[Claim]:
    """The false ones of ``find_claims``, in order; of more than ``enough`` the first ones, and no more is looked at.

    What a glance settles is not read: where nothing is false, that takes a tenth of the time or less.

    Raises:
        TooManyClaimsError: there are too many to look at.
    """
    work = after_thinking(text)
    if work is None:
        return []
    work = written_out(work)
    if len(work) <= GROUP and "<<" not in work and "```" not in work and glance(work) == []:
        return []  # as most are
    text, notes = work_and_notes(work)
    reader, found = _Reader(), dict[object, Claim]()
    pieces = ((group, regions_of(group)) for group in groups(text))
    for piece, parts in chain(pieces, [("\n".join(notes), map(spelled, notes))] if notes else ()):
        said = glance(piece)
        for part in parts if said is None else [piece]:
            for key, claim in reader.all(part) if said is None else _distinct(said):
                if not claim.right:
                    found.setdefault(key, claim)
            if len(found) >= enough:
                return list(found.values())[:enough]
    return list(found.values())


class _Reader:
    """Reads parts of the work, each once."""

    def __init__(self) -> None:
        self._read: dict[str, list[tuple[object, Claim]]] = {}
        self._tokens = 0

    def claims(self, part: str) -> list[tuple[object, Claim]]:
        """The claims of a part, each with what identifies it."""
        claims = self._read.get(part)
        if claims is None:
            tokens = tokenize(part)
            denying = may_deny(part)
            self._tokens += len(tokens)
            if self._tokens > MAX_TOKENS:
                raise TooManyClaimsError
            claims = [
                claim
                for statement in statements(tokens)
                if not (denying and is_denied(part, *_place(statement)))
                for claim in _claims(statement, part)
            ]
            self._read[part] = claims
        return claims

    def all(self, region: str) -> Iterator[tuple[object, Claim]]:
        """The claims of a region that a glance does not settle, and the false ones of those that it does."""
        for part in sentences(region):
            said = glance(part)
            yield from self.claims(part) if said is None else _distinct(said)

    def all_of(self, work: str) -> list[Claim]:
        """The claims of the work, in order, each once."""
        found: dict[object, Claim] = {}
        for region in regions(work):
            for part in sentences(region):
                for key, claim in self.claims(part) if may_claim(part) else ():
                    found.setdefault(key, claim)
            if len(found) > MAX_CLAIMS:
                raise TooManyClaimsError
        return list(found.values())


def _place(statement: Statement) -> tuple[int, int, int]:
    """Where it starts, where its last side does, and where it ends."""
    return statement.sides[0].start, statement.sides[-1].start, statement.sides[-1].end


def _distinct(said: list[Said]) -> list[tuple[object, Claim]]:
    """Claims that a glance settled, each once, with what identifies it."""
    found: dict[object, Claim] = {}
    for one in said:
        claim = Claim(f"{one.left[:150]} = {one.right[:150]}", one.true, one.value)
        found.setdefault(_key(one.left_read, one.right_read, one.true), claim)
    if len(found) > MAX_CLAIMS:
        raise TooManyClaimsError
    return list(found.items())


def _key(one: str, other: str, said: bool) -> object:
    """What identifies a claim: its sides, whichever comes first, and whether it is right."""
    return frozenset((_tree(one) or one, _tree(other) or other)), said


def _claims(statement: Statement, region: str) -> Iterator[tuple[object, Claim]]:
    """Claims of a statement, each with what identifies it."""
    relation = "="
    known: list[tuple[Side, str]] = []  # each with the relation before it
    for side, sign in zip(statement.sides, ("=", *statement.relations), strict=True):
        relation = sign if relation == "=" else relation
        if not side.symbolic:
            known.append((side, relation))
            relation = "="
    worked = any(side.operations for side, _ in known)
    for (left, _), (right, sign) in pairwise(known):
        if not (left.operations or right.operations) and not (worked and _differ(left, right)):
            continue
        one, other = _plain(left.pieces), _plain(right.pieces)
        if one == other:
            continue
        said = _agree(left, right, sign)
        if said is None or (said and _is_idle(left, right)):
            continue
        text = _shown(region[left.start : left.end]), _shown(region[right.start : right.end])
        sign = "=" if sign == "=" else "≈"
        yield _key(one, other, said), Claim(f"{text[0]} {sign} {text[1]}", said, _first(left))


def _shown(text: str) -> str:
    """A side as people read it, 150 characters at most."""
    return " ".join(text.replace("\\$", "").replace("$", "").split())[:150]


def _is_idle(left: Side, right: Side) -> bool:
    """Whether what two equal sides say is true of any number."""
    numbers = [piece for piece in (*left.pieces, *right.pieces) if piece.number]
    measures = {(piece.scale, piece.factor) for piece in numbers} - {(1, 1)}
    if right.remainder or len(measures) > 1 or any("..." in piece.text for piece in numbers):
        return False
    one, other = _tree(_plain(left.pieces)), _tree(_plain(right.pieces))
    return one is not None and other is not None and is_idle(one, other, measured=bool(measures))


def _differ(left: Side, right: Side) -> bool:
    """Whether two bare numbers of a chain are different, and none has a unit: ``5 * 3 = 15 = 16``."""
    if not left.lone or not right.lone or any(piece.unit for piece in (*left.pieces, *right.pieces)):
        return False
    return not right.remainder and _agree(left, right, "~") is False


def _first(side: Side) -> Fraction | None:
    value = _value(_plain(side.pieces))
    return value if isinstance(value, Fraction) else None


def _agree(left: Side, right: Side, sign: str) -> bool | None:
    """Whether a claim is right, by any reading; ``None`` where it cannot be told."""
    if right.remainder:
        return _divides(left, right)
    told = False
    pairs = [(a, b) for a in (left.pieces, *left.others) for b in (right.pieces, *right.others)]
    for a, b in pairs[:6]:
        for one, other in _readings(a, b):
            x, y = _value(one), _value(other)
            if x is None or y is None:
                continue
            told = True
            if isinstance(x, str) or isinstance(y, str):
                continue
            if x == y or _is_rounded(x, b, y, sign) or _is_rounded(y, a, x, sign):
                return True
            if sign == "~" and left.operations and right.operations and abs(x - y) * 100 <= abs(x):
                return True
    if not told or left.loose or right.loose:
        return None
    if (
        left.lone
        and right.operations
        and (left.pieces[-1].text == "%" or left.pieces[0].unit not in ("", _last_unit(right)))
    ):
        return None  # "1 box = 5 * 3 pens" says what a box holds
    return False


def _last_unit(side: Side) -> str:
    return next((piece.unit for piece in reversed(side.pieces) if piece.unit), "")


def _divides(left: Side, right: Side) -> bool:
    """A division with a remainder: 17 / 5 = 3 remainder 2."""
    node = _tree(_plain(left.pieces))
    if node is None or node.op != "div":
        return False
    top, bottom, rest = rational(node.args[0]), rational(node.args[1]), Fraction(right.remainder)
    whole = _first(right)
    if top is None or bottom is None or whole is None:
        return False
    return bool(top == bottom * whole + rest and 0 <= rest < abs(bottom))


def _is_rounded(exact: Fraction, pieces: list[Piece], value: Fraction, sign: str) -> bool:
    """Whether a side is one number, and the exact value correctly rounded to its place (or cut off, behind dots)."""
    if not pieces[0].number or len(pieces) > 2 or pieces[-1].text not in ("%", pieces[0].text):
        return False
    number = pieces[0].text.removesuffix("...")
    cut = number != pieces[0].text
    whole, _, decimals = number.partition(".")
    stated = Fraction(number)
    if stated == 0:
        return False
    unit = value / stated / 10 ** len(decimals)  # of the last place, in the measure of this reading
    if cut:
        return bool(value <= exact < value + unit)
    if sign == "=" and len(decimals) < _ROUNDED and not (decimals and has_no_end(exact)):
        return False
    if not decimals:
        unit *= 10 ** (len(whole) - len(whole.rstrip("0")))
    return bool(abs(exact - value) * 2 <= unit)


def _plain(pieces: list[Piece]) -> str:
    return "".join(piece.text.removesuffix("...") for piece in pieces)


def _grouped(pieces: list[Piece]) -> str:
    out: list[str] = []
    for index, piece in enumerate(pieces):
        before = index and pieces[index - 1].tight
        after = index + 1 < len(pieces) and pieces[index + 1].tight
        out.append(
            "(" * (piece.number and after and not before) + piece.text + ")" * (piece.number and before and not after)
        )
    return "".join(out)


def _scaled(pieces: list[Piece]) -> str:
    return "".join(f"({p.text}*{p.scale})" if p.scale != 1 else p.text for p in pieces)


def _measured(pieces: list[Piece]) -> str:
    return "".join(f"({p.text}*({p.scale * p.factor}))" if p.scale * p.factor != 1 else p.text for p in pieces)


def _readings(a: list[Piece], b: list[Piece]) -> Iterator[tuple[str, str]]:
    """Ways to read the two sides; the plainest first."""
    one, other = _plain(a), _plain(b)
    yield one, other
    both = (*a, *b)
    if any(piece.tight for piece in both):  # 2000 / 2/3
        yield _grouped(a), _grouped(b)
    if any(piece.scale != 1 for piece in both):
        yield _scaled(a), _scaled(b)
    if any(piece.factor != 1 for piece in both):
        yield _measured(a), _measured(b)
    if "%" in one or "%" in other:
        if ("%" in one) != ("%" in other):  # 15 / 60 * 100 = 25%
            bare, rest = (b, one) if "%" in other else (a, other)
            if len(bare) == 2 and bare[0].number:
                yield one.replace("%", ""), other.replace("%", "")
            elif "*100%" in one or "*100%" in other:
                yield one.replace("*100%", "*100"), other.replace("*100%", "*100")
        for side, rest in ((a, other), (b, one)):  # 50 + 10% = 55
            marks = [place for place, piece in enumerate(side) if piece.text == "%"]
            if len(marks) == 1 and marks[0] == len(side) - 1 and len(side) > 3 and side[-3].text in "+-":
                base, share = _plain(side[:-3]), side[-2].text
                yield f"({base})*(1{side[-3].text}{share}/100)", rest


_UNDEFINED = "undefined"


@lru_cache(maxsize=4096)
def _value(text: str) -> Fraction | str | None:
    """The exact value; ``None`` where there is none that could be told, ``_UNDEFINED`` for a division by zero."""
    node = _tree(text)
    if node is None:
        return None
    try:
        return rational(node)
    except UndefinedError:
        return _UNDEFINED
    except (TooBigError, RecursionError):
        return None


@lru_cache(maxsize=4096)
def _tree(text: str) -> Node | None:
    if len(text) > MAX_EXPRESSION:
        return None
    try:
        return parse(math_tokens(text.replace("%", "\\%"), False))
    except (NotMathError, TooBigError, RecursionError):
        return None

"""From tokens to statements: the sides of an equality, as expressions that the parser of ``math`` reads.

A side is read left to right as far as it goes: numbers with their units, signs, brackets. A value that is not known (a
letter, a word in the place of a number) makes it ``symbolic``: it says nothing that could be checked. Where a text can
be read in two ways, both are kept: a claim is wrong only when no reading makes it right.
"""

from __future__ import annotations

from collections.abc import Iterator

from lydite.verifiers.steps.expressions import Expressions
from lydite.verifiers.steps.quantities import REMAINDER
from lydite.verifiers.steps.sides import Piece, Side, Statement
from lydite.verifiers.steps.tokens import Token

_split = str.split  # tables of words stay readable

LABELS = frozenset(
    _split(
        "day week month year hour step part page chapter question problem case equation eq line room box group level"
        " grade type number no item option stage phase round game set table figure age row column example"
    )
)
SUPPOSED = frozenset(["if", "suppose", "assume", "assuming", "whether", "unless", "not", "false", "wrong", "incorrect"])


def statements(tokens: list[Token]) -> Iterator[Statement]:
    """All statements of a region, in order."""
    return _Reader(_joined(tokens)).statements()


def _joined(tokens: list[Token]) -> list[Token]:
    """Line ends become breaks, unless a sign of equality stands beside them."""
    out: list[Token] = []
    for index, token in enumerate(tokens):
        if token.kind == "line":
            following = next((after for after in tokens[index + 1 : index + 6] if after.kind != "line"), None)
            if (out and out[-1].kind == "rel") or (following is not None and following.kind == "rel"):
                continue
            token = token._replace(kind="brk")
        out.append(token)
    return out


class _Reader(Expressions):
    def statements(self) -> Iterator[Statement]:
        index, size = 0, len(self.tokens)
        while index < size:
            side, after = self.left_side(index)
            if side is None or self.at(after).kind != "rel":
                index = max(after, index + 1)
                continue
            sides, relations = [side], []
            supposed = self.at(index - 1).kind == "word" and self.at(index - 1).text.casefold() in SUPPOSED
            while self.at(after).kind == "rel":
                right, end = self.right_side(after + 1)
                if right is None:
                    break
                relations.append(self.at(after).text)
                sides.append(right)
                after = end
            if self.at(after).text != "?" and not supposed and relations:
                yield Statement(tuple(sides), tuple(relations))
            index = max(after, index + 1)

    def left_side(self, index: int) -> tuple[Side | None, int]:
        """The side that starts here and may stand before a sign of equality; and the token behind it."""
        token, before = self.at(index), self.at(index - 1)
        if token.kind == "word" and self.at(index + 1).kind not in ("op", "rel") and not self.is_call(index):
            return None, index + 1
        if token.kind == "word" and self._is_sign(index + 1):  # "we get -3 + 5"
            return None, index + 1
        side, after = self.expression(index, 0)
        if side is not None and before.kind == "word":
            side.symbolic = side.symbolic or side.operations == 0  # "week 1 = 5 * 3": a name
            side.loose = side.loose or before.text.casefold().removesuffix("s") in LABELS  # "weeks 1-2 = 96 - 70"
        if side is not None and token.kind == "(" and token.spaced and before.kind == "num":
            side.others.append([Piece(before.text), Piece("*"), *side.pieces])  # "2 (3 + 4) = 14"
        return side, after

    def right_side(self, index: int) -> tuple[Side | None, int]:
        side, after = self.expression(index, 0)
        if side is None:
            return None, index
        words = after
        while self.at(words).kind == "word" and self.at(words).text.casefold() in (
            "with",
            "a",
            "and",
            "of",
            *REMAINDER,
        ):
            words += 1
        said = {self.at(place).text.casefold() for place in range(after, words)}
        if words > after and said & REMAINDER and self.at(words).kind == "num" and side.lone:
            side.remainder, after = self.at(words).text, words + 1
            side.end = self.at(words).end
        elif self.at(after).kind == "!" and side.lone:
            side.others.append([*side.pieces, Piece("!")])
        return side, after

    def _is_sign(self, index: int) -> bool:
        """A minus that belongs to the number behind it."""
        token, after = self.at(index), self.at(index + 1)
        return token.kind == "op" and token.text in "+-" and token.spaced and not after.spaced and after.kind == "num"

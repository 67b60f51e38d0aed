"""A number with what stands behind it: percent signs, words for thousands, units."""

from __future__ import annotations

from fractions import Fraction

from lydite.verifiers.math.units import parse_unit
from lydite.verifiers.math.words import SCALES
from lydite.verifiers.steps.sides import Piece, Side
from lydite.verifiers.steps.tokens import Token

MAX_UNIT_WORDS = 4

_split = str.split  # tables of words stay readable

STOP = frozenset(
    _split(
        "and or so then is are was were because since which that where if but as for with we he she it they i you thus"
        " hence therefore when while the to from by in on at have has had"
    )
)
REMAINDER = frozenset(["remainder", "rem", "r"])
_LETTERS = frozenset("mgLlhs")
_DOZENS = {**{name: Fraction(value) for name, value in SCALES.items()}, "dozen": Fraction(12)}

_END = Token("brk", "", True, 0, 0)


def _brackets(tokens: list[Token]) -> tuple[dict[int, int], set[int]]:
    """Where each bracket is closed, and the places of those that never are."""
    opened: list[int] = []
    closes: dict[int, int] = {}
    for index, token in enumerate(tokens):
        if token.kind == "(":
            opened.append(index)
        elif token.kind == ")" and opened:
            closes[opened.pop()] = index
    return closes, set(opened)


class Quantities:
    """Reads from a list of tokens; a method takes the place to read from and gives the place behind what it read."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.closes, self.hopeless = _brackets(tokens)
        """Where brackets are closed; those that no expression fills, or that are not closed: none is tried twice."""

    def at(self, index: int) -> Token:
        return self.tokens[index] if 0 <= index < len(self.tokens) else _END

    def unit(self, side: Side, index: int) -> int:
        """Reads percent signs, factorials, scale words and the unit behind a number."""
        while self.at(index).kind == "%" or (self.at(index).kind == "!" and self.goes_on(index + 1)):
            side.pieces.append(Piece(self.at(index).text))
            side.operations += self.at(index).kind == "!"
            index += 1
        words: list[str] = []
        end = index
        while len(words) < MAX_UNIT_WORDS:
            token = self.at(end)
            if token.kind == "op" and token.text == "/" and self.at(end + 1).kind in ("word", "unit"):
                if not self._is_unit(self.at(end + 1)):
                    break
                words.append("/" + self.at(end + 1).text)
                end += 2
            elif self._is_unit(token):
                words.append(token.text)
                end = self._power(end + 1)
            else:
                break
        if not words:
            token = self.at(index)
            if token.kind == "word" and token.text in _LETTERS:
                self._name(side, [token.text])
                side.loose = True
                return index + 1
            if token.kind == "word" and not token.spaced and token.text.casefold() not in STOP:
                side.symbolic = True  # 2x
                return index + 1
            if token.kind == "word" and len(token.text) == 1 and self.goes_on(index + 1):
                side.symbolic = True
                return index + 1
            return index
        if not self.goes_on(end) and self.at(end).kind in ("num", "(", "sym", "word"):
            return index  # words of the sentence
        self._name(side, words)
        return end

    def _power(self, index: int) -> int:
        """Behind the power of a unit: ``cm^2``, ``cm^{3}``."""
        if self.at(index).text != "^":
            return index
        if self.at(index + 1).kind == "num":
            return index + 2
        braced = self.at(index + 1).text == "{" and self.at(index + 2).kind == "num" and self.at(index + 3).text == "}"
        return index + 4 if braced else index

    def _is_unit(self, token: Token) -> bool:
        if token.kind == "unit":
            return True
        word = token.text.casefold()
        if token.kind != "word" or word in STOP or word in REMAINDER or word in ("of", "mod", "choose"):
            return False
        return len(word) > 2 or (known(token.text) is not None and len(word) > 1)

    def goes_on(self, index: int) -> bool:
        """Whether the expression, or the statement, goes on here."""
        token = self.at(index)
        return token.kind in ("op", "rel", ")") or (token.kind == "word" and token.text.casefold() == "of")

    def _name(self, side: Side, words: list[str]) -> None:
        piece = side.pieces[-1]
        if not piece.number:
            return
        scale = _DOZENS.get(words[0].casefold().removesuffix("s"), Fraction(1))
        if scale != 1:
            words = words[1:]
        name = " ".join(words).replace(" /", "/")
        factor = known(name) if name else None
        side.pieces[-1] = Piece(piece.text, True, scale, factor if factor is not None else Fraction(1), name)


def known(name: str) -> Fraction | None:
    """The size of a known unit of measure."""
    unit = parse_unit(name)
    if unit is None or not unit.dims or unit.zero or any(dim.startswith("of:") for dim, _ in unit.dims):
        return None
    return unit.factor

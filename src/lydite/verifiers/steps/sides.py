"""What is read of a claim: sides of an equality, made of pieces that the parser of ``math`` reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction


@dataclass(frozen=True)
class Piece:
    """A part of an expression, as the parser reads it.

    Attributes:
        text: a number, a sign, a bracket, or a whole sub-expression.
        number: whether it is a number.
        scale: what a word behind the number multiplies it by (``million``).
        factor: size of the number's unit in a base unit, where that is known.
        unit: the unit's words; empty without one.
        tight: a sign of division with no space around it, as in ``3 / 1/2``.
    """

    text: str
    number: bool = False
    scale: Fraction = Fraction(1)
    factor: Fraction = Fraction(1)
    unit: str = ""
    tight: bool = False


@dataclass
class Side:
    """One side of an equality.

    Attributes:
        pieces: the expression.
        others: further readings of the same words.
        symbolic: it has an unknown value in it.
        operations: signs of operation in it.
        remainder: of a division, where it was stated.
        loose: it may mean something else: a letter was taken for a unit (``5 m``), a name comes before (``day 1``).
        start, end: where it stands in the region.
    """

    pieces: list[Piece] = field(default_factory=list)
    others: list[list[Piece]] = field(default_factory=list)
    symbolic: bool = False
    operations: int = 0
    remainder: str = ""
    loose: bool = False
    start: int = 0
    end: int = 0

    @property
    def lone(self) -> str:
        """The number, where the side is one number, perhaps with a percent sign; else empty."""
        if self.operations or self.symbolic or not self.pieces or not self.pieces[0].number:
            return ""
        return self.pieces[0].text if len(self.pieces) == 1 or [p.text for p in self.pieces[1:]] == ["%"] else ""


@dataclass(frozen=True)
class Statement:
    """Sides that are said to be equal, in a row. ``relations``: one fewer, ``=`` or ``~``."""

    sides: tuple[Side, ...]
    relations: tuple[str, ...]

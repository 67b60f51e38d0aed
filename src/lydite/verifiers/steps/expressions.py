"""Expressions: as far as they go, with brackets, fractions, roots and functions of known values."""

from __future__ import annotations

from lydite.verifiers.steps.quantities import MAX_UNIT_WORDS, Quantities
from lydite.verifiers.steps.sides import Piece, Side

MAX_DEPTH = 30
MAX_PIECES = 400

_FUNCTIONS = frozenset(["sqrt", "max", "min", "abs", "gcd", "lcm", "floor", "ceil"])


class Expressions(Quantities):
    """A value that is not known makes a side symbolic; what can be read in two ways is kept in both."""

    def expression(self, index: int, depth: int) -> tuple[Side | None, int]:
        """The expression that starts here, as far as it goes, and the token behind it; none where none starts."""
        side = Side(start=self.at(index).start)
        if self.at(index).kind == "op" and self.at(index).text in "+-":
            side.pieces.append(Piece(self.at(index).text))
            index += 1
        after = self.operand(side, index, depth)
        if after == index:
            return None, index
        while True:
            side.end = self.at(after - 1).end
            if len(side.pieces) > MAX_PIECES:
                side.symbolic = True
                del side.pieces[1:]
            token = self.at(after)
            sign = token.text if token.kind == "op" else ""
            if token.kind == "word" and token.text.casefold() == "of" and self._is_share(after):
                sign = "*"
            if sign:
                mark = len(side.pieces)
                start = after + 1
                side.pieces.append(Piece(sign, tight=sign == "/" and not (token.spaced or self.at(start).spaced)))
                if self.at(start).kind == "op" and self.at(start).text in "+-" and not self.at(start + 1).spaced:
                    side.pieces.append(Piece(self.at(start).text))
                    start += 1
                end = self.operand(side, start, depth)
                if end == start:
                    del side.pieces[mark:]
                    return side, after
                side.operations += 1
                after = end
            elif token.kind == "(" and self.at(after - 1).kind in ("num", ")", "word", "unit", "%", "!"):
                end = self.factor(side, after, depth)
                if end == after:
                    return side, after
                after = end
            elif token.kind in ("sym", "frac", "sqrt") and not token.spaced and self.at(after - 1).kind in ("num", ")"):
                end = self.operand(side, after, depth)
                if end == after:
                    return side, after
                side.operations += token.kind != "frac"
                after = end
            else:
                return side, after

    def _is_share(self, index: int) -> bool:
        """``20% of 50``, ``1/2 of 8``: the "of" between a share and a number."""
        before, after = self.at(index - 1), self.at(index + 1)
        if after.kind not in ("num", "(", "frac"):
            return False
        return before.kind in ("%", ")") or (before.kind == "num" and self.at(index - 2).text == "/")

    def factor(self, side: Side, index: int, depth: int) -> int:
        """A bracket right behind a value: a factor, or (after a space) perhaps a remark."""
        token = self.at(index)
        if token.spaced and not side.operations and self.at(index - 1).kind != ")":
            inner = Side()
            if self.operand(inner, index, depth) > index and not inner.symbolic:
                side.others.append([*side.pieces, Piece("*"), *inner.pieces])
            return index
        before = len(side.pieces)
        end = self.operand(side, index, depth)
        if end == index:
            return index
        if token.spaced:  # "12 - 2 (5 + 5) = 10" and "3 + 4 (see above)"
            side.others.append(side.pieces[:before])
        side.pieces.insert(before, Piece("*"))
        side.operations += 1
        return end

    def operand(self, side: Side, index: int, depth: int) -> int:
        """Reads a value into the side; where it ends, or the same place where there is none."""
        token = self.at(index)
        if token.kind == "num":
            return self.number(side, index)
        if token.kind == "(":
            return self.bracket(side, index, depth)
        if token.kind in ("frac", "sqrt"):
            return self.command(side, index, depth)
        if token.kind == "sym":
            side.symbolic = True
            index += 1
            while self.at(index).text in ("{", "[") and not self.at(index).spaced and token.text != "_":
                index = self.closes.get(index, index) + 1  # what a command takes: \\binom{5}{2}
            return index
        if token.kind == "word":
            return self.word(side, index, depth)
        return index

    def number(self, side: Side, index: int) -> int:
        token, following = self.at(index), self.at(index + 1)
        if token.text.endswith("..."):
            side.pieces.append(Piece(token.text, number=True))
            return self.unit(side, index + 1)
        below = self.at(index + 3)
        if (
            following.kind == "num" and following.spaced and self.at(index + 2).text == "/" and below.kind == "num"
            and "." not in token.text + following.text + below.text and int(following.text) < int(below.text) <= 1000
        ):  # fmt: skip
            side.pieces.append(Piece(f"({token.text}+{following.text}/{below.text})"))
            return self.unit(side, index + 4)
        if following.kind == "frac" and not following.spaced and token.text.isdigit():
            inner = Side()
            end = self.command(inner, index + 1, 0)
            if end > index + 1 and not inner.symbolic:
                side.pieces.append(Piece(f"({token.text}+{''.join(piece.text for piece in inner.pieces)})"))
                return self.unit(side, end)
        side.pieces.append(Piece(token.text, number=True))
        return self.unit(side, index + 1)

    def bracket(self, side: Side, index: int, depth: int) -> int:
        if depth >= MAX_DEPTH or index in self.hopeless:
            return index
        inner, end = self.expression(index + 1, depth + 1)
        if inner is None or self.at(end).kind != ")":
            self.hopeless.add(index)
            return index
        side.symbolic = side.symbolic or inner.symbolic
        side.loose = side.loose or inner.loose
        side.operations += inner.operations
        side.pieces += [Piece("("), *inner.pieces, Piece(")")]
        return self.unit(side, end + 1)

    def command(self, side: Side, index: int, depth: int) -> int:
        """A fraction or a root, with its arguments in braces or one digit each."""
        wanted = 2 if self.at(index).kind == "frac" else 1
        parts: list[str] = []
        end = index + 1
        for _ in range(wanted):
            token = self.at(end)
            inner = Side()
            if token.kind == "(":
                after = self.bracket(inner, end, depth)
                if after == end:
                    return index
                end = after
            elif token.kind == "num" and wanted == 2 and not parts and len(token.text) == 2 and token.text.isdigit():
                parts = list(token.text)  # \frac12
                end += 1
                break
            elif token.kind == "num":
                inner.pieces.append(Piece(token.text))
                end += 1
            else:
                return index
            side.symbolic = side.symbolic or inner.symbolic
            side.operations += inner.operations
            parts.append("".join(piece.text for piece in inner.pieces))
        side.pieces.append(Piece(f"(({parts[0]})/({parts[1]}))" if wanted == 2 else f"\\sqrt{{{parts[0]}}}"))
        side.operations += 1
        return self.unit(side, end)

    def word(self, side: Side, index: int, depth: int) -> int:
        """A name: a function of known values, or a value that is not known."""
        token = self.at(index)
        if self.is_call(index):
            inner = Side()
            end = self.bracket(inner, index + 1, depth)
            if end > index + 1:
                known = token.text.casefold() in _FUNCTIONS and not inner.symbolic
                side.symbolic = side.symbolic or not known
                side.pieces.append(Piece(token.text.casefold() + "".join(piece.text for piece in inner.pieces)))
                side.operations += 1
                return end
            return index
        end = index + 1
        while self.at(end).kind == "word" and end - index < MAX_UNIT_WORDS:
            end += 1
        if end - index > 1 and self.at(end).kind not in ("rel", "op"):
            return index
        side.symbolic = True
        return end

    def is_call(self, index: int) -> bool:
        after = self.at(index + 1)
        return after.kind == "(" and not after.spaced

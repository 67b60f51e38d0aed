"""The parser's cursor, and the forms that have brackets or names of their own: numerals, symbols, groups, matrices."""

from __future__ import annotations

from lydite.verifiers.math.nodes import Node, NotMathError, num
from lydite.verifiers.math.tokens import Token
from lydite.verifiers.math.words import number_words

_FUNCTION_LETTERS = frozenset("fgFGPQ")


def is_whole(node: Node) -> bool:
    """Whether a node is a whole number, written out."""
    return node.op == "num" and node.args[0].denominator == 1


class Forms:
    """A cursor over tokens. ``expression`` and ``argument`` are the parser's."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = list(tokens)
        self.at = 0
        self.depth = 0
        self.bars = 0
        self.bound: set[str] = set()  # indices of sums

    def peek(self, ahead: int = 0) -> Token | None:
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else None

    def take(self) -> Token:
        if self.at >= len(self.tokens):
            raise NotMathError
        self.at += 1
        return self.tokens[self.at - 1]

    def is_next(self, *values: str) -> bool:
        if self.at >= len(self.tokens):
            return False
        token = self.tokens[self.at]
        return token.type in ("op", "cmd") and token.value in values

    def expect(self, value: str) -> None:
        if not self.is_next(value):
            raise NotMathError
        self.at += 1

    def numeral(self, token: Token) -> Node:
        amount, digits = token.value
        if self.is_next("_") and digits.isdigit():
            self.at += 1
            base = self.base()
            if not is_whole(base) or not 2 <= base.args[0] <= 36 or any(int(d) >= base.args[0] for d in digits):
                raise NotMathError
            return Node("base", (int(digits, int(base.args[0])), int(base.args[0]), digits))
        return Node("num", (amount,))

    def base(self) -> Node:
        """The base of a numeral: a number, or its name."""
        word = self.peek(1) if self.is_next("{") else self.peek()
        value = number_words([word.value.lower()]) if word is not None and word.type == "word" else None
        if value is None:
            return self.argument()
        closing = self.is_next("{")
        self.at += 2 if closing else 1
        if closing:
            self.expect("}")
        return num(value)

    def symbol(self, name: str) -> Node:
        while self.is_next("_", "'"):
            if self.take().value == "'":
                name += "'"
                continue
            token = self.take()
            if token.value == "{":
                parts: list[str] = []
                while not self.is_next("}"):
                    inner = self.take()
                    parts.append(inner.value[1] if inner.type == "num" else str(inner.value))
                self.at += 1
                name += "_" + "".join(parts)
            elif token.type in ("num", "sym"):
                name += "_" + (token.value[1] if token.type == "num" else token.value)
            else:
                raise NotMathError
        if name in ("e", "i") and name not in self.bound:
            return Node("const", (name,))
        if name in _FUNCTION_LETTERS or name == "C" or name[-1:] == "'":
            return self.applied(name)
        return Node("sym", (name,))

    def applied(self, name: str) -> Node:
        """f(x), f'(x), f^{-1}(x); C(n, k); else the letter alone."""
        values = [token.value for token in self.tokens[self.at : self.at + 5]]
        inverse = [value[1] if isinstance(value, tuple) else value for value in values] == ["^", "{", "-", "1", "}"]
        opening = self.peek(5) if inverse else self.peek()
        if opening is None or opening.value != "(" or name in ("e'", "i'"):
            return Node("sym", (name,))
        start, self.at = self.at, self.at + (6 if inverse else 1)
        items = self.items(")")
        self.at += 1
        if name != "C":
            return Node("call", (name + "^-1" if inverse else name, items))
        if inverse or len(items) != 2:
            self.at = start
            return Node("sym", (name,))
        return Node("call", ("binom", items))

    def group(self, close: str) -> Node:
        node = self.expression(0)
        if self.is_next("over", "choose"):
            word = self.take().value
            bottom = self.expression(0)
            node = Node("div", (node, bottom)) if word == "over" else Node("call", ("binom", (node, bottom)))
        if self.is_next(","):
            rest = [node]
            while self.is_next(","):
                self.at += 1
                rest.append(self.expression(0))
            node = Node("list", tuple(rest))
        self.expect(close)
        return node

    def items(self, *closing: str) -> tuple[Node, ...]:
        """Comma-separated expressions up to (not including) a closing bracket."""
        bars, self.bars = self.bars, 0
        items: list[Node] = []
        while not self.is_next(*closing):
            items.append(self.expression(0))
            if self.is_next(",", ";"):
                self.at += 1
                if self.is_next(*closing):
                    raise NotMathError  # (3, )
            elif not self.is_next(*closing):
                raise NotMathError
        self.bars = bars
        return tuple(items)

    def bracket(self, opening: str) -> Node:
        items = self.items(")", "]")
        closing = self.take().value
        if len(items) == 1 and items[0].op == "list":
            items = items[0].args
        if len(items) == 1:
            if (opening == "(") != (closing == ")"):
                raise NotMathError
            return items[0]
        if not items:
            raise NotMathError
        return Node("tuple", (opening, closing, items))

    def braces(self) -> Node:
        items = self.items("}")
        self.at += 1
        return Node("set", items)

    def bar(self) -> Node:
        self.bars += 1
        inner = self.expression(0)
        self.expect("|")
        self.bars -= 1
        return Node("call", ("abs", (inner,)))

    def matrix(self, token: Token) -> Node:
        begin, name = token.value
        if not begin or name not in ("pmatrix", "bmatrix", "matrix", "array", "Bmatrix", "smallmatrix", "vmatrix"):
            raise NotMathError
        rows: list[tuple[Node, ...]] = []
        row: list[Node] = []
        while True:
            following = self.peek()
            if following is None:
                raise NotMathError
            if following.type == "env":
                if following.value != (False, name):
                    raise NotMathError
                self.at += 1
                break
            if following.value == "hline":
                self.at += 1
            elif following.value == "\\" and following.type == "cmd":
                self.at += 1
                rows.append(tuple(row))
                row = []
            elif following.value == "&":
                self.at += 1
            else:
                row.append(self.expression(0))
        if row:
            rows.append(tuple(row))
        if not rows or len({len(cells) for cells in rows}) != 1:
            raise NotMathError
        if name == "array" and len(rows) == len(rows[0]) == 1:
            return rows[0][0]
        return Node("det" if name == "vmatrix" else "matrix", tuple(rows))

    def expression(self, floor: int) -> Node:
        """An expression of operators that bind tighter than ``floor``."""
        raise NotImplementedError

    def argument(self, digit: bool = True) -> Node:
        """What a TeX command takes."""
        raise NotImplementedError

"""From tokens to a tree: a Pratt parser, linear in the tokens, bounded in depth.

Precedences, low to high: union and intersection; sums and plus-minus; ``mod``; products, explicit or by juxtaposition,
and quotients (left to right); signs; powers; factorial, percent and degree.
"""

from __future__ import annotations

from fractions import Fraction

from lydite.verifiers.math.nodes import Node, NotMathError, TooBigError, height, num
from lydite.verifiers.math.tokens import FUNCTIONS, Token
from lydite.verifiers.math.words import number_words

_split = str.split  # tables of words stay readable

MAX_DEPTH = 60
MAX_HEIGHT = 120
"""Levels of the tree; a sum of n terms has n."""

_BINARY = {"cup": 1, "cap": 1, "setminus": 1, "+": 3, "-": 3, "pm": 3, "mp": 3, "bmod": 4, "mod": 4, "*": 5,
    "times": 5, "cdot": 5,
           "/": 5, "div": 5}  # fmt: skip
_OPS = {"cup": "cup", "cap": "cap", "setminus": "minus", "+": "add", "-": "sub", "pm": "pm", "mp": "mp",
    "bmod": "rem", "mod": "rem",
        "*": "mul", "times": "mul", "cdot": "mul", "/": "div", "div": "div"}  # fmt: skip
_IMPLICIT = 5
_SIGN = 4
"""A sign takes the whole product after it: -1\\frac{1}{2} is -(1 + 1/2)."""
_UNARY = 6
_POSTFIX = frozenset(["!", "%", "^", "_", "'", "pmod", "circ"])
_CONSTS = {"pi": "pi", "infty": "oo"}
_GREEK = frozenset(
    _split(
        "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi rho sigma tau phi chi psi"
        " omega Gamma Delta Theta Lambda Xi"
        " Sigma Phi Psi Omega ell hbar"
    )
)
_ALIASES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "lg": "log"}
_FUNCTION_LETTERS = frozenset("fgFGPQ")
_SETS = frozenset("RZNQC")


def parse(tokens: list[Token]) -> Node:
    """The tree of one expression, without relations.

    Raises:
        NotMathError: not an expression.
        TooBigError: nested too deeply.
    """
    parser = _Parser(tokens)
    node = parser.expression(0)
    if parser.at < len(parser.tokens):
        raise NotMathError
    if height(node) > MAX_HEIGHT:
        raise TooBigError  # evaluation recurses
    return node


def _literal(node: Node) -> bool:
    return node.op == "num" and node.args[0].denominator == 1


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = list(tokens)
        self.at = 0
        self.depth = 0
        self.bars = 0

    def peek(self, ahead: int = 0) -> Token | None:
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else None

    def take(self) -> Token:
        if self.at >= len(self.tokens):
            raise NotMathError
        self.at += 1
        return self.tokens[self.at - 1]

    def is_next(self, *values: str) -> bool:
        token = self.peek()
        return token is not None and token.type in ("op", "cmd") and token.value in values

    def expect(self, value: str) -> None:
        if not self.is_next(value):
            raise NotMathError
        self.at += 1

    def expression(self, floor: int) -> Node:
        """An expression of operators that bind tighter than ``floor``."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooBigError
        left = self.prefix()
        while (token := self.peek()) is not None:
            value = token.value if token.type in ("op", "cmd") else None
            if value in _POSTFIX:
                left = self.postfix(left)
                continue
            if value == "(" and (inside := self.peek(1)) is not None and inside.type == "cmd" and inside.value == "mod":
                self.at += 2
                left = Node("mod", (left, self.expression(0)))
                self.expect(")")
                continue
            power = _BINARY.get(value) if isinstance(value, str) else None
            if power is not None and isinstance(value, str):
                if power <= floor:
                    break
                self.at += 1
                right = self.expression(power)
                left = Node("add", (left, Node("neg", (right,)))) if value == "-" else Node(_OPS[value], (left, right))
            elif floor < _IMPLICIT and self.starts_factor(token):
                left = self.juxtapose(left)
            else:
                break
        self.depth -= 1
        return left

    def juxtapose(self, left: Node) -> Node:
        """Two factors in a row: a product, or a mixed number (``2 3/4``, ``2\frac34``)."""
        start = self.at
        right = self.expression(_UNARY)
        first = self.tokens[start]
        if left.op == "num" and first.type == "num":
            if not (_literal(left) and _literal(right) and first.spaced and self.is_next("/")):
                raise NotMathError
            below = self.peek(1)
            if below is None or below.type != "num" or not 0 < right.args[0] < below.value[0]:
                raise NotMathError
            self.at += 2
            return num(left.args[0] + right.args[0] / below.value[0])
        if _literal(left) and first.value == "frac" and self.tokens[start - 1].type == "num":
            part = right.args[0] if right.op in ("percent", "degree") else right
            if part.op == "div" and all(_literal(side) for side in part.args):
                top, bottom = part.args[0].args[0], part.args[1].args[0]
                if 0 < top < bottom:
                    mixed = num(left.args[0] + top / bottom)
                    return mixed if part is right else Node(right.op, (mixed,))
        if first.type == "num" and left.op == "sym":
            raise NotMathError  # x2 is no product, but \sqrt{2}3, )3 and \pi 2 are
        return Node("mul", (left, right))

    def starts_factor(self, token: Token) -> bool:
        if token.type in ("num", "sym"):
            return True
        if token.type == "env":
            return bool(token.value[0])
        if token.type == "op":
            return token.value in "([{" or (token.value == "|" and not self.bars)
        return token.type == "cmd" and (
            token.value
            in (
                "frac",
                "sqrt",
                "binom",
                "{",
                "langle",
                "lfloor",
                "lceil",
                "|",
                "mathbb",
                "overline",
                "emptyset",
                "ldots",
            )
            or token.value in _CONSTS
            or token.value in _GREEK
            or token.value in FUNCTIONS
        )

    def prefix(self) -> Node:
        token = self.take()
        kind, value = token.type, token.value
        if kind == "num":
            return self.numeral(token)
        if kind == "sym":
            return self.symbol(value)
        if kind == "env":
            return self.matrix(token)
        if kind == "word":
            raise NotMathError
        if value == "-":
            inner = self.expression(_SIGN)
            if inner.op == "num":
                return num(-inner.args[0])
            return Node("neg", (inner,))
        if value == "+":
            return self.expression(_SIGN)
        if value in ("pm", "mp"):
            return Node(value, (num(0), self.expression(_SIGN)))
        if value == "(" or value == "[":
            return self.bracket(value)
        if value == "{" and kind == "op":
            return self.group("}")
        if value == "{":
            return self.braces()
        if value == "|":
            return self.bar()
        if value in ("lfloor", "lceil", "langle"):
            close = {"lfloor": "rfloor", "lceil": "rceil", "langle": "rangle"}[value]
            items = self.items(close)
            self.at += 1
            if value == "langle":
                return Node("tuple", ("(", ")", items))
            if len(items) != 1:
                raise NotMathError
            return Node("call", ("floor" if value == "lfloor" else "ceil", items))
        if value == "frac":
            return Node("div", (self.argument(), self.argument()))
        if value == "binom":
            return Node("call", ("binom", (self.argument(), self.argument())))
        if value == "sqrt":
            return self.root()
        if value == "ldots":
            return Node("dots")
        if value == "emptyset":
            return Node("set")
        if value == "mathbb":
            name = self.argument()
            if name.op == "sym" and name.args[0] in _SETS:
                return Node("named", (name.args[0],))
            raise NotMathError
        if value in _CONSTS:
            return Node("const", (_CONSTS[value],))
        if value in _GREEK:
            return self.symbol(value)
        if value in FUNCTIONS:
            return self.function(_ALIASES.get(value, value))
        raise NotMathError

    def numeral(self, token: Token) -> Node:
        amount, digits = token.value
        if self.is_next("_") and digits.isdigit():
            self.at += 1
            base = self.base()
            if not _literal(base) or not 2 <= base.args[0] <= 36 or any(int(d) >= base.args[0] for d in digits):
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
        if name in ("e", "i"):
            return Node("const", (name,))
        if name in _FUNCTION_LETTERS and self.is_next("("):
            self.at += 1
            items = self.items(")")
            self.at += 1
            return Node("call", (name, items))
        return Node("sym", (name,))

    def postfix(self, left: Node) -> Node:
        value = self.take().value
        if value == "!":
            return Node("fact", (left,))
        if value == "%":
            return Node("percent", (left,))
        if value == "circ":
            return Node("degree", (left,))
        if value == "pmod":
            return Node("mod", (left, self.argument()))
        if value == "^":
            if self.is_next("circ"):
                self.at += 1
                return Node("degree", (left,))
            if self.is_next("{") and (inner := self.peek(1)) is not None and inner.value == "circ":
                self.at += 2
                self.expect("}")
                return Node("degree", (left,))
            return Node("pow", (left, self.exponent()))
        raise NotMathError

    def exponent(self) -> Node:
        if self.is_next("-", "+"):
            sign = self.take().value
            inner = self.exponent()
            return Node("neg", (inner,)) if sign == "-" else inner
        base = self.argument(digit=False)
        while self.is_next("^"):  # towers bind to the right
            self.at += 1
            base = Node("pow", (base, self.exponent()))
        return base

    def argument(self, digit: bool = True) -> Node:
        r"""What a TeX command takes: a group, or one token; of a number one digit (``\frac12``)."""
        token = self.peek()
        if token is None:
            raise NotMathError
        if token.type == "op" and token.value == "{":
            self.at += 1
            return self.group("}")
        if token.type == "num" and digit and len(token.value[1]) > 1:
            digits = token.value[1]
            if not digits.isdigit():
                raise NotMathError
            self.tokens[self.at] = Token("num", (Fraction(digits[1:]), digits[1:]))
            return num(int(digits[0]))
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooBigError
        node = self.prefix()
        self.depth -= 1
        return node

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
            elif not self.is_next(*closing):
                raise NotMathError
        self.bars = bars
        return tuple(items)

    def bracket(self, opening: str) -> Node:
        items = self.items(")", "]")
        closing = self.take().value
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

    def root(self) -> Node:
        index = num(2)
        if self.is_next("["):
            self.at += 1
            index = self.expression(0)
            self.expect("]")
        return Node("root", (self.argument(digit=False), index))

    def function(self, name: str) -> Node:
        power: Node | None = None
        base: Node | None = None
        while self.is_next("^", "_"):
            if self.take().value == "^":
                power = self.exponent()
            else:
                base = self.argument()
        if self.is_next("(", "{", "["):
            close = {"(": ")", "{": "}", "[": "]"}[self.take().value]
            items = self.items(close)
            self.at += 1
        else:
            items = (self.operand(),)
        if name in ("sqrt", "cbrt"):
            if len(items) != 1:
                raise NotMathError
            node = Node("root", (items[0], num(2 if name == "sqrt" else 3)))
        elif base is not None:
            if name != "log":
                raise NotMathError
            node = Node("call", ("log", (*items, base)))
        else:
            node = Node("call", (name, items))
        if power is not None and power == num(-1) and name in ("sin", "cos", "tan"):
            return Node("call", ("arc" + name, items))
        return node if power is None else Node("pow", (node, power))

    def operand(self) -> Node:
        """The argument of a function without brackets: factors in a row, up to the next sign or function."""
        node = self.expression(_UNARY)
        while (token := self.peek()) is not None:
            if token.type == "cmd" and token.value in FUNCTIONS:
                break
            if token.type == "op" and token.value in ("^", "!"):
                node = self.postfix(node)
            elif self.starts_factor(token) and token.value not in ("(", "["):
                node = self.juxtapose(node)
            elif token.value == "/" and node.op in ("const", "num"):
                self.at += 1
                node = Node("div", (node, self.expression(_UNARY)))
            else:
                break
        return node

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
        return Node("det" if name == "vmatrix" else "matrix", tuple(rows))

"""From tokens to a tree: a Pratt parser, linear in the tokens, bounded in depth.

Precedences, low to high: union and intersection; sums and plus-minus; ``mod``; products, explicit or by juxtaposition,
and quotients (left to right); signs; powers; factorial, percent and degree.
"""

from __future__ import annotations

from fractions import Fraction

from lydite.verifiers.math.calls import Calls
from lydite.verifiers.math.forms import is_whole
from lydite.verifiers.math.nodes import Node, NotMathError, TooBigError, height, num
from lydite.verifiers.math.tokens import FUNCTIONS, Token

_split = str.split  # tables of words stay readable

MAX_DEPTH = 60
MAX_HEIGHT = 120
"""Levels of the tree; a sum of n terms has n."""

_BINARY = {
    "cup": 1, "cap": 1, "setminus": 1, "+": 3, "-": 3, "pm": 3, "mp": 3, "bmod": 4, "mod": 4, "*": 5, "times": 5,
    "cdot": 5, "/": 5, "div": 5,
}  # fmt: skip
_OPS = {
    "cup": "cup", "cap": "cap", "setminus": "minus", "+": "add", "-": "sub", "pm": "pm", "mp": "mp", "bmod": "rem",
    "mod": "rem", "*": "mul", "times": "mul", "cdot": "mul", "/": "div", "div": "div",
}  # fmt: skip
_IMPLICIT = 5
_SIGN = 4
"""A sign takes the whole product after it: -1\\frac{1}{2} is -(1 + 1/2)."""
_UNARY = 6
_POSTFIX = frozenset(["!", "%", "^", "_", "'", "pmod", "circ"])
_FACTORS = frozenset(_split("frac sqrt binom { langle lfloor lceil | mathbb overline emptyset ldots sum prod"))
_CONSTS = {"imath": "i", "pi": "pi", "infty": "oo"}
_GREEK = frozenset(
    _split(
        "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi rho sigma tau phi chi psi"
        " omega Gamma Delta Theta Lambda Xi"
        " Sigma Phi Psi Omega ell hbar"
    )
)
_ALIASES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "lg": "log"}


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
    if 2 * len(tokens) >= MAX_HEIGHT and height(node) > MAX_HEIGHT:  # a token adds two levels at most
        raise TooBigError  # evaluation recurses
    return node


class _Parser(Calls):
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
            if (
                value == "("
                and (inside := self.peek(1)) is not None
                and inside.type == "cmd"
                and inside.value in ("mod", "bmod")
            ):
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
            if not (is_whole(left) and is_whole(right) and first.spaced and self.is_next("/")):
                raise NotMathError
            below = self.peek(1)
            if below is None or below.type != "num" or not 0 < right.args[0] < below.value[0]:
                raise NotMathError
            self.at += 2
            return num(left.args[0] + right.args[0] / below.value[0])
        opens = first.value == "{" and self.tokens[start + 1].value == "frac"
        if is_whole(left) and (first.value == "frac" or opens) and self.tokens[start - 1].type == "num":
            part = right.args[0] if right.op in ("percent", "degree") else right
            if part.op == "div" and all(is_whole(side) for side in part.args):
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
            token.value in _FACTORS or token.value in _CONSTS or token.value in _GREEK or token.value in FUNCTIONS
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
            return self.numbers()
        if value in ("sum", "prod"):
            return self.series(value)
        if value in _CONSTS:
            return Node("const", (_CONSTS[value],))
        if value in _GREEK:
            return self.symbol(value)
        if value in FUNCTIONS:
            return self.function(_ALIASES.get(value, value))
        raise NotMathError

    def postfix(self, left: Node) -> Node:
        value = self.take().value
        if value == "!":
            if self.is_next("!"):
                self.at += 1
                return Node("call", ("dfact", (left,)))
            return Node("fact", (left,))
        if value == "%":
            return Node("percent", (left,))
        if value == "circ":
            return Node("degree", (left,))
        if value == "pmod":
            return Node("mod", (left, self.argument()))
        if value == "^":
            if self.is_next("circ") or ((raised := self.peek()) is not None and raised[:2] == ("sym", "o")):
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

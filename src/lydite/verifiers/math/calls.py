r"""The parser's forms that have names: roots, functions, sums and products, sets of numbers."""

from __future__ import annotations

from lydite.verifiers.math.forms import Forms
from lydite.verifiers.math.nodes import Node, NotMathError, num, substitute, symbols
from lydite.verifiers.math.tokens import FUNCTIONS, Token

_RECIPROCALS = {"sech": "cosh", "csch": "sinh", "coth": "tanh"}
_NUMBERS = frozenset("RZNQC")
_SIGNS = {
    "+": "+", "-": "-", "*": "*", "ge": "+0", ">=": "+0", ">": "+", "<": "-", "le": "-0", "<=": "-0", "ne": "*",
    "!=": "*",
}  # fmt: skip
_TERMS = 4  # how tightly a sum holds its terms: products belong to it, a further sum does not
_ARGUMENT = 6


class Calls(Forms):
    """``postfix``, ``juxtapose`` and ``starts_factor`` are the parser's."""

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
            opening = self.take()
            close = {"(": ")", "{": "}", "[": "]"}[opening.value]
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
        if name in _RECIPROCALS:
            node = Node("div", (num(1), Node("call", (_RECIPROCALS[name], items))))
            return node if power is None else Node("pow", (node, power))
        if power is not None and power == num(-1) and name in ("sin", "cos", "tan", "cot", "sec", "csc"):
            return Node("call", ("arc" + name, items))
        return node if power is None else Node("pow", (node, power))

    def operand(self) -> Node:
        """The argument of a function without brackets: factors in a row, up to the next sign or function."""
        node = self.expression(_ARGUMENT)
        while (token := self.peek()) is not None:
            if token.type == "cmd" and token.value in FUNCTIONS:
                break
            if token.type == "op" and token.value in ("^", "!"):
                node = self.postfix(node)
            elif self.starts_factor(token) and token.value not in ("(", "["):
                node = self.juxtapose(node)
            elif token.value == "/" and node.op in ("const", "num"):
                self.at += 1
                node = Node("div", (node, self.expression(_ARGUMENT)))
            else:
                break
        return node

    def series(self, op: str) -> Node:
        r"""``\sum_{k=1}^{10} k^2``: an index that runs over whole numbers, and what is added up or multiplied."""
        self.expect("_")
        self.expect("{")
        index = self.take()
        if index.type != "sym":
            raise NotMathError
        self.expect("=")
        low = self.expression(0)
        self.expect("}")
        self.expect("^")
        high = self.argument(digit=False)
        name = str(index.value)
        outer, self.bound = self.bound, self.bound | {name}
        term = self.expression(_TERMS - 1)
        self.bound = outer
        if any("_" in symbol and name in symbol.partition("_")[2] for symbol in symbols(term)):
            raise NotMathError  # a_k is another number for each k
        bound = f"#{self.depth}"  # one name for the index, whatever it is called
        return Node(op, (bound, low, high, substitute(term, name, Node("sym", (bound,)))))

    def numbers(self) -> Node:
        r"""``\mathbb{R}``, ``\mathbb{R}^+``, ``\mathbb{R}_{\ge 0}`` and their like."""
        name = self.argument()
        if name.op != "sym" or name.args[0] not in _NUMBERS:
            raise NotMathError
        letter = str(name.args[0])
        mark = ""
        while self.is_next("^", "_"):
            self.at += 1
            braced = self.is_next("{")
            self.at += braced
            piece = str(self.take().value)
            sign = _SIGNS.get(piece, "")
            if piece not in ("+", "-", "*"):
                zero = self.take()
                if zero.type != "num" or zero.value[0] != 0:
                    raise NotMathError
            if not sign:
                raise NotMathError
            if braced:
                self.expect("}")
            mark += sign
        return Node("named", (letter + mark,))

    def exponent(self) -> Node:
        """What stands behind a caret."""
        raise NotImplementedError

    def postfix(self, left: Node) -> Node:
        """An operator behind its operand."""
        raise NotImplementedError

    def juxtapose(self, left: Node) -> Node:
        """Two factors in a row."""
        raise NotImplementedError

    def starts_factor(self, token: Token) -> bool:
        """Whether a token may begin a factor."""
        raise NotImplementedError

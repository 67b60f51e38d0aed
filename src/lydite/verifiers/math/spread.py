"""What an answer that says several things says, one by one."""

from __future__ import annotations

from lydite.verifiers.math.answer import SCALARS, Answer
from lydite.verifiers.math.exact import rational
from lydite.verifiers.math.nodes import Node, contains, num


def members(answer: Answer) -> tuple[Answer, ...] | None:
    """Members of a finite set or of plus-minus; ``None`` for what is one thing."""
    node = answer.node
    if node is None:
        return None
    if node.op == "set":
        return tuple(part for item in node.args for part in flat(as_answer(item), True))
    if answer.kind in SCALARS and contains(node, "pm", "mp"):
        both = contains(node, "mp")
        forms = [_signed(node, 1, both), _signed(node, -1, both)]
        return tuple(answer._replace(node=form, raw="") for form in forms)
    return None


def _signed(node: Node, sign: int, both: bool) -> Node:
    if node.op in ("pm", "mp"):
        this = sign if node.op == "pm" else -sign
        left, right = (_signed(arg, sign, both) for arg in node.args)
        right = right if this > 0 else Node("neg", (right,))
        return right if left == num(0) else Node("add", (left, right))
    args = tuple(
        _signed(arg, sign, both)
        if isinstance(arg, Node)
        else tuple(_signed(item, sign, both) if isinstance(item, Node) else item for item in arg)
        if isinstance(arg, tuple)
        else arg
        for arg in node.args
    )
    return Node(node.op, args)


def as_answer(node: Node) -> Answer:
    """A member of a set or tuple as an answer of its own."""
    kinds = {"tuple": "tuple", "matrix": "matrix", "set": "set", "dots": "sequence"}
    return Answer(kinds.get(node.op, "expression"), "", node)


def _is_word(node: Node | None) -> bool:
    """Letters in a row, as in HT for head and tail: no product, for HT is not TH."""
    while node is not None and node.op == "mul" and node.args[1].op == "sym" and node.args[1].args[0].isupper():
        if node.args[0].op == "sym":
            return bool(node.args[0].args[0].isupper())
        node = node.args[0]
    return False


def _spelled(node: Node) -> str:
    return str(node.args[0]) if node.op == "sym" else "".join(_spelled(part) for part in node.args)


def flat(answer: Answer, within: bool = False) -> list[Answer]:
    """What a list lists: members of a set, unless there are several, and both signs of plus-minus one by one."""
    if answer.kind == "list":
        return [part for item in answer.items for part in flat(item, len(answer.items) > 1)]
    if answer.kind == "assign":
        inner = flat(answer.items[0])
        return inner if len(inner) > 1 else [answer]
    if within and answer.node is not None and answer.node.op == "set":
        return [answer]  # a list of sets
    if answer.kind == "expression" and answer.node is not None and _is_word(answer.node):
        return [Answer("text", "", data=_spelled(answer.node))]
    several = members(answer)
    return [answer] if several is None else [part for member in several for part in flat(member)]


def letters(answer: Answer) -> str:
    """Letters of a question with several right choices: ``AC`` or ``A, C``."""
    if answer.kind == "list":
        nodes = [item.node for item in answer.items]
        names = [str(node.args[0]) for node in nodes if node is not None and node.op == "sym"]
        return "".join(sorted(names)) if len(names) == len(nodes) and all("A" <= name <= "J" for name in names) else ""
    return (
        "".join(sorted(answer.raw)) if answer.raw.isalpha() and all("A" <= char <= "J" for char in answer.raw) else ""
    )


def mixed_number(answer: Answer) -> Answer | None:
    """5 and 1/3 for five and a third."""
    if answer.data != "and" or len(answer.items) != 2:
        return None
    whole, part = (item.node for item in answer.items)
    if whole is None or part is None or answer.items[0].kind != "integer" or part.op not in ("div", "num"):
        return None
    share = rational(part)
    if share is None or not 0 < share < 1 or answer.items[1].unit is not None:
        return None
    return answer.items[1]._replace(node=Node("add", (whole, num(share))), raw="")


def is_of_unknowns(answer: Answer) -> bool:
    """Whether a list says what several unknowns are: x = 2, y = 3; x_1 = 2, x_2 = 3 are values of one."""
    if answer.kind != "list" or not all(item.kind == "assign" and item.data == "=" for item in answer.items):
        return False
    names = {
        item.label.args[0].partition("_")[0]
        for item in answer.items
        if isinstance(item.label, Node) and item.label.op == "sym"
    }
    return len(names) == len(answer.items)

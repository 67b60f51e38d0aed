"""Small faults put into a program: one change of its syntax tree at a time.

The operators are those that mutation testing has settled on (Offutt et al., "An experimental determination of
sufficient mutant operators", TOSEM 1996: relations, logic, arithmetic, absence of an operation), and those of the
common tools for Python (constants, returned values, statements left out). Mutants that the compiler cannot tell from
the original or from one another are left out: they are equivalent or repeat each other (Papadakis et al., "Trivial
compiler equivalence", ICSE 2015).
"""

from __future__ import annotations

import ast
import copy
import warnings
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import msgspec

MAX_SOURCE = 100_000
"""Characters of a program that is mutated."""

_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_RELATIONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}


class Mutant(msgspec.Struct, frozen=True, kw_only=True):
    """A program with one fault.

    Attributes:
        line: where, from 1.
        operator: which kind of change: arithmetic, relation, logic, constant, condition, result, statement, loop.
        was, now: the changed piece before and after.
        source: the whole program.
    """

    line: int
    operator: str
    was: str
    now: str
    source: str

    @property
    def told(self) -> str:
        return f"line {self.line}: {self.was} → {self.now}"


class _Place(msgspec.Struct, frozen=True):
    """A change: of the field of a node, or of one item of a list in it."""

    node: ast.AST
    field: str
    index: int | None
    operator: str
    new: Any
    was: str
    now: str


def mutants(source: str) -> tuple[list[Mutant], int]:
    """Every mutant of a program, in the order of its lines, and how many were left out as equivalent or repeated.

    Raises:
        SyntaxError, ValueError: the source is no Python program, or longer than ``MAX_SOURCE``.
    """
    if len(source) > MAX_SOURCE:
        raise ValueError(f"longer than {MAX_SOURCE} characters")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "is" with a literal, and the like
        tree = ast.parse(source)
        seen = {_compiled(tree)}
        found: list[Mutant] = []
        left_out = 0
        for place in sorted(_places(tree), key=lambda place: getattr(place.node, "lineno", 0)):
            changed = _changed(tree, place)
            code = _compiled(changed)
            if code is None or code in seen:
                left_out += 1
                continue
            seen.add(code)
            line = getattr(place.node, "lineno", 1)
            text = ast.unparse(changed) + "\n"
            found.append(Mutant(line=line, operator=place.operator, was=place.was, now=place.now, source=text))
    return found, left_out


def _changed(tree: ast.Module, place: _Place) -> ast.Module:
    """A copy of the tree with one change. The node is found again by where it stands in a walk of the tree."""
    at = next(at for at, node in enumerate(ast.walk(tree)) if node is place.node)
    made = copy.deepcopy(tree)
    node = next(node for number, node in enumerate(ast.walk(made)) if number == at)
    if place.index is None:
        setattr(node, place.field, place.new)
    else:
        getattr(node, place.field)[place.index] = place.new
    return ast.fix_missing_locations(made)


def _compiled(tree: ast.Module) -> tuple[Any, ...] | None:
    """What the compiler makes of it, but for where things stand; ``None`` where it makes nothing."""
    try:
        return _bare(compile(ast.unparse(tree), "program", "exec", dont_inherit=True, optimize=2))
    except (SyntaxError, ValueError, RecursionError):
        return None


def _bare(code: CodeType) -> tuple[Any, ...]:
    constants = tuple(
        _bare(item) if isinstance(item, CodeType) else (type(item).__name__, repr(item)) for item in code.co_consts
    )
    return (code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_exceptiontable)


def _places(tree: ast.Module) -> Iterator[_Place]:
    unread = {id(part) for node in ast.walk(tree) if is_text_alone(node) for part in (node, *ast.walk(node))}
    for node in ast.walk(tree):
        if id(node) not in unread:
            for change in _CHANGES:
                yield from change(node)


def is_text_alone(node: ast.AST) -> bool:
    """Docstrings: what stands there is read by nobody."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _place(node: ast.AST, field: str, operator: str, new: Any, was: ast.AST, now: ast.AST) -> _Place:
    return _Place(node, field, None, operator, new, _short(was), _short(now))


def _with(node: Any, **fields: Any) -> Any:
    made = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def _short(node: ast.AST) -> str:
    text = ast.unparse(node).partition("\n")[0]
    return text if len(text) <= 60 else text[:59] + "…"


def _arithmetic(node: ast.AST) -> Iterator[_Place]:
    if isinstance(node, ast.BinOp | ast.AugAssign) and (new := _ARITHMETIC.get(type(node.op))) is not None:
        yield _place(node, "op", "arithmetic", new(), node, _with(node, op=new()))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield _place(node, "op", "arithmetic", ast.UAdd(), node, _with(node, op=ast.UAdd()))


def _relation(node: ast.AST) -> Iterator[_Place]:
    if not isinstance(node, ast.Compare):
        return
    for index, operator in enumerate(node.ops):
        for new in _RELATIONS[type(operator)]:
            ops = [*node.ops[:index], new(), *node.ops[index + 1 :]]
            yield _Place(node, "ops", index, "relation", new(), _short(node), _short(_with(node, ops=ops)))


def _logic(node: ast.AST) -> Iterator[_Place]:
    if isinstance(node, ast.BoolOp):
        new = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield _place(node, "op", "logic", new(), node, _with(node, op=new()))
    for field in ("test", "value", "elt"):
        inner = getattr(node, field, None)
        if isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not):
            yield _place(node, field, "logic", inner.operand, inner, inner.operand)


def _condition(node: ast.AST) -> Iterator[_Place]:
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        for value in (True, False):
            if isinstance(node, ast.While) and value:
                continue  # most of these never end
            new = ast.Constant(value)
            yield _place(node, "test", "condition", new, node.test, new)
    if isinstance(node, ast.comprehension):
        for index, test in enumerate(node.ifs):
            new = ast.Constant(True)
            yield _Place(node, "ifs", index, "condition", new, f"if {_short(test)}", "if True")


def _constant(node: ast.AST) -> Iterator[_Place]:
    """A number by one up and down, a text replaced, a truth turned. Docstrings and match patterns stay."""
    if not isinstance(node, ast.Constant):
        return
    value = node.value
    if isinstance(value, bool):
        news: list[Any] = [not value]
    elif isinstance(value, int) and abs(value) < 10**100:
        news = [value + 1, value - 1]
    elif isinstance(value, float):
        news = [value + 1.0, -value]
    elif isinstance(value, str):
        news = [value + "X" if value else "X", ""] if value else ["X"]
    else:
        return
    for new in news:
        yield _place(node, "value", "constant", new, node, ast.Constant(new))


def _result(node: ast.AST) -> Iterator[_Place]:
    if isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
        new = ast.Constant(None)
        yield _place(node, "value", "result", new, node, _with(node, value=new))


def _statement(node: ast.AST) -> Iterator[_Place]:
    for field in ("body", "orelse", "finalbody"):
        statements = getattr(node, field, None)
        if not isinstance(statements, list) or isinstance(node, ast.Module):
            continue
        for index, statement in enumerate(statements):
            if isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr | ast.Raise) and not is_text_alone(
                statement
            ):
                yield _Place(node, field, index, "statement", ast.Pass(), _short(statement), "(left out)")


def _loop(node: ast.AST) -> Iterator[_Place]:
    for field in ("body", "orelse"):
        statements = getattr(node, field, None)
        for index, statement in enumerate(statements if isinstance(statements, list) else ()):
            if isinstance(statement, ast.Break):
                yield _Place(node, field, index, "loop", ast.Continue(), "break", "continue")
            elif isinstance(statement, ast.Continue):
                yield _Place(node, field, index, "loop", ast.Break(), "continue", "break")


_CHANGES: tuple[Callable[[ast.AST], Iterator[_Place]], ...] = (
    _arithmetic,
    _relation,
    _logic,
    _condition,
    _constant,
    _result,
    _statement,
    _loop,
)

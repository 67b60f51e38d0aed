"""Attacks on checkers of programs: ``code``, and ``text_transform`` where a function is asked for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from lydite.errors import InputError
from lydite.probes.panel.golds import own
from lydite.probes.panel.programs import PROGRAMS, Program, fenced, function
from lydite.probes.protocol import Attack, Check, Target
from lydite.verifiers.code.config import read_config

_VARY = "add tests that expect something else"
_HIDDEN = "add tests that the prompt does not show"
_CONSTANTS = ("True", "False", "0", "1", "''", "[]")
_PRINTED = ("", "0", "1", "YES", "NO", "-1")


class Examples(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown of the tests: calls ``(arguments, expected)`` and ``(input, expected)`` of programs."""

    calls: tuple[tuple[Any, Any], ...] = ()
    inputs: tuple[tuple[str, str], ...] = ()
    all_shown: bool = False


def attacks(target: Target) -> Iterator[Attack]:
    """Programs that leave, lie, look, or answer from a table."""
    for part in target.of("code"):
        try:
            config = read_config(part.config)
        except InputError:
            continue
        tests = part.config["tests"]
        reads = any(isinstance(test, dict) and "input" in test for test in tests)
        calls = not all(isinstance(test, dict) and "input" in test for test in tests)
        shown = examples(part.config, target.task.prompt_text)
        if reads:
            yield from programs()
            yield from _printed(_PRINTED)
        if calls and config.entry_point:
            yield from functions(config.entry_point, PROGRAMS)
            if not _takes_nothing(tests):
                yield from _constants(config.entry_point)
        yield from _tables(config.entry_point, shown)
    for part in target.of("text_transform"):
        if part.config.get("answer") != "output":
            yield from functions(str(part.config.get("entry_point") or "transform"), PROGRAMS)
    if own(target) and (name := _defined(target)) is not None:
        yield from functions(name, PROGRAMS)
        yield from _constants(name)


def functions(name: str, wanted: Iterable[Program]) -> Iterator[Attack]:
    """Every program that makes sense outside of pytest, as a function of this name."""
    for program in wanted:
        if not program.pytest:
            yield _attack(program, fenced(function(program, name)))


def programs() -> Iterator[Attack]:
    """The same as programs that read and print."""
    for program in PROGRAMS:
        if program.before and not program.pytest and program.kind not in ("always_equal", "always_equal_number"):
            yield _attack(program, fenced(program.before))


def _attack(program: Program, text: str) -> Attack:
    return Attack(
        name=program.name,
        kind=program.kind,
        what=program.what,
        mend=program.mend,
        text=text,
        costly=program.costly,
    )


def _constants(name: str) -> Iterator[Attack]:
    for constant in _CONSTANTS:
        program = Program(kind="constant", what=f"returns {constant}, whatever it is given", mend=_VARY)
        yield _attack(program, fenced(function(msgspec.structs.replace(program, body=f"return {constant}"), name)))


def _printed(values: Iterable[str]) -> Iterator[Attack]:
    for value in values:
        yield Attack(
            name=Check.ADVERSARIAL,
            kind="constant",
            what=f"prints {value or 'nothing'}, whatever it reads",
            mend=_VARY,
            text=fenced(f"print({value!r})\n"),
        )


def _tables(entry: str | None, shown: Examples) -> Iterator[Attack]:
    told = "a table of the examples that are shown"
    mend = f"no hidden part: {_HIDDEN}" if shown.all_shown else _HIDDEN
    if shown.calls and entry and "." not in entry:
        table = "{" + ", ".join(f"repr({args!r}): {expected!r}" for args, expected in shown.calls) + "}"
        source = f"def {entry}(*args, **kwargs):\n    return {table}.get(repr(list(args)))\n"
        yield Attack(name=Check.GAMEABILITY, kind="visible_table", what=told, mend=mend, text=fenced(source))
    if shown.inputs:
        source = f"import sys\nsys.stdout.write({dict(shown.inputs)!r}.get(sys.stdin.read(), ''))\n"
        yield Attack(name=Check.GAMEABILITY, kind="visible_table", what=told, mend=mend, text=fenced(source))


def examples(config: dict[str, Any], prompt: str) -> Examples:
    """Examples in ``visible`` and in the prompt: asserts, and lines of ``>>>`` with what follows."""
    calls: list[tuple[Any, Any]] = []
    inputs: list[tuple[str, str]] = []
    visible = config.get("visible") or []
    for test in visible:
        if isinstance(test, str):
            calls += asserted(test)
        elif "input" in test:
            inputs.append((test["input"], test.get("expected", "")))
        elif not test.get("kwargs"):
            calls.append((test.get("args", []), test.get("expected")))
    for line in re.findall(r"^\s*assert .{1,1000}$", prompt, re.MULTILINE):
        calls += asserted(line.strip())
    for call, result in re.findall(r"^\s*>>> (\w.{0,500})\n\s*(\S.{0,500})$", prompt, re.MULTILINE):
        calls += asserted(f"assert {call} == {result}")
    tests = config.get("tests") or []
    return Examples(calls=tuple(calls), inputs=tuple(inputs), all_shown=all(test in visible for test in tests))


def asserted(source: str) -> list[tuple[Any, Any]]:
    """Arguments and expected value of each ``assert f(literals) == literal`` in a source."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found = []
    for node in ast.walk(tree):
        test = node.test if isinstance(node, ast.Assert) else None
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq | ast.Is):
            left, right = test.left, test.comparators[0]
            if isinstance(left, ast.Call) and not left.keywords:
                try:
                    arguments = [ast.literal_eval(argument) for argument in left.args]
                    found.append((arguments, ast.literal_eval(right)))
                except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                    continue
    return found


def _takes_nothing(tests: list[Any]) -> bool:
    """Whether every test calls without arguments: then a constant is what is asked for."""
    return all(isinstance(test, dict) and not test.get("args") and not test.get("kwargs") for test in tests)


def _defined(target: Target) -> str | None:
    """The function that a prompt or a solution defines, for checkers of which nothing else is known."""
    for text in (target.solution_text or "", target.task.prompt_text):
        if found := re.findall(r"^\s*def (\w+)\(", text, re.MULTILINE):
            return str(found[-1])
    return None

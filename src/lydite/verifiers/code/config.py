"""The configuration of ``code``, read once."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass
from typing import Any

from lydite.errors import InputError
from lydite.verifiers.code.rewrite import compiled_test
from lydite.verifiers.code.values import NotPlainError, encode

FIELDS = ("tests", "visible", "entry_point", "timeout", "memory_mb")
TIMEOUT = 5.0
"""Seconds for one test, or for all calls of one assert-source test."""
MEMORY_MB = 512
MAX_TIMEOUT = 600.0


@dataclass(frozen=True)
class InputTest:
    """What a program prints for a standard input."""

    name: str
    input: str
    expected: str


@dataclass(frozen=True)
class CallTest:
    """What a function returns. ``arguments``: by position and by name, encoded. ``tolerance``: largest absolute
    difference of numbers."""

    name: str
    call: str
    arguments: bytes
    expected: Any
    tolerance: float | None = None


@dataclass(frozen=True)
class AssertTest:
    """Python source that calls the entry point, by its name or as ``candidate``, and raises where it is wrong."""

    name: str
    source: str


Test = InputTest | CallTest | AssertTest


@dataclass(frozen=True)
class CodeConfig:
    """What is tested, under which limits.

    Attributes:
        tests: what counts; names are ``t1``, ``t2`` ..., with `` visible`` behind those that ``visible`` shows too.
        examples: visible tests that are not among the tests: judged and shown, not counted.
        entry_point: the name that a completion defines, where known.
        timeout: seconds; memory_mb: MiB; of each run.
    """

    tests: tuple[Test, ...]
    examples: tuple[Test, ...]
    entry_point: str | None
    timeout: float
    memory_mb: int


def read_config(config: dict[str, Any]) -> CodeConfig:
    """The configuration.

    Raises:
        InputError: names the field that is unknown, missing or wrong.
    """
    for field in config:
        if field not in FIELDS:
            raise InputError("unknown field", field=field, remedy=f"code knows {', '.join(FIELDS)}")
    given, shown = _list(config.get("tests"), "tests"), _list(config.get("visible", []), "visible")
    if not given:
        raise InputError("has no tests", field="tests", remedy="nothing would be checked: give at least one")
    entry = config.get("entry_point")
    if entry is not None and not _is_name(entry):
        raise InputError(f"{entry!r} is no name", field="entry_point", remedy="give the bare name of a function")
    tests = tuple(
        _test(test, f"tests.{index}", f"t{index + 1}{' visible' if test in shown else ''}", entry)
        for index, test in enumerate(given)
    )
    extra = [(index, test) for index, test in enumerate(shown) if test not in given]
    examples = tuple(
        _test(test, f"visible.{index}", f"v{number} visible", entry) for number, (index, test) in enumerate(extra, 1)
    )
    if entry is None:
        calls = [test.call for test in tests if isinstance(test, CallTest)]
        entry = calls[0].partition(".")[0] if calls else None
        entry = entry or next((_called(test.source) for test in tests if isinstance(test, AssertTest)), None)
    if entry is None and any(isinstance(test, AssertTest) for test in [*tests, *examples]):
        raise InputError("is missing", field="entry_point", remedy="name the function that the tests call")
    for kind, group in (("tests", given), ("visible", shown)):
        for index, test in enumerate(group):
            if isinstance(test, str) and entry is not None and not _names(test, entry):
                raise InputError(f"never calls {entry}", field=f"{kind}.{index}", remedy="nothing would be checked")
    return CodeConfig(
        tests=tests,
        examples=examples,
        entry_point=entry,
        timeout=_number(config, "timeout", TIMEOUT, MAX_TIMEOUT),
        memory_mb=int(_number(config, "memory_mb", MEMORY_MB, 1 << 20)),
    )


def _list(value: Any, field: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError("missing, or not a list", field=field, remedy="give a list of tests")
    return value


def _test(test: Any, field: str, name: str, entry: str | None) -> Test:
    if isinstance(test, str):
        return AssertTest(name, _source(test, field))
    if not isinstance(test, dict):
        remedy = "give {input, expected}, {call, args, expected} or assert source"
        raise InputError("is no test", field=field, remedy=remedy)
    if "expected" not in test:
        raise InputError("is missing", field=f"{field}.expected", remedy="say what comes out")
    if "input" in test:
        _only(test, ("input", "expected"), field)
        for key in ("input", "expected"):
            if not isinstance(test[key], str):
                raise InputError("expected a text", field=f"{field}.{key}", remedy="what is read and what is printed")
        return InputTest(name, test["input"], test["expected"])
    _only(test, ("call", "args", "kwargs", "expected", "tolerance"), field)
    call = test.get("call", entry)
    if not isinstance(call, str) or not _is_name(call):
        raise InputError("missing, or no name", field=f"{field}.call", remedy="name the function, or give an input")
    arguments, keywords, tolerance = test.get("args", []), test.get("kwargs", {}), test.get("tolerance")
    if not isinstance(arguments, list):
        raise InputError("expected a list", field=f"{field}.args", remedy="give the arguments in [ ]")
    if not isinstance(keywords, dict):
        raise InputError("expected an object", field=f"{field}.kwargs", remedy="give arguments by name")
    if tolerance is not None and (
        isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0 <= tolerance < float("inf")
    ):
        raise InputError("expected a number from 0", field=f"{field}.tolerance", remedy="it is absolute, such as 1e-6")
    try:
        coded = encode((arguments, keywords))
    except NotPlainError as error:
        raise InputError(str(error), field=f"{field}.args", remedy="give smaller arguments") from None
    return CallTest(name, call, coded, test["expected"], tolerance)


def _source(test: str, field: str) -> str:
    try:
        compiled_test(test)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"is no Python source: {error}", field=field, remedy="give assert source") from None
    if not test.strip():
        raise InputError("is empty", field=field, remedy="give assert source")
    return test


def _names(test: str, entry: str) -> bool:
    """Whether a test's source speaks of what it tests at all."""
    wanted = {entry.rpartition(".")[2], "candidate"}
    return any(isinstance(node, ast.Name) and node.id in wanted for node in ast.walk(ast.parse(test)))


def _called(test: str) -> str | None:
    """The first name that a test calls and neither defines, imports nor finds built in."""
    tree = ast.parse(test)
    own = {"candidate", *dir(builtins)}
    calls: list[ast.Name] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            own.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            own |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.arg):
            own.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            calls.append(node.func)
    calls.sort(key=lambda name: (name.lineno, name.col_offset))
    return next((name.id for name in calls if name.id not in own), None)


def _only(test: dict[str, Any], known: tuple[str, ...], field: str) -> None:
    for key in test:
        if key not in known:
            raise InputError("unknown field", field=f"{field}.{key}", remedy=f"such a test has {', '.join(known)}")


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and all(part.isidentifier() for part in value.split("."))


def _number(config: dict[str, Any], field: str, default: float, most: float) -> float:
    value = config.get(field, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= most:
        raise InputError(
            f"expected a number above 0, at most {most:g}", field=field, remedy="leave it out for the default"
        )
    if field == "memory_mb" and value < 16:
        raise InputError("no interpreter runs in so little", field=field, remedy="give at least 16")
    return value

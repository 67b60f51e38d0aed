"""The configuration of ``code``, read once."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import Any

from lydite.codec import canonical
from lydite.errors import InputError
from lydite.verifiers.code.faults import class_use
from lydite.verifiers.code.plain import PlainTest, read_plain
from lydite.verifiers.code.rewrite import compiled_checker, compiled_test, parsed
from lydite.verifiers.code.values import NotPlainError, encode
from lydite.verifiers.code.wording import called, can_fail, names
from lydite.verifiers.fields import no_python

FIELDS = ("tests", "visible", "entry_point", "timeout", "memory_mb", "deterministic", "in_place")
CALL_FIELDS = ("call", "args", "kwargs", "expected", "tolerance", "multiset", "checker")
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
    """What a function returns.

    Attributes:
        arguments: by position and by name, encoded.
        expected: JSON; ``None`` also where there is none, which only a checker allows (``has_expected``).
        tolerance: largest absolute difference of numbers.
        multiset: the order of the list does not matter.
        checker: source that judges what was returned, in place of a comparison.
    """

    name: str
    call: str
    arguments: bytes
    expected: Any
    has_expected: bool = True
    tolerance: float | None = None
    multiset: bool = False
    checker: str | None = None


@dataclass(frozen=True)
class AssertTest:
    """Python source that calls the entry point, by its name or as ``candidate``, and raises where it is wrong.
    ``plain``: how it can be judged without being run, where it can."""

    name: str
    source: str
    plain: PlainTest | None = None


Test = InputTest | CallTest | AssertTest


@dataclass(frozen=True)
class CodeConfig:
    """What is tested, under which limits.

    Attributes:
        tests: what counts; names are ``t1``, ``t2`` ..., with `` visible`` behind those that ``visible`` shows too.
        examples: visible tests that are not among the tests: judged and shown, not counted.
        entry_point: the name that a completion defines, where known.
        timeout: seconds; memory_mb: MiB; of each run.
        deterministic: the same input again must give the same output.
        in_place: assert source sees what every call changes in its arguments, not only what calls do that are
            statements of their own.
    """

    tests: tuple[Test, ...]
    examples: tuple[Test, ...]
    entry_point: str | None
    timeout: float
    memory_mb: int
    deterministic: bool = False
    in_place: bool = False


def read_config(config: dict[str, Any]) -> CodeConfig:
    """The configuration.

    Raises:
        InputError: names the field that is unknown, missing or wrong.
    """
    for field in config:
        if field not in FIELDS:
            raise InputError("unknown field", field=field, remedy=f"code knows {', '.join(FIELDS)}")
    given, shown = _list(config.get("tests"), "tests"), _list(config.get("visible", []), "visible")
    seen, counted = set(map(canonical, shown)), set(map(canonical, given))
    if not given:
        raise InputError("has no tests", field="tests", remedy="nothing would be checked: give at least one")
    entry = config.get("entry_point")
    if entry is not None and not _is_name(entry):
        raise InputError(f"{entry!r} is no name", field="entry_point", remedy="give the bare name of a function")
    tests = tuple(
        _test(test, f"tests.{index}", f"t{index + 1}{' visible' if canonical(test) in seen else ''}", entry)
        for index, test in enumerate(given)
    )
    extra = [(index, test) for index, test in enumerate(shown) if canonical(test) not in counted]
    examples = tuple(
        _test(test, f"visible.{index}", f"v{number} visible", entry) for number, (index, test) in enumerate(extra, 1)
    )
    if entry is None:
        calls = [test.call for test in tests if isinstance(test, CallTest)]
        entry = calls[0].partition(".")[0] if calls else None
        entry = entry or next((called(test.source) for test in tests if isinstance(test, AssertTest)), None)
    if entry is None and any(isinstance(test, AssertTest) for test in [*tests, *examples]):
        raise InputError("is missing", field="entry_point", remedy="name the function that the tests call")
    sources = [test.source for test in [*tests, *examples] if isinstance(test, AssertTest)]
    if config.get("entry_point") is not None and sources and not any(names(source, entry or "") for source in sources):
        raise InputError(f"no test calls {entry}", field="entry_point", remedy="name the function that the tests call")
    in_place = _switch(config, "in_place")
    return CodeConfig(
        tests=tuple(_read(test, f"tests.{index}", entry, in_place) for index, test in enumerate(tests)),
        examples=tuple(
            _read(test, f"visible.{index}", entry, in_place) for (index, _), test in zip(extra, examples, strict=True)
        ),
        entry_point=entry,
        timeout=_number(config, "timeout", TIMEOUT, MAX_TIMEOUT),
        memory_mb=int(_number(config, "memory_mb", MEMORY_MB, 1 << 20)),
        deterministic=_switch(config, "deterministic"),
        in_place=in_place,
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
    if "expected" not in test and ("checker" not in test or "input" in test):
        raise InputError("is missing", field=f"{field}.expected", remedy="say what comes out")
    if "input" in test:
        _only(test, ("input", "expected"), field)
        for key in ("input", "expected"):
            if not isinstance(test[key], str):
                raise InputError("expected a text", field=f"{field}.{key}", remedy="what is read and what is printed")
        return InputTest(name, test["input"], test["expected"])
    return _call_test(test, field, name, entry)


def _call_test(test: dict[str, Any], field: str, name: str, entry: str | None) -> CallTest:
    _only(test, CALL_FIELDS, field)
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
    multiset, checker, expected = test.get("multiset", False), test.get("checker"), test.get("expected")
    if not isinstance(multiset, bool):
        raise InputError("expected true or false", field=f"{field}.multiset", remedy="true: in any order")
    if multiset and not isinstance(expected, list):
        raise InputError("needs a list in expected", field=f"{field}.multiset", remedy="leave it out")
    if multiset and tolerance is not None and not all(type(item) in (int, float) for item in expected or ()):
        raise InputError("with multiset, for numbers only", field=f"{field}.tolerance", remedy="write a checker")
    if checker is not None:
        for other in ("tolerance", "multiset"):
            if test.get(other):
                raise InputError("means nothing beside a checker", field=f"{field}.{other}", remedy="leave it out")
        _check_checker(checker, f"{field}.checker")
    try:
        coded = encode((arguments, keywords))
        encode(expected)
    except NotPlainError as error:
        raise InputError(str(error), field=f"{field}.args", remedy="give smaller values") from None
    return CallTest(name, call, coded, expected, "expected" in test, tolerance, multiset, checker)


def _check_checker(source: Any, field: str) -> None:
    if not isinstance(source, str):
        raise InputError("expected Python source", field=field, remedy="def check(args, kwargs, output): ...")
    try:
        compiled_checker(source)
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(no_python(error), field=field, remedy="give Python source") from None
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check"]
    if len(found) != 1 or [item.arg for item in found[0].args.args] != ["args", "kwargs", "output"]:
        raise InputError("does not define check", field=field, remedy="def check(args, kwargs, output): ...")


def _source(test: str, field: str) -> str:
    try:
        parsed(test)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(no_python(error), field=field, remedy="give assert source") from None
    if not test.strip():
        raise InputError("is empty", field=field, remedy="give assert source")
    return test


def _read(test: Test, field: str, entry: str | None, in_place: bool) -> Test:
    """Assert source with what can be read off it, now that the entry point is known."""
    if not isinstance(test, AssertTest) or entry is None:
        return test
    if (plain := read_plain(parsed(test.source), entry, in_place)) is not None:
        return replace(test, plain=plain)
    if not names(test.source, entry):
        raise InputError(f"never calls {entry}", field=field, remedy="nothing would be checked")
    if (use := class_use(test.source, entry)) is not None:
        remedy = f"call its method ({entry}.METHOD) in a test of {{call, args, expected}}, or give an input"
        raise InputError(f"uses {entry} as a class ({use}): no objects come back", field=field, remedy=remedy)
    if not can_fail(test.source):
        raise InputError("asserts nothing", field=field, remedy="whatever runs would be right: add an assert")
    try:
        compiled_test(test.source, entry)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(no_python(error), field=field, remedy="give assert source") from None
    return test


def _only(test: dict[str, Any], known: tuple[str, ...], field: str) -> None:
    for key in test:
        if key not in known:
            raise InputError("unknown field", field=f"{field}.{key}", remedy=f"such a test has {', '.join(known)}")


def _switch(config: dict[str, Any], field: str) -> bool:
    value = config.get(field, False)
    if not isinstance(value, bool):
        raise InputError("expected true or false", field=field, remedy="leave it out for false")
    return value


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

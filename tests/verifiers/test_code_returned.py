"""What may be returned: by functions and coroutines, of which types, and what a test makes of it."""

from __future__ import annotations

from typing import Any

import pytest

from lydite import verify
from lydite.verdict import Verdict


def judge(test: dict[str, Any] | str, program: str, **more: Any) -> Verdict:
    config = {"tests": [test], "entry_point": "f", "timeout": 5, **more}
    return verify({"type": "code", "config": config}, f"```python\n{program}\n```")


@pytest.mark.parametrize(
    ("returned", "expected", "reason"),
    [
        ("fractions.Fraction(1, 2)", 0.5, "correct"),
        ("fractions.Fraction(1, 3)", 1 / 3, "wrong"),
        ("decimal.Decimal('0.5')", 0.5, "correct"),
        ("decimal.Decimal('3')", 3, "correct"),
        ("decimal.Decimal('3')", "3", "wrong"),
        ("collections.namedtuple('P', 'x y')(1, 2)", [1, 2], "correct"),
        ("collections.Counter('aab')", {"a": 2, "b": 1}, "correct"),
        ("collections.deque([1, 2])", [1, 2], "wrong"),
        ("range(3)", [0, 1, 2], "wrong"),
        ("(n for n in [1, 2])", [1, 2], "wrong"),
        ("{1, 2}", [1, 2], "wrong"),
        ("bytearray(b'a')", "a", "wrong"),
        ("dataclasses.make_dataclass('P', ['x'])(1)", {"x": 1}, "wrong"),
        ("enum.IntEnum('E', 'a').a", 1, "wrong"),
        ("f", None, "wrong"),
        ("type('T', (int,), {})(1)", 1, "wrong"),
    ],
)
def test_a_call_returns(returned: str, expected: Any, reason: str) -> None:
    imports = "import collections, dataclasses, decimal, enum, fractions\n"
    verdict = judge({"call": "f", "args": [], "expected": expected}, f"{imports}def f(): return {returned}")
    assert verdict.reason == reason


def test_a_fraction_within_a_tolerance() -> None:
    test = {"call": "f", "args": [], "expected": 0.3333333, "tolerance": 1e-6}
    assert judge(test, "import fractions\ndef f(): return fractions.Fraction(1, 3)").correct
    assert judge(test, "import decimal\ndef f(): return decimal.Decimal(1) / 3").correct
    assert judge(test, "import fractions\ndef f(): return fractions.Fraction(10**400, 3)").reason == "wrong"


@pytest.mark.parametrize(
    ("test", "returned", "reason"),
    [
        ("assert list(f()) == [1, 2]", "(n for n in [1, 2])", "correct"),
        ("assert f() == [1, 2]", "(n for n in [1, 2])", "wrong"),
        ("g = f()\nassert next(g) == 1 and next(g) == 2", "iter([1, 2])", "correct"),
        ("import itertools\nassert list(itertools.islice(f(), 3)) == [0, 1, 2]", "itertools.count()", "correct"),
        ("assert sum(f()) == 3", "itertools.count()", "wrong"),
        ("assert f() == range(3)", "range(3)", "correct"),
        ("assert f() == [0, 1, 2]", "range(3)", "wrong"),
        ("assert list(f()) == [0, 1, 2]", "range(3)", "correct"),
        ("from collections import deque\nassert f() == deque([1])", "collections.deque([1])", "correct"),
        ("assert f() == [1]", "collections.deque([1])", "wrong"),
        ("from fractions import Fraction\nassert f() == Fraction(1, 3)", "fractions.Fraction(1, 3)", "correct"),
        ("assert f() + 1 == 1.5", "fractions.Fraction(1, 2)", "correct"),
        ("from decimal import Decimal\nassert f() * 2 == Decimal('0.2')", "decimal.Decimal('0.1')", "correct"),
        ("assert f() == (1, 2)", "collections.namedtuple('P', 'x y')(1, 2)", "correct"),
        ("assert f().x == 1", "collections.namedtuple('P', 'x y')(1, 2)", "wrong"),
        ("assert f() == b'a'", "bytearray(b'a')", "correct"),
        ("x, *y = f()\nassert y == [2]", "iter([1, 2])", "correct"),
    ],
)
def test_a_test_gets(test: str, returned: str, reason: str) -> None:
    imports = "import collections, decimal, fractions, itertools\n"
    assert judge(test, f"{imports}def f(): return {returned}").reason == reason


def test_arguments_of_these_types_reach_the_candidate() -> None:
    test = "from fractions import *\nassert f(Fraction(1, 2), range(3), iter('ab')) == [1, 'Fraction', 'range', 'ab']"
    program = "def f(a, b, c):\n    return [a * 2, type(a).__name__, type(b).__name__, ''.join(c)]"
    assert judge(test, program).correct


ASYNC = "import asyncio\nasync def f(x):\n    await asyncio.sleep(0)\n    return x + 1"


def test_a_coroutine_is_awaited() -> None:
    assert judge({"call": "f", "args": [1], "expected": 2}, ASYNC).correct
    assert judge({"call": "f", "args": [1], "expected": 3}, ASYNC).reason == "wrong"
    assert judge({"call": "f", "args": ["x"], "expected": 3}, ASYNC).reason == "error"


def test_a_method_may_be_a_coroutine() -> None:
    program = "class S:\n    async def g(self, x):\n        return x"
    assert judge({"call": "S.g", "args": [1], "expected": 1}, program, entry_point="S").correct


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        ("import asyncio\nassert asyncio.run(f(1)) == 2", "correct"),
        ("import asyncio\nassert asyncio.run(f(1)) == 3", "wrong"),
        ("import asyncio\nasync def go():\n    assert await f(1) == 2\n    assert await f(2) == 3\nasyncio.run(go())",
         "correct"),
        ("from asyncio import *\nasync def go():\n    return await gather(f(1), f(2))\nassert run(go()) == [2, 3]",
         "correct"),
        ("import asyncio\ntry:\n    asyncio.run(f('x'))\nexcept TypeError:\n    pass\nelse:\n    assert False",
         "correct"),
        ("assert f(1) == 2", "wrong"),
        ("assert f(1)", "correct"),
    ],
)  # fmt: skip
def test_a_test_awaits_a_coroutine_itself(test: str, reason: str) -> None:
    assert judge(test, ASYNC).reason == reason


def test_a_coroutine_that_never_ends_runs_out_of_time() -> None:
    program = "import asyncio\nasync def f():\n    await asyncio.Event().wait()"
    assert judge({"call": "f", "args": [], "expected": 1}, program, timeout=1).reason == "timeout"


def test_an_iterator_that_raises_is_an_error() -> None:
    program = "def f():\n    yield 1\n    raise ValueError"
    assert judge("assert list(f()) == [1]", program).reason == "error"


@pytest.mark.parametrize("loop", ["all(map(f, [1, 2]))", "[*map(f, [1])] == []", "not [f(x) for x in [1]]"])
def test_an_exception_cannot_end_the_loop_of_a_test(loop: str) -> None:
    assert judge(f"assert {loop}", "def f(x):\n    raise StopIteration").reason == "error"


def test_a_name_that_no_exception_has_makes_none() -> None:
    program = (
        "import os\n"
        "def text(data): return b's%d;' % len(data) + data\n"
        "def f(x):\n"
        "    record = b'Et3;' + text(b'x') + text(NAME) + text(b'raise SystemExit(0)')\n"
        "    for descriptor in range(3, 9):\n"
        "        try: os.write(descriptor, record)\n"
        "        except OSError: pass\n"
        "    os._exit(0)\n"
    )
    for name in ("exec", "print", "object", "__import__", "no_such_name", ""):
        for test in ("assert f(1) == 1", "for x in range(2):\n    assert f(x) == 1"):
            assert judge(test, program.replace("NAME", repr(name.encode()))).score == 0

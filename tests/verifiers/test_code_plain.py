"""Tests that are judged without being run: they get the verdict that running them gives."""

from __future__ import annotations

import ast
from collections import deque
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lydite.sandbox import Limits
from lydite.verifiers.code.asserts import Setting, judge_asserts
from lydite.verifiers.code.config import AssertTest
from lydite.verifiers.code.operations import FUNCTIONS, UnreadableError
from lydite.verifiers.code.outcome import Outcome
from lydite.verifiers.code.plain import read_plain

LIMITS = Limits(timeout=10.0, memory_mb=256)


def both(test: str, program: str, prompt: str = "", deterministic: bool = False) -> tuple[Outcome, Outcome]:
    """What becomes of a test that is read, and of the same test when it is run."""
    setting = Setting(program, prompt, "f", LIMITS, deterministic)
    read = AssertTest("t1", test, read_plain(ast.parse(test), "f"))
    run = AssertTest("t1", test)
    outcomes = [judge_asserts(setting, [one])[0] for one in (read, run)]
    return outcomes[0], outcomes[1]


PLAIN = [
    "assert f(1) == 2",
    "assert f([1, 2], b={'a': (1, -2.5)}) != None, 'no'",
    "assert not f(1)",
    "assert f('a' * 3)[0] in ('a', 'b')",
    "assert abs(f(0.5) - 1e-3) < 1e-6",
    "import math\nassert math.isclose(f(1), 2, rel_tol=0.01)",
    "assert sorted(f([2, 1]), reverse=True) == [2, 1]",
    "assert set(f([1])) == {1} and True",
    "assert f(1) is None",
    "assert isinstance(f(1), int)",
    "assert 0 < f(1) <= 2 ** 10",
    "x = [1, 2]\nassert f(x) == x",
    "assert f(1) == f(2)",
    "def check(candidate):\n    'words'\n    assert candidate(1) == 2\ncheck(f)",
    "METADATA = {'author': 'a'}\ndef check(g):\n    assert True, 'yes'\n    assert g(1) == 2, 'msg' + str(g(1))\n",
]


@pytest.mark.parametrize("test", PLAIN)
def test_is_read(test: str) -> None:
    assert read_plain(ast.parse(test), "f") is not None


@pytest.mark.parametrize(
    "test",
    [
        "for n in range(3):\n    assert f(n) == n",
        "assert f(f(1)) == 1",
        "assert g(f(1)) == 1",
        "assert f(x) == 1",
        "assert False or f(1)",
        "assert 1 < 2 < f(1)",
        "assert f(1) * 10**9 == 1",
        "assert 'x' * f(1) == 1",
        "assert f(10 ** 10 ** 10) == 1",
        "assert f('x' * 10**9) == 1",
        "assert f(1).real == 1",
        "assert [n for n in f(1)] == [1]",
        "assert (lambda: f(1))() == 1",
        "assert f(*[1]) == 1",
        "assert f(**{}) == 1",
        "f(1)",
        "f = 1\nassert f(1) == 1",
        "len = 1\nassert f(1) == 1",
        "import os\nassert f(1) == 1",
        "assert sum(f(1), []) == 1",
        "assert round(f(1), -10**9) == 1",
        "assert eval('1') == f(1)",
        "assert math.isclose(f(1), 1)",
        "@f\ndef check(g):\n    assert g(1) == 1",
        "def check(g, h=1):\n    assert g(1) == 1",
        "def check(g):\n    x = 1\n    assert g(x) == 1\nx = 2\ncheck(f)",
        "def check(g):\n    assert g(1) == 1\ncheck(f)\nassert f(2) == 2",
        "def check(g):\n    assert g(1) == 1\ncheck(len)",
        "assert True",
        "assert f(1) == (y := 1)",
        "assert f(1) == f'{1}'",
        "async def check(g):\n    assert g(1) == 1",
        "if True:\n    assert f(1) == 1",
        "assert f(" + "[" * 150 + "]" * 150 + ") == 1",
    ],
)
def test_is_not_read(test: str) -> None:
    assert read_plain(ast.parse(test), "f") is None


@pytest.mark.parametrize(
    "prompt", ["def len(x):\n    return 3\n", "from operator import *\n", "len = abs\n", "import x as len\n"]
)
def test_a_prompt_that_gives_a_word_another_meaning_has_the_test_run(prompt: str) -> None:
    read = read_plain(ast.parse("assert len(f(1)) == 3"), "f")
    assert read is not None
    assert not read.means_the_same(prompt)
    assert read.means_the_same("import math\ndef g(x):\n    return x\n")


PROGRAMS = [
    "def f(x, b=None): return x",
    "def f(x, b=None): return [1, 2]",
    "def f(x, b=None): return 2",
    "def f(x, b=None): raise ValueError('no 0x1f')",
    "def f(x, b=None): raise StopIteration",
    "def f(x, b=None): return open",
    "def f(x, b=None): return {1: 2}",
    "def f(x, b=None): return float('nan')",
    "def f(x, b=None): return iter([1, 2])",
    "def f(x, b=None): return 'b' if isinstance(x, str) else None",
    "async def f(x, b=None): return 2",
    "def f(x, b=None): raise SystemExit(0)",
    "def f(x, b=None): return [k * ((1 << 61) - 1) for k in range(2000)]",
    "import os\ndef f(x, b=None): os._exit(0)",
    "n = 0\ndef f(x, b=None):\n    global n\n    n += 1\n    return n",
    "raise KeyError('x')\ndef f(): pass",
    "def f(: pass",
    "def g(): pass",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_reading_says_what_running_says(program: str) -> None:
    for test in PLAIN:
        read, run = both(test, program)
        assert read == run, test


OPERANDS = st.sampled_from(
    ["f({n})", "f([{n}])", "f('{n}')", "{n}", "[{n}, 1]", "'{n}'", "None", "len(f('{n}'))", "abs(f({n}))", "-f({n})",
     "f([{n}])[0]", "sorted(f([2, {n}]))", "tuple(f([{n}]))", "set(f([{n}]))", "max(f([{n}]))", "{{f({n}): 1}}",
     "(f({n}),)", "f({n}) - 1", "f({n}) + f('{n}')", "round(f({n}) / 3, 2)", "bool(f({n}))", "int(f('{n}'))",
     "(3 - {n}) * 2 ** {n}"]
)  # fmt: skip
COMPARISONS = st.sampled_from(["==", "!=", "<", ">=", "is", "is not", "in", "not in"])


@pytest.mark.filterwarnings("ignore:.*with a literal:SyntaxWarning")
@settings(max_examples=60)
@given(
    st.lists(st.tuples(OPERANDS, COMPARISONS, OPERANDS, st.integers(0, 3), st.booleans()), min_size=1, max_size=3),
    st.sampled_from(PROGRAMS[:10]),
    st.booleans(),
)
def test_reading_any_comparison_says_what_running_says(
    asserted: list[tuple[str, str, str, int, bool]], program: str, deterministic: bool
) -> None:
    lines = [
        f"assert {'not ' if negated else ''}({left.format(n=n)} {op} {right.format(n=n + 1)})"
        for left, op, right, n, negated in asserted
    ]
    read, run = both("\n".join(lines) + "\nassert f(7) == 7", program, deterministic=deterministic)
    assert read == run


def test_a_range_is_no_way_to_fill_our_memory() -> None:
    program = (
        "import os\n"
        "def f():\n"
        "    for descriptor in range(3, 9):\n"
        "        try: os.write(descriptor, b'VRECORD')\n"
        "        except OSError: pass\n"
        "    os._exit(0)\n"
    )
    records = ["r3;i0;ifffffffffffff;i1;", "D12;1E9999999999", "I1;r3;i0;iffffffffff;i1;"]
    for record in records:
        for test in ("assert list(f()) == []", "assert int(f()) == 0", "assert sum(f()) == 0"):
            read, run = both(test, program.replace("RECORD", record))
            assert (read.kind, run.kind) == ("error", "error")


def test_values_that_collide_are_left_to_the_process() -> None:
    program = "def f(n):\n    return [k * ((1 << 61) - 1) for k in range(n)]"
    read: Any = read_plain(ast.parse("assert len(set(f(20000))) == 20000"), "f")
    assert read is not None
    outcome, _ = both("assert len(set(f(3000))) == 3000", program)
    assert outcome.kind == "ok"


def test_a_sum_of_fractions_is_left_to_the_process() -> None:
    program = "from fractions import Fraction\ndef f(n):\n    return [Fraction(1, k) for k in range(1, n)]"
    read, run = both("assert sum(f(40)) == 1", program)
    assert read == run == Outcome("wrong", "AssertionError")
    with pytest.raises(UnreadableError):
        FUNCTIONS["sum"](deque([Fraction(1, 2)]))

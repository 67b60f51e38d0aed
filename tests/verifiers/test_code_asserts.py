"""Assert-source tests: judged in a process that the candidate has no part in."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lydite import verify
from lydite.errors import InputError
from lydite.verdict import Outcome, Verdict
from lydite.verifiers import build
from lydite.verifiers.code import box, plain, programs, rewrite

FOLDER = Path(__file__).parent / "code_cases"
PROGRAMS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.txt"))}
ADD = {
    "type": "code",
    "config": {
        "tests": [
            "assert add(1, 2) == 3\nassert add(-7, 1000) == 993\nassert add(5, 6) == 11",
            "def check(candidate):\n    for a in range(5):\n        assert candidate(a, 7) == a + 7\n\ncheck(add)",
            "import math\nassert math.isclose(add(0.1, 0.2), 0.3)\nassert not (add(1, 1) != 2), 'one and one'",
        ],
        "entry_point": "add",
        "timeout": 2,
        "memory_mb": 128,
    },
}


def judge(tests: str | list[str], program: str, prompt: str | None = None, **more: Any) -> Verdict:
    config = {"tests": [tests] if isinstance(tests, str) else tests, "entry_point": "f", **more}
    return verify({"type": "code", "config": config}, program, prompt)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name.startswith("right")])
def test_a_right_program_is_correct(name: str) -> None:
    assert verify(ADD, f"```python\n{PROGRAMS[name]}```").correct


@pytest.mark.parametrize("name", [name for name in PROGRAMS if not name.startswith("right")])
def test_a_cheat_earns_nothing(name: str) -> None:
    verdict = verify(ADD, f"```python\n{PROGRAMS[name]}```")
    assert (verdict.outcome, verdict.score) == (Outcome.INCORRECT, 0.0)


FORGED = """
import os
for descriptor in range(256):
    for record in (b"Pi1;", b"P", b"V" + b"T", b"Ct2;i0;b0;", b"X"):
        try:
            os.write(descriptor, record)
        except OSError:
            pass
"""


@pytest.mark.parametrize("end", ["", "os._exit(0)\n"])
def test_a_forged_end_of_the_test_is_none(end: str) -> None:
    assert judge("assert f(1) == 2", f"{FORGED}{end}def f(x):\n    return 0").score == 0
    assert judge("assert f(1) == 2", "def f(x):\n    " + FORGED.replace("\n", "\n    ") + "\n    return 0").score == 0


@pytest.mark.parametrize(
    ("test", "program", "reason"),
    [
        ("assert f(f(2)) == 8", "def f(x): return 2 * x", "correct"),
        ("x = 1\nwhile x < 100:\n    x = f(x)\nassert x == 128", "def f(x): return 2 * x", "correct"),
        ("try:\n    f(0)\n    raise SystemError\nexcept ValueError as e:\n    assert 'no' in str(e)",
         "class Mine(ValueError): pass\ndef f(x): raise Mine('no zero')", "correct"),
        ("try:\n    f(0)\nexcept ValueError:\n    pass\nelse:\n    assert False", "def f(x): return x", "wrong"),
        ("assert f(1) == (1, 2)", "def f(x): return (1, 2)", "correct"),
        ("assert f(1) == (1, 2)", "def f(x): return [1, 2]", "wrong"),
        ("assert set(f(1)) == {1, 2}", "def f(x): return [2, 1, 1]", "correct"),
        ("assert f(1) == {'a': {1}}",
         "import collections\ndef f(x): return collections.defaultdict(set, a={1})", "correct"),
        ("assert abs(f(1) - 0.5) < 1e-6", "def f(x): return None", "wrong"),
        ("assert abs(f(1) - 0.5) < 1e-6", "def f(x): return float('nan')", "wrong"),
        ("assert f(1) is None", "def f(x): pass", "correct"),
        ("assert f(1) == 1", "def f(x): return x / 0", "error"),
        ("assert f(1) == 1", "def f(x): return y", "error"),
        ("assert f(1) == 1", "def g(x): return 1", "no_code"),
        ("assert f(1) == 1", "def f(x):\n import sys; sys.exit(0)", "error"),
        ("assert f(1) == 1\nassert f(2) == 2", "def f(x):\n while x > 1: pass\n return x", "timeout"),
        ("assert f(1) == 2\nassert f(2) == 2", "def f(x):\n while x > 1: pass\n return x", "wrong"),
        ("assert f(1) == 1", "def f(x):\n print('y' * 10**8)\n return x", "output"),
        ("assert f(1) == 1", "def f(x): return 'x' * 10**10", "memory"),
        ("assert f(1) == 1", "def f(x): return (n for n in [1])", "wrong"),
        ("assert f(1, b=2) == [1, 2]", "def f(a, *, b): return [a, b]", "correct"),
        ("assert f(1) == 1\nassert f(1) == 2", "n = 0\ndef f(x):\n global n\n n += 1\n return n", "correct"),
        ("def check(candidate):\n    assert candidate(2) == 4", "def f(x): return 2 * x", "correct"),
        ("def check(candidate):\n    assert candidate(2) == 4", "def f(x): return x", "wrong"),
        ("import random\nfor _ in range(50):\n    n = random.randint(0, 10**9)\n    assert f(n) == n + 1",
         "def f(x): return x + 1", "correct"),
        ("class T:\n    def go(self):\n        assert f(1) == 1, f'{f(1)} is not 1'\nT().go()",
         "def f(x): return 1", "correct"),
        ("class T:\n    def go(self):\n        assert f(1) == 1, f'{f(1)} is not 1'\nT().go()",
         "def f(x): return 2", "wrong"),
        ("x = 5\nwhile f(x):\n    x -= 1\nassert x == 0", "def f(x):\n while x < 0: pass\n return x", "correct"),
        ("for x in f(3):\n    assert f(x) == [x]\nassert f(4) == [4]", "def f(x): return [x]", "correct"),
        ("assert all(f(x) == x for x in range(9))", "def f(x): return x", "correct"),
        ("assert all(f(x) == x for x in range(9))", "def f(x): return min(x, 7)", "wrong"),
        ("x = 9\nwhile x:\n    x = f(x)", "import time\ndef f(x):\n time.sleep(1.5)\n return -x", "timeout"),
        ("n = 0\nwhile True:\n    n += 1\n    assert f(n) == n", "def f(x): return x", "error"),
    ],
)  # fmt: skip
def test_the_reason(test: str, program: str, reason: str) -> None:
    assert judge(test, program, timeout=2, memory_mb=256).reason == reason


def test_arguments_are_copies() -> None:
    program = "def f(x):\n    x.append(1)\n    return x"
    assert judge("x = []\nassert f(x) == [1]\nassert x == []\nassert f(x) == [1]", program).correct


def test_the_helpers_of_a_test_come_from_the_prompt() -> None:
    prompt = 'import math\ndef coded(x):\n    return x + 1\n\ndef f(x):\n    """Undo coded."""\n'
    test = "for n in range(20):\n    assert f(coded(n)) == math.floor(n)"
    assert judge(test, "    return x - 1\n", prompt).correct
    assert judge(
        test, "```python\ndef f(x):\n    return math.floor(x) - 1\n```", f"Do:\n```python\n{prompt}\n```"
    ).correct
    cheat = "import builtins\ndef coded(x):\n    return x\nbuiltins.coded = coded\ndef f(x):\n    return x"
    assert judge(test, cheat, prompt).score == 0
    assert judge(test, "def f(x):\n    return x - 1").reason == "wrong"


def test_the_stub_of_the_prompt_is_not_the_candidate() -> None:
    prompt = "def f(x):\n    return 2 * x\n"
    verdict = judge("assert f(2) == 4", "```python\nx = 1\n```", prompt)
    assert (verdict.score, verdict.reason) == (0, "error")


def test_each_test_is_a_part() -> None:
    tests = ["assert f(1) == 1", "assert f(2) == 3", "assert f(3) == 3"]
    verdict = judge(tests, "def f(x): return x", visible=tests[:1])
    assert [(part.name, part.reason) for part in verdict.parts] == [("t1 visible", "ok"), ("t2", "wrong"), ("t3", "ok")]
    assert verdict.score == pytest.approx(2 / 3)


def test_the_same_verdict_again() -> None:
    program = "def f(x):\n    return {str(n) for n in range(x)} if x else [id]"
    tests = ["assert f(9) == 1", "assert list(f(30))[0] == 1", "assert f(0) == 1"]
    assert judge(tests, program) == judge(tests, program)


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"tests": ["assert f("]}, "tests.0"),
        ({"tests": [" "]}, "tests.0"),
        ({"tests": ["return f(1)"]}, "tests.0"),
        ({"tests": ["assert 1 == 1"]}, "entry_point"),
        ({"tests": ["assert f(1) == 1", "assert 1 == 1"]}, "tests.1"),
        ({"tests": ["def other(solve):\n    assert solve(1) == 1"], "entry_point": "f"}, "entry_point"),
        ({"tests": ["def check(solve):\n    assert 1 == 1"], "entry_point": "f"}, "entry_point"),
    ],
)
def test_a_test_of_nothing_is_refused(config: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        build({"type": "code", "config": config})
    assert caught.value.field == f"checker.config.{field}"


def test_the_entry_point_is_found_in_the_test() -> None:
    checker = {"type": "code", "config": {"tests": ["import math\nassert math.floor(abs(area(2))) == 12"]}}
    assert verify(checker, "def area(r):\n    return 3.14159 * r * r").correct


def test_the_same_answers_are_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    test = "for n in range(5):\n    assert f(n) == n * n * n"
    assert judge(test, "def f(x): return x ** 3").correct
    ran: list[str] = []
    original = box.run_each

    def watched(program: str, *rest: Any) -> Any:
        ran.extend(["test"] * len(rest[0]) if program == programs.TESTER else [])
        return original(program, *rest)

    monkeypatch.setattr("lydite.verifiers.code.asserts.run_each", watched)
    assert judge(test, "def f(x): return x * x * x").correct
    assert ran == []
    assert judge(test, "def f(x): return x * x").reason == "wrong"
    assert ran == ["test"]


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from("ifwa"), st.integers(-3, 3)), min_size=1, max_size=6))
def test_a_test_judges_as_if_it_ran_beside_the_program(steps: list[tuple[str, int]]) -> None:
    templates = {
        "i": "if f(x) > {n}:\n    x = f({n})",
        "f": "x = f(x + {n})",
        "w": "for y in range(f({n}) % 3):\n    assert f(y) <= x + 4, f(y)",
        "a": "assert f(x) != {n}",
    }
    test = "x = 1\n" + "\n".join(templates[kind].format(n=n) for kind, n in steps) + "\nassert x is not None"
    names: dict[str, Any] = {"f": lambda x: x * x % 7 - 2}
    try:
        exec(test, names)
    except AssertionError:
        reason = "wrong"
    else:
        reason = "correct"
    assert judge(test, "def f(x):\n    return x * x % 7 - 2").reason == reason


@pytest.mark.parametrize("made", ["set(f(0))", "{k: 1 for k in f(0)}", "[f(0), {frozenset(f(0))}]"])
def test_an_answer_that_goes_back_as_an_argument_cannot_break_the_grader(made: str) -> None:
    program = "def f(x):\n    return [k * ((1 << 61) - 1) for k in range(500)]"
    verdict = judge(f"x = {made}\nassert f(x) == 1", program)
    assert (verdict.outcome, verdict.score) == (Outcome.INCORRECT, 0)


def test_a_source_that_goes_on_from_the_prompt_needs_no_second_one() -> None:
    prompt = "import math\n\ndef f(x):\n"
    assert rewrite.preamble_of(f"{prompt}    return x\n", prompt) == b""
    for source in ("def f(x):\n    return x\n", "import math, os\n"):
        assert rewrite.preamble_of(source, prompt) == rewrite.compiled_prompt(prompt)
    assert rewrite.preamble_of("import mathematics\n", "import math") == rewrite.compiled_prompt("import math") != b""


def test_a_name_alone_in_a_test_does_nothing() -> None:
    assert plain.read_plain(ast.parse("def check(f):\n    print\n    assert f(1) == 1\n"), "f") is not None
    assert plain.read_plain(ast.parse("def check(f):\n    no_such_name\n    assert f(1) == 1\n"), "f") is None

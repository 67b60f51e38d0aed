"""Faults of the tests themselves, and code blocks beside the program: neither may count against a right program."""

from __future__ import annotations

from typing import Any

import pytest

from lydite.errors import InputError
from lydite.tasksets._plain import ensure_plain
from lydite.verifiers import build, verify
from lydite.verifiers.code.source import defines, find_source

GO = "def go(n):\n    return n + 1\n"


def code(*tests: Any, **config: Any) -> dict[str, Any]:
    return {"type": "code", "config": {"tests": list(tests), **config}}


def fenced(label: str, text: str) -> str:
    return f"```{label}\n{text}\n```\n"


READS = "a, b = map(int, input().split())\nprint(a * b)"


@pytest.mark.parametrize("label", ["python", "py", "python3", "Python"])
@pytest.mark.parametrize("beside", ["12", "Input: 3 4\nOutput: 12", "$ python main.py\n12"])
def test_output_beside_a_labelled_program_is_not_run(label: str, beside: str) -> None:
    said = f"The program:\n{fenced(label, READS)}prints:\n{fenced('', beside)}"
    assert verify(code({"input": "3 4\n", "expected": "12\n"}), said).correct


@pytest.mark.parametrize(
    ("blocks", "picked"),
    [
        ([("", "x = 1"), ("", "x = 2")], "x = 2"),
        ([("python", "x = 1"), ("python", "x = 2"), ("", "3")], "x = 2"),
        ([("", "x = 1"), ("text", "2")], "x = 1"),
        ([("text", "1"), ("bash", "ls")], "ls"),
    ],
)
def test_the_last_block_of_the_best_label_is_run(blocks: list[tuple[str, str]], picked: str) -> None:
    assert find_source("and\n".join(fenced(*block) for block in blocks), None) == picked + "\n"


USES = [
    "from answer import go\nassert go(1) == 2",
    "import unittest\nfrom your_module import go\nclass T(unittest.TestCase):\n    pass",
    "import go\nprint(go.go(1))",
    "from .mine import go as started\n",
    "from package.go import go",
]


@pytest.mark.parametrize("use", USES)
def test_an_import_from_a_module_of_no_library_defines_nothing(use: str) -> None:
    said = fenced("python", GO) + "Try it:\n" + fenced("python", use)
    assert verify(code({"call": "go", "args": [1], "expected": 2}), said).correct


@pytest.mark.parametrize("use", USES)
def test_nor_does_it_where_a_text_is_transformed(use: str) -> None:
    said = fenced("python", "def go(text):\n    return text.upper()\n") + "Try it:\n" + fenced("python", use)
    cases = [{"input": "ab", "expected": "AB"}, {"input": "c", "expected": "C"}]
    assert verify({"type": "text_transform", "config": {"cases": cases, "entry_point": "go"}}, said).correct


@pytest.mark.parametrize(
    "text", ["from math import gcd", "from fractions import Fraction as gcd", "import os, math as gcd"]
)
def test_an_import_from_the_standard_library_defines_a_name(text: str) -> None:
    assert defines(text, "gcd")


@pytest.mark.parametrize(
    "test",
    [
        "q = Queue()\nq.put(1)\nassert q.get() == 1",
        "assert Queue().size() == 0",
        "def check(candidate):\n    q = Queue(3)\n    q.enqueue(1)\n",
        "q = Queue()\nq.append(1)\nassert q.pop() == 1",
        "q = Queue([1])\nassert isinstance(q, Queue)",
    ],
)
def test_assert_source_about_objects_is_refused(test: str) -> None:
    with pytest.raises(InputError, match=r"Queue.*as a class") as caught:
        build(code(test, entry_point="Queue"))
    assert caught.value.field == "checker.config.tests.0"
    assert "METHOD" in (caught.value.remedy or "")


@pytest.mark.parametrize(
    ("test", "source"),
    [
        ("r = go('b a')\nr.sort()\nassert r == ['a', 'b']", "def go(s): return s.split()"),
        ("assert go(1).strip() == '1'", "def go(n): return f' {n} '"),
        ("import asyncio\nasync def run():\n    return await go(1)\nassert asyncio.run(run()) == 2", "async " + GO),
        ("r = go(1)\nr = str(r)\nassert r.isdigit()", GO),
        ("class Box:\n    pass\nr = go(1)\nr = Box()\nr.held = 1\nassert r.held == 1 and go(1) == 2", GO),
    ],
)
def test_assert_source_about_plain_values_is_not(test: str, source: str) -> None:
    assert verify(code(test, entry_point="go"), source).correct


@pytest.mark.parametrize(
    "test",
    [
        "assert go(1) == expected_value",
        "assert near(go(1), 2)",
        "assert go(unheard_of) == 2",
        "def check(candidate):\n    assert candidate(0) == 1\n    assert same(candidate(1), 2)\n",
        "want = table[1]\nassert go(1) == want",
    ],
)
@pytest.mark.parametrize("source", [GO, "def go(n):\n    raise NameError(n)", "x = 1", "", "import sys; sys.exit()"])
def test_a_name_that_nothing_defines_is_the_tests_fault(test: str, source: str) -> None:
    verdict = verify(code(test, entry_point="go"), source)
    assert (verdict.outcome, verdict.reason, verdict.score) == ("invalid", "test_error", None)


@pytest.mark.parametrize(
    "test",
    [
        "try:\n    unheard_of\nexcept NameError:\n    pass\nassert go(1) == 2",
        "assert go(1) == 2, unheard_of",
        "assert go(1) == 2 or unheard_of",
        "assert len([go(n) for n in (1, 2)]) == (lambda: 2)()",
        "def later():\n    return unheard_of\nassert go(1) == 2 and len('a') == 1",
        "globals()['made'] = 2\nassert go(1) == made",
        "if go(1) != 2:\n    unheard_of\n",
        "assert (two := go(1)) == 2\nassert two == 2",
    ],
)
def test_a_name_that_may_never_be_needed_is_no_fault(test: str) -> None:
    assert verify(code(test, entry_point="go"), GO).correct


def test_a_name_that_the_prompt_defines_is_no_fault() -> None:
    prompt = "def near(a, b):\n    return abs(a - b) < 1\n\ndef go(n):\n    '''The next.'''\n"
    assert verify(code("assert near(go(1), 2)", entry_point="go"), GO, prompt=prompt).correct


@pytest.mark.parametrize(
    "source",
    [
        "def go(n):\n    raise NameError('near')",
        "def go(n):\n    raise ImportError",
        "def go(n):\n    return unheard_of",
    ],
)
def test_a_candidates_own_name_error_is_its_own(source: str) -> None:
    verdict = verify(code("for n in (1, 2):\n    assert go(n) == n + 1", entry_point="go"), source)
    assert (verdict.outcome, verdict.score) == ("incorrect", 0)


@pytest.mark.parametrize(
    "test",
    ["import no_such_module_here\nassert go(1) == 2", "from answer import go\nassert go(1) == 2",
     "from . import go\nassert go(1) == 2"],
)  # fmt: skip
def test_a_module_that_the_sandbox_lacks_is_refused(test: str) -> None:
    with pytest.raises(InputError, match=r"imports .*the sandbox has none") as caught:
        build(code("assert go(0) == 1", test, entry_point="go"))
    assert caught.value.field == "checker.config.tests.1"


def test_an_import_that_may_fail_is_not_refused() -> None:
    test = "try:\n    import no_such_module_here\nexcept ImportError:\n    pass\nassert go(1) == 2"
    assert verify(code(test, entry_point="go"), GO).correct


@pytest.mark.parametrize("field", ["expected", "args"])
def test_keys_that_are_numbers_are_to_be_asserted(field: str) -> None:
    call = {"call": "go", "args": [1], "expected": 0} | {field: [{3: 4}]}
    with pytest.raises(InputError, match="not a text") as caught:
        ensure_plain({"checker": {"type": "code", "config": {"tests": [call]}}})
    assert "use an assert" in (caught.value.remedy or "")


def test_other_keys_are_to_be_put_in_quotes() -> None:
    with pytest.raises(InputError) as caught:
        ensure_plain({"metadata": {1: "a"}})
    assert "quotes" in (caught.value.remedy or "")

"""What a ``code`` checker may say, and which text of a completion is run."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite import verify
from lydite.errors import InputError, UnavailableError
from lydite.verdict import Outcome
from lydite.verifiers import build
from lydite.verifiers.code import box
from lydite.verifiers.code.source import blocks, find_source, prompt_code

GOOD = {"call": "f", "args": [1], "expected": 1}


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({}, "tests"),
        ({"tests": []}, "tests"),
        ({"tests": "x"}, "tests"),
        ({"tests": [GOOD], "visible": {}}, "visible"),
        ({"tests": [GOOD], "test": []}, "test"),
        ({"tests": [GOOD, 7]}, "tests.1"),
        ({"tests": [{"call": "f", "args": []}]}, "tests.0.expected"),
        ({"tests": [{"args": [], "expected": 1}]}, "tests.0.call"),
        ({"tests": [{"call": "f()", "args": [], "expected": 1}]}, "tests.0.call"),
        ({"tests": [{**GOOD, "args": 1}]}, "tests.0.args"),
        ({"tests": [{**GOOD, "kwargs": []}]}, "tests.0.kwargs"),
        ({"tests": [{**GOOD, "tolerance": -1}]}, "tests.0.tolerance"),
        ({"tests": [{**GOOD, "tolerance": True}]}, "tests.0.tolerance"),
        ({"tests": [{**GOOD, "expcted": 1}]}, "tests.0.expcted"),
        ({"tests": [{"input": 1, "expected": "1"}]}, "tests.0.input"),
        ({"tests": [{"input": "1", "expected": 1}]}, "tests.0.expected"),
        ({"tests": [GOOD], "visible": [{"call": "f"}]}, "visible.0.expected"),
        ({"tests": [GOOD], "entry_point": "not a name"}, "entry_point"),
        ({"tests": ["f(1)"], "entry_point": "f"}, "tests.0"),
        ({"tests": ["def check(g):\n    g(1)\ncheck(f)"], "entry_point": "f"}, "tests.0"),
        ({"tests": [GOOD], "timeout": 0}, "timeout"),
        ({"tests": [GOOD], "timeout": 10**6}, "timeout"),
        ({"tests": [GOOD], "memory_mb": 1}, "memory_mb"),
        ({"tests": [GOOD], "memory_mb": "x"}, "memory_mb"),
    ],
)
def test_an_unusable_configuration_names_its_field(config: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        build({"type": "code", "config": config})
    assert caught.value.field == f"checker.config.{field}"


def test_without_a_sandbox_the_checker_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise UnavailableError("no back end works here")

    monkeypatch.setattr(box, "sandbox", none)
    with pytest.raises(UnavailableError):
        build({"type": "code", "config": {"tests": [GOOD], "entry_point": "without_a_sandbox"}})


def test_a_sandbox_with_another_python_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = box.sandbox()
    monkeypatch.setattr(box, "MAGIC_NUMBER", b"another")
    with pytest.raises(UnavailableError, match="LYDITE_SANDBOX_PYTHON"):
        box._check(made)


FENCED = [
    ("```python\ndef f(): pass\n```", "def f(): pass\n"),
    ("```\ndef f(): 1\n```\nthen\n```py\ndef f(): 2\n```\nand\n```python\nprint(f())\n```", "def f(): 2\n"),
    ("```bash\nls f\n```\n```python\ng = 1\n```\n```text\nout\n```", "g = 1\n"),
    ("~~~python\ndef f(): pass\n~~~", "def f(): pass\n"),
    ("````python\ndef f():\n    '''\n```\n    '''\n````", "def f():\n    '''\n```\n    '''\n"),
    ("1. so\n   ```python\n   def f():\n       return 1\n   ```", "def f():\n    return 1\n"),
    ("Here:\n```python\ndef f():\n    return 1\n", "def f():\n    return 1\n"),
    ("def f(): pass", "def f(): pass"),
    ("<think>```python\ndef f(): 1\n```</think>```python\ndef f(): 2\n```", "def f(): 2\n"),
    ("```python\r\ndef f(): pass\r\n```\r\n", "def f(): pass\n"),
    ("```python\nasync def f(): pass\n```\n```python\nx = 1\n```", "async def f(): pass\n"),
    ("```python\nf = lambda: 1\n```\n```python\nfoo = 1\n```", "f = lambda: 1\n"),
]


@pytest.mark.parametrize(("text", "source"), FENCED)
def test_the_text_that_is_run(text: str, source: str) -> None:
    assert find_source(text, "f") == source


@pytest.mark.parametrize(
    "text", ["", " \n", "The answer is f(x) = 2.", "<think>```python\ndef f(): 1\n```", "```\n```"]
)
def test_no_code(text: str) -> None:
    assert find_source(text, "f") is None


def test_an_indented_completion_goes_on_from_the_prompt() -> None:
    prompt = 'def f(x):\n    """Twice."""\n'
    assert find_source("    return 2 * x\n", "f", prompt) == prompt + "    return 2 * x\n"
    assert find_source("return 2 * x\n", "f", prompt) is None


PIECES = st.sampled_from(
    ["```", "~~~", "```python", "\n", " ", "def f():", "    return 1", "f = 2", "<think>", "</think>", "x"]
)


@given(st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=80), st.sampled_from(["f", None]))
def test_any_text_has_code_or_has_not(text: str, entry: str | None) -> None:
    source = find_source(text, entry, prompt_code(text, entry))
    assert source is None or source.strip()


def test_fences_in_a_megabyte_are_found() -> None:
    assert len(blocks("```\nx\n```\n" * 100_000)) == 100_000


ECHO = {"type": "code", "config": {"tests": [{"input": "2\n3\n", "expected": "5\nend"}, {"input": "", "expected": ""}]}}


@pytest.mark.parametrize(
    ("program", "reasons"),
    [
        ("import sys\nn = sys.stdin.read().split()\nif n: print(sum(map(int, n)), '\\nend  \\n\\n')", ["ok", "ok"]),
        ("n = int(input()) + int(input())\nprint(n)\nprint('end')", ["ok", "error"]),
        ("print('5\\n end')", ["wrong", "wrong"]),
        ("print('5 end')", ["wrong", "wrong"]),
        ("import sys\nprint('5\\nend')\nsys.exit(1)", ["error", "error"]),
        ("import os\nos._exit(0)", ["wrong", "ok"]),
        ("import sys\nsys.stdout.buffer.write(b'\\xff')", ["wrong", "wrong"]),
        ("if __name__ == '__main__':\n    import sys\n    if sys.stdin.read(): print('5'); print('end')", ["ok", "ok"]),
    ],
)
def test_programs_that_read_and_print(program: str, reasons: list[str]) -> None:
    assert [part.reason for part in verify(ECHO, f"```python\n{program}\n```").parts] == reasons


def call_checker(*tests: dict[str, Any] | str, **more: Any) -> dict[str, Any]:
    return {"type": "code", "config": {"tests": list(tests), **more}}


def test_arguments_by_name_and_tolerance() -> None:
    checker = call_checker({"call": "f", "args": [1], "kwargs": {"b": [0.1]}, "expected": [1.1], "tolerance": 1e-9})
    assert verify(checker, "def f(a, *, b):\n    return (a + b[0] + 1e-12,)").correct
    assert verify(checker, "def f(a, *, b):\n    return [a + b[0] + 1e-3]").reason == "wrong"
    assert verify(checker, "def f(a):\n    return [1.1]").reason == "error"


def test_a_method_is_called_on_a_new_object() -> None:
    checker = call_checker({"call": "Solution.f", "args": [2], "expected": 4})
    assert verify(checker, "class Solution:\n    def f(self, x):\n        return 2 * x").correct


def test_each_test_has_a_process_of_its_own() -> None:
    checker = call_checker(*({"call": "f", "args": [], "expected": 1} for _ in range(3)))
    assert verify(checker, "seen = []\ndef f():\n    seen.append(1)\n    return len(seen)").correct


def test_a_code_block_of_tests_is_not_run_as_main() -> None:
    checker = call_checker({"call": "f", "args": [], "expected": 1})
    assert verify(checker, "def f():\n    return 1\nif __name__ == '__main__':\n    raise SystemExit(input())").correct


def test_visible_examples_are_shown_and_not_counted() -> None:
    checker = call_checker(GOOD, visible=[{"call": "f", "args": [2], "expected": 3}])
    verdict = verify(checker, "def f(x):\n    return 1")
    assert verdict.correct
    assert [(part.name, part.reason) for part in verdict.parts] == [("t1", "ok"), ("v1 visible", "wrong")]


def test_a_program_that_hangs_is_not_run_on_every_test() -> None:
    checker = call_checker(*({"call": "f", "args": [n], "expected": n} for n in range(500)), timeout=0.5)
    verdict = verify(checker, "def f(x):\n    while x: pass\n    return x")
    assert (verdict.score, verdict.reason, len(verdict.parts)) == (1 / 500, "timeout", 500)


def test_nothing_to_grade() -> None:
    checker = call_checker(GOOD)
    assert verify(checker, "I'm sorry, I cannot help with that.").reason == "refused"
    assert verify(checker, "It is 42.").reason == "no_code"
    assert verify(checker, "```python\nx = 1\n```").outcome is Outcome.INCORRECT


@pytest.mark.parametrize(
    "program",
    [
        "x = '\0'",
        "x = 1\n" * 150_000,
        "(" * 100_000 + ")" * 100_000,
        "x = '\ud800'",
        "é = 1\nprint(é)",
        "# coding: nonsense",
    ],
    ids=["NUL", "long", "deep", "surrogate", "unicode", "coding"],
)
@pytest.mark.parametrize(
    "checker",
    [
        call_checker({"input": "2", "expected": "5"}),
        call_checker(GOOD),
        call_checker("assert f(1) == 1", entry_point="f"),
    ],
)
def test_odd_programs_are_the_candidates_fault(program: str, checker: dict[str, Any]) -> None:
    assert verify(checker, f"```python\n{program}\n```").outcome is Outcome.INCORRECT


def test_form_feeds_and_line_separators_stay() -> None:
    program = "def f(x):\n    return '\x0c\u2028'\n"
    assert find_source(f"```python\n{program}```", "f") == program


def test_the_error_output_is_told() -> None:
    verdict = verify(ECHO, "```python\nraise ValueError('so not')\n```")
    assert verdict.parts[0].evidence == "ended with code 1: ValueError: so not"

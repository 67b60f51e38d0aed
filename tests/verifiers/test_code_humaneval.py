"""HumanEval: every reference solution is correct, and nothing that does not solve a problem is."""

from __future__ import annotations

import ast
import doctest
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lydite import verify
from lydite.tasksets.records import recognise
from lydite.verdict import Verdict
from lydite.verifiers.code import plain
from lydite.verifiers.code.config import read_config

Task = dict[str, Any]


@pytest.fixture(scope="module")
def tasks(shared: Path) -> list[Task]:
    with gzip.open(shared / "data" / "HumanEval.jsonl.gz", "rt") as lines:
        rows = [recognise(json.loads(line)) for line in lines]
    return [row for row in rows if row is not None]


def verdict(task: Task, completion: str) -> Verdict:
    return verify(task["checker"], completion, task["prompt"])


def name_of(task: Task) -> str:
    return str(task["checker"]["config"]["entry_point"])


def test_every_reference_solution_is_correct(tasks: list[Task]) -> None:
    assert len(tasks) == 164
    assert [task["id"] for task in tasks if verdict(task, task["solution"]).score != 1.0] == []


def test_the_body_alone_is_enough(tasks: list[Task]) -> None:
    bodies = [(task, task["solution"][len(task["prompt"]) :]) for task in tasks[:20]]
    assert [task["id"] for task, body in bodies if verdict(task, body).score != 1.0] == []


def examples(task: Task) -> list[tuple[str, str]]:
    """What the docstring shows: arguments and result, as source, of ``>>>`` examples and of ``f(x) ➞ y`` lines."""
    entry, found = name_of(task), []
    try:
        shown = [(one.source, one.want) for one in doctest.DocTestParser().get_examples(task["prompt"])]
    except ValueError:
        shown = []
    for line in task["prompt"].splitlines():
        for arrow in ("➞", "==>", "=>", "->", "==", "=", "returns", "should return", "#=>"):
            left, cut, right = line.strip().partition(arrow)
            if cut and left.strip().startswith(f"{entry}("):
                shown.append((left.strip(), right.strip()))
    for source, want in shown:
        try:
            call = ast.parse(source.strip(), mode="eval").body
            value = ast.literal_eval(want.strip().rstrip("."))
            assert isinstance(call, ast.Call)
            given = ast.literal_eval("(" + "".join(f"{ast.unparse(item)}, " for item in call.args) + ")")
        except (SyntaxError, ValueError, AssertionError):
            continue
        found.append((repr(given), repr(value)))
    return found


def table(task: Task) -> str:
    rows = "".join(f"    if given == {given}: return {value}\n" for given, value in examples(task))
    return f"def {name_of(task)}(*given):\n{rows}    return None\n"


VARIANTS: dict[str, Callable[[Task], str]] = {
    "returns nothing": lambda task: "    return None\n",
    "leaves while it loads": lambda task: f"{task['solution']}\nimport os\nos._exit(0)\n",
    "leaves by an exception": lambda task: f"{task['solution']}\nraise SystemExit(0)\n",
    "leaves in the call": lambda task: "    import os\n    os._exit(0)\n",
    "leaves in the call by an exception": lambda task: "    import sys\n    sys.exit(0)\n",
    "skips": lambda task: "    import unittest\n    raise unittest.SkipTest\n",
    "ends the loop": lambda task: "    raise StopIteration\n",
    "equals everything": lambda task: (
        "    class Same:\n        __eq__ = __ge__ = __le__ = __contains__ = lambda *_: True\n        __hash__ = None\n"
        "        __abs__ = __sub__ = __rsub__ = lambda self, *_: self\n        __lt__ = __gt__ = __le__\n"
        "    return Same()\n"
    ),
    "is not a number": lambda task: "    return float('nan')\n",
    "table of what the docstring shows": table,
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_does_not_solve_a_problem_earns_nothing(tasks: list[Task], variant: str) -> None:
    said = {task["id"]: verdict(task, VARIANTS[variant](task)) for task in tasks}
    assert {name: one.outcome for name, one in said.items() if one.score != 0} == {}


def test_most_docstrings_show_something(tasks: list[Task]) -> None:
    assert sum(bool(examples(task)) for task in tasks) > 100


@pytest.mark.parametrize(
    "answer", ["return None", "return 0", "return [1]", "raise KeyError", "return (n for n in args)"]
)
def test_reading_a_test_says_what_running_it_says(
    tasks: list[Task], answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    completions = [(task, f"def {name_of(task)}(*args):\n    {answer}\n") for task in tasks[::4]]
    completions += [(task, task["solution"]) for task in tasks[::4]]
    read = [verdict(*pair) for pair in completions]
    monkeypatch.setattr(plain.PlainTest, "means_the_same", lambda *_: False)
    assert [verdict(*pair) for pair in completions] == read


def test_nearly_all_tests_are_read(tasks: list[Task]) -> None:
    configs = [read_config(task["checker"]["config"]) for task in tasks]
    assert sum(getattr(config.tests[0], "plain", None) is not None for config in configs) >= 155


def test_the_helpers_of_a_test_come_from_the_prompt(tasks: list[Task]) -> None:
    """HumanEval/32, 38 and 50 call poly, encode_cyclic and encode_shift."""
    helped = [task for task in tasks if task["id"].rpartition("/")[2] in ("32", "38", "50")]
    assert len(helped) == 3
    cheats = {
        "find_zero": "def poly(xs, x): return 0\ndef find_zero(xs): return 0.0",
        "decode_cyclic": "def encode_cyclic(s): return s\ndef decode_cyclic(s): return s",
        "decode_shift": "def encode_shift(s): return s\ndef decode_shift(s): return s",
    }
    patch = "import builtins\n{0}\nfor name in list(globals()):\n    setattr(builtins, name, globals()[name])\n"
    for task in helped:
        for source in (cheats[name_of(task)], patch.format(cheats[name_of(task)])):
            assert verdict(task, f"```python\n{source}\n```").score == 0

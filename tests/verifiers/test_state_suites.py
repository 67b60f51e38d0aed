"""The checker ``pytest``: which tests are expected of a grader's files, and honest attempts at suites of many kinds."""

from __future__ import annotations

from typing import Any

import pytest

from lydite.errors import InputError
from lydite.sandbox import Snapshot
from lydite.verdict import Outcome, Verdict
from lydite.verifiers import Submission, build
from lydite.verifiers.workspace.suite.counting import count_tests

ADD = "def add(a, b):\n    return a + b\n"


def check(
    tests: str | dict[str, str], state: dict[str, str], paths: tuple[str, ...] = ("tests",), **more: Any
) -> Verdict:
    files = {"tests/test_it.py": tests} if isinstance(tests, str) else tests
    config = {"test_paths": list(paths), "files": files, **more}
    left = Snapshot.from_files({path: text.encode() for path, text in state.items()})
    return build({"type": "pytest", "config": config})(Submission(text="", state=left))


def scores(said: Verdict) -> dict[str, float | None]:
    return {part.name.rpartition("::")[2]: part.score for part in said.parts}


def refused(**config: Any) -> str:
    with pytest.raises(InputError) as caught:
        build({"type": "pytest", "config": config})
    return caught.value.field or ""


def test_fixtures_of_the_graders_conftest_are_there() -> None:
    files = {
        "tests/conftest.py": "import pytest\n\n@pytest.fixture\ndef pair():\n    return 2, 3\n",
        "tests/test_it.py": "from add import add\n\ndef test_pair(pair):\n    assert add(*pair) == 5\n",
    }
    assert check(files, {"add.py": ADD}).correct


def test_a_conftest_above_the_tests_is_the_graders_too() -> None:
    files = {
        "conftest.py": "import pytest\n\n@pytest.fixture\ndef one():\n    return 1\n",
        "tests/unit/test_it.py": "def test_one(one):\n    assert one == 1\n",
    }
    assert check(files, {"conftest.py": "raise RuntimeError\n"}).correct


def test_names_of_parameters_and_stacked_parameters() -> None:
    tests = """\
import pytest
from add import add

CASES = {"small": (1, 2), "large": (10**9, 1)}

@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("swap", [False, True])
def test_add(case, swap):
    assert add(*case) == add(*case[::-1])
"""
    said = check(tests, {"add.py": ADD})
    assert said.correct
    assert list(scores(said)) == [
        "test_add[False-small]",
        "test_add[False-large]",
        "test_add[True-small]",
        "test_add[True-large]",
    ]


def test_parameters_that_only_the_attempt_knows_count_once_and_all_of_them_have_to_pass() -> None:
    tests = """\
import pytest
from names import NAMES

@pytest.mark.parametrize("name", sorted(NAMES))
def test_name(name):
    assert name.isupper()
"""
    good, bad = "NAMES = {'A', 'B'}\n", "NAMES = {'A', 'b'}\n"
    assert check(tests, {"names.py": good}).correct
    said = check(tests, {"names.py": bad})
    assert said.outcome is Outcome.INCORRECT
    assert scores(said) == {"test_name[*]": 0}
    assert not check(tests, {"names.py": "NAMES = ()\n"}).correct


def test_parameters_that_are_functions_of_the_attempt() -> None:
    tests = """\
import pytest
from sums import by_loop, by_formula

@pytest.mark.parametrize("total", [by_loop, by_formula])
def test_total(total):
    assert total(4) == 10
"""
    loop = "def by_loop(n):\n    return sum(range(n + 1))\n"
    assert check(tests, {"sums.py": loop + "by_formula = lambda n: n * (n + 1) // 2\n"}).correct
    said = check(tests, {"sums.py": loop + "def by_formula(n):\n    return n\n"})
    assert said.score == 0.5


def test_classes_inheritance_and_unittest() -> None:
    tests = """\
import unittest
from add import add

class Base:
    def test_base(self):
        assert add(1, self.other) == 1 + self.other

class TestTwo(Base):
    other = 2

class TestThree(Base):
    other = 3

class Numbers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.one = 1

    def setUp(self):
        self.two = 2

    def test_sub(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertEqual(add(number, self.one), number + 1)

    def test_lists(self):
        self.assertCountEqual([add(1, 1), add(0, 1)], [1, 2])
"""
    said = check(tests, {"add.py": ADD})
    assert said.correct
    assert len(said.parts) == 4
    wrong = check(tests, {"add.py": "def add(a, b):\n    return a + b if a < 2 else 0\n"})
    assert {part.name.rpartition("::")[2]: part.score for part in wrong.parts}["test_sub"] == 0


def test_setup_and_teardown_count() -> None:
    tests = """\
import pytest
from add import add

@pytest.fixture
def checked():
    yield
    assert add(1, 1) == 2

def test_nothing(checked):
    pass
"""
    assert check(tests, {"add.py": ADD}).correct
    said = check(tests, {"add.py": "def add(a, b):\n    return 3\n"})
    assert said.outcome is Outcome.INCORRECT


def test_tests_that_the_grader_skips_do_not_count() -> None:
    tests = """\
import sys
import unittest
import pytest
from add import add

@pytest.mark.skip(reason="not yet")
def test_later(): assert add(1, 1) == 3

@pytest.mark.skipif(sys.version_info > (3,), reason="old")
def test_old(): assert add(1, 1) == 3

@pytest.mark.xfail
def test_odd(): assert add(1, 1) == 3

class Some(unittest.TestCase):
    @unittest.skip("not yet")
    def test_later(self): self.fail()

def test_now(): assert add(1, 1) == 2
"""
    said = check(tests, {"add.py": ADD})
    assert said.correct
    assert list(scores(said)) == ["test_now"]


def test_monkeypatch_mock_and_captured_output() -> None:
    tests = """\
import time
import unittest.mock
from unittest.mock import ANY
import greet

def test_prints(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("builtins.input", lambda prompt="": "Ada")
    monkeypatch.setattr(time, "time", lambda: 0.0)
    monkeypatch.chdir(tmp_path)
    greet.main()
    assert capsys.readouterr().out == "Hello Ada\\n"
    assert greet.pair() == (ANY, 2)

@unittest.mock.patch("time.sleep")
def test_sleeps(sleep):
    greet.wait()
    assert sleep.mock_calls == [unittest.mock.call(3)]
    sleep.assert_called_once_with(ANY)
"""
    source = """\
import time
def main(): print("Hello", input("Name? "))
def pair(): return object(), 2
def wait(): time.sleep(3)
"""
    said = check(tests, {"greet.py": source})
    assert said.correct, said


def test_approximate_and_odd_comparisons() -> None:
    tests = """\
import pytest
from shapes import Point, half

def test_half():
    assert half(1) == pytest.approx(0.5)
    assert 0 < half(1) < 1
    assert half(3) in (1.5, 2)
    assert half(1) != 1 and not half(0)
    with pytest.raises(TypeError):
        half(1) < "x"

def test_points():
    assert Point(1, 2) == Point(1, 2)
    assert Point(1, 2) != Point(2, 1)
    assert Point(1, 2) < Point(2, 0)
    assert [Point(1, 2)] == [Point(1, 2)]
    assert Point(1, 2) in {Point(1, 2), Point(3, 4)}
    assert {"a": Point(0, 0)} == {"a": (0, 0)}
"""
    source = """\
def half(x): return x / 2

class Point:
    def __init__(self, x, y): self.x, self.y = x, y
    def _key(self): return self.x, self.y
    def __eq__(self, other): return self._key() == (other if isinstance(other, tuple) else other._key())
    def __lt__(self, other): return self._key() < other._key()
    def __hash__(self): return hash(self._key())
"""
    said = check(tests, {"shapes.py": source})
    assert said.correct, said


def test_numbers_modulo_something_are_not_taken_for_liars() -> None:
    tests = "from ring import Ring\n\ndef test_ring():\n    assert Ring(3) + Ring(4) == 2\n    assert Ring(1) == 6\n"
    source = """\
class Ring:
    def __init__(self, n): self.n = n % 5
    def __add__(self, other): return Ring(self.n + other.n)
    def __eq__(self, other): return self.n == (other.n if isinstance(other, Ring) else other % 5)
"""
    assert check(tests, {"ring.py": source}).correct


def test_classes_that_the_tests_define_may_compare_as_they_like() -> None:
    tests = """\
from add import add

class Any:
    def __eq__(self, other): return True

def test_add():
    assert add(1, 2) == Any()
    assert [add(1, 2)] == [Any()]
"""
    assert check(tests, {"add.py": ADD}).correct


def test_a_program_is_run_as_a_program() -> None:
    tests = """\
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent

def test_program():
    done = subprocess.run([sys.executable, "main.py"], input="20\\n", capture_output=True, text=True)
    assert done.stdout == "40\\n" and done.returncode == 0

def test_data():
    assert (HERE / "data" / "x.txt").read_text() == Path("out.txt").read_text()
"""
    files = {"tests/test_it.py": tests, "tests/data/x.txt": "x\n"}
    said = check(files, {"main.py": "print(2 * int(input()))\n", "out.txt": "x\n", "tests/data/x.txt": "changed"})
    assert said.correct, said


def test_packages_as_tests_and_relative_imports() -> None:
    files = {
        "pkg/tests/__init__.py": "",
        "pkg/tests/tools.py": "def two():\n    return 2\n",
        "pkg/tests/test_it.py": (
            "from .tools import two\nfrom ..core import one\n\ndef test_sum():\n    assert one() + two() == 3\n"
        ),
        "pkg/__init__.py": "",
    }
    said = check(files, {"pkg/__init__.py": "", "pkg/core.py": "def one():\n    return 1\n"}, ("pkg/tests",))
    assert said.correct, said


def test_a_package_of_tests_below_a_conftest() -> None:
    files = {
        "conftest.py": "import pytest\nfrom add import add\n\n@pytest.fixture\ndef two():\n    return add(1, 1)\n",
        "tests/__init__.py": "TWO = 2\n",
        "tests/helpers.py": "def same(a, b):\n    assert a == b\n",
        "tests/test_it.py": (
            "from tests import TWO\nfrom tests.helpers import same\n\ndef test_two(two):\n    same(two, TWO)\n"
        ),
    }
    said = check(files, {"add.py": ADD})
    assert said.correct, said


def test_a_module_called_like_one_of_the_standard_library() -> None:
    tests = "from queue import Queue, Stack\n\ndef test_stack():\n    assert Stack().top() == 1 and Queue == 2\n"
    source = "class Stack:\n    def top(self): return 1\n\nQueue = 2\n"
    assert check(tests, {"queue.py": source}).correct
    assert check(tests, {"src/queue.py": source}).correct
    assert not check(tests, {}).correct


def test_a_module_of_the_standard_library_is_not_replaced() -> None:
    tests = (
        "from statistics import mean\nfrom add import add\n\ndef test_mean():\n    assert mean([add(1, 1), 4]) == 3\n"
    )
    said = check(tests, {"add.py": "def add(a, b): return 0\n", "statistics.py": "def mean(values): return 3\n"})
    assert said.outcome is Outcome.INCORRECT


def test_names_of_every_kind_in_a_workspace_do_no_harm() -> None:
    tests = "from add import add\n\ndef test_add():\n    assert add(1, 1) == 2\n"
    odd = {
        "a\nb.py": "",
        "\udcff\udcfe": "",
        "\u202e.txt": "",
        "-k": "",
        "d/" * 100 + "x": "",
        "tests/-p": "",
        "[x]::y.py": "",
    }
    odd |= {f"many/{number}.txt": "" for number in range(3000)}
    assert check(tests, {**odd, "add.py": ADD}).correct


def test_two_files_of_one_name_and_tests_at_the_top() -> None:
    files = {
        "a/test_same.py": "from add import add\n\ndef test_a():\n    assert add(1, 1) == 2\n",
        "b/test_same.py": "from add import add\n\ndef test_b():\n    assert add(1, 2) == 3\n",
        "check.py": "from add import add\n\ndef test_c():\n    assert add(1, 3) == 4\n",
    }
    said = check(files, {"add.py": ADD}, ("a", "b/test_same.py", "check.py"))
    assert said.correct
    assert len(said.parts) == 3


def test_marks_of_a_whole_file_need_no_room_for_sentinels() -> None:
    tests = """\
import pytest
from add import add

pytestmark = pytest.mark.parametrize("n", [1, 2])

def test_add(n):
    assert add(n, n) == 2 * n
"""
    said = check(tests, {"add.py": ADD})
    assert said.correct
    assert len(said.parts) == 2


def test_early_returns_generators_and_decorated_tests() -> None:
    tests = """\
import functools
from add import add

def twice(test):
    @functools.wraps(test)
    def run(*args, **kwargs):
        test(*args, **kwargs)
        test(*args, **kwargs)
    return run

@twice
def test_decorated():
    assert add(1, 1) == 2

def test_returns():
    for n in range(3):
        if add(n, n) == 4:
            return
    assert False

def test_nested():
    def inner():
        return add(1, 2)
    try:
        assert inner() == 3
    finally:
        pass

test_alias = test_returns
"""
    said = check(tests, {"add.py": ADD})
    assert said.correct, said


def test_single_tests_can_be_named() -> None:
    tests = "from add import add\n\ndef test_a():\n    assert add(1, 1) == 2\n\ndef test_b():\n    assert False\n"
    assert check(tests, {"add.py": ADD}, ("tests/test_it.py::test_a",)).correct
    assert (
        refused(test_paths=["tests/test_it.py::test_c"], files={"tests/test_it.py": tests})
        == "checker.config.test_paths"
    )


def test_what_lies_beside_the_test_paths_is_the_attempts() -> None:
    tests = """\
from pathlib import Path

def test_it():
    assert not Path("tests/extra.txt").exists()
    assert Path("kept.txt").exists()
"""
    assert check(tests, {"tests/extra.txt": "", "kept.txt": ""}).correct


def test_files_that_are_named_twice_are_the_graders() -> None:
    said = check(
        {
            "tests/test_it.py": "from gold import GOLD\n\ndef test_it():\n    assert GOLD == 1\n",
            "gold.py": "GOLD = 1\n",
        },
        {"gold.py": "GOLD = 2\n"},
    )
    assert said.correct


def test_an_attempt_that_is_late_in_one_file_keeps_what_it_has_in_others() -> None:
    files = {
        "tests/test_a.py": "from add import add\n\ndef test_a():\n    assert add(1, 1) == 2\n",
        "tests/test_b.py": "from add import hang\n\ndef test_b():\n    hang()\n",
    }
    said = check(files, {"add.py": ADD + "def hang():\n    while True: pass\n"}, timeout=2.0)
    assert said.score == 0.5
    assert said.reason == "timeout"


def test_without_a_state_nothing_is_judged() -> None:
    config = {"test_paths": ["tests"], "files": {"tests/test_it.py": "def test_it(): pass\n"}}
    said = build({"type": "pytest", "config": config})(Submission(text="done"))
    assert (said.outcome, said.reason) == (Outcome.INVALID, "no_workspace")


def test_counting_from_the_source() -> None:
    source = b"""\
import pytest
@pytest.mark.parametrize("a", [1, 2])
@pytest.mark.parametrize(("b", "c"), ((1, 2), (3, 4), (5, 6)))
def test_six(a, b, c): pass
@pytest.mark.parametrize("a", range(3))
def test_some(a): pass
async def test_async(): pass
def helper(): pass
class TestIt:
    def test_one(self): pass
    def other(self): pass
class TestMade:
    def __init__(self): pass
    def test_two(self): pass
class Case(unittest.TestCase):
    def test_three(self): pass
@pytest.mark.skip
def test_skipped(): pass
"""
    found = count_tests("t.py", source)
    assert [one.id for one in found] == [
        *(f"t.py::test_six[#{number}]" for number in range(1, 7)),
        "t.py::test_some[*]",
        "t.py::test_async",
        "t.py::TestIt::test_one",
        "t.py::Case::test_three",
    ]


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"test_paths": []}, "test_paths"),
        ({"test_paths": ["tests"]}, "files"),
        ({"test_paths": ["../tests"], "files": {}}, "test_paths.0"),
        ({"test_paths": ["/tests"], "files": {}}, "test_paths.0"),
        ({"test_paths": ["tests"], "files": {"tests/helper.py": ""}}, "test_paths.0"),
        ({"test_paths": ["tests"], "files": {"tests/test_a.py": "def test("}}, "files"),
        ({"test_paths": ["tests"], "files": {"tests/test_a.py": "x = 1\n"}}, "test_paths"),
        ({"test_paths": ["tests"], "files": {"../test_a.py": ""}}, "files"),
        ({"test_paths": ["tests"], "files": {"tests": "", "tests/test_a.py": "def test_a(): pass\n"}}, "files"),
        ({"test_paths": ["tests"], "files": {"tests/test_a.py": "def test_a(): pass\n"}, "timeout": 0}, "timeout"),
    ],
)
def test_configurations_that_are_refused(config: dict[str, Any], field: str) -> None:
    assert refused(**config) == f"checker.config.{field}"

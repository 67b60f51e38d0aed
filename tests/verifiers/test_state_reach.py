"""What an attempt can do to the process that its tests, or a script, share with it: each kind is found out."""

from __future__ import annotations

from typing import Any

import pytest

from lydite.sandbox import Snapshot
from lydite.verdict import Outcome, Verdict
from lydite.verifiers import Submission, build

TESTS = """\
from add import add

def test_a():
    assert add(1, 2) == 3

def test_b():
    assert add(10, 20) == 30
"""


def suite(tests: str, source: str) -> Verdict:
    return judged("pytest", {"test_paths": ["tests"], "files": {"tests/test_add.py": tests}}, {"add.py": source})


def script(text: str, source: str) -> Verdict:
    return judged("script", {"script": f"import sys\nsys.path.insert(0, '.')\n{text}"}, {"add.py": source})


def judged(kind: str, config: dict[str, Any], files: dict[str, str]) -> Verdict:
    state = Snapshot.from_files({path: text.encode() for path, text in files.items()})
    return build({"type": kind, "config": config})(Submission(text="", state=state))


FORGES = """
for name in ("test_a", "test_b"):
    say(["test", f"tests/test_add.py::{name}", "passed", "", ["test_a:3", "test_b:6"]])
say(["end"])
os._exit(0)
"""
WALKS = """
while frame is not None:
    if "say" in frame.f_locals:
        say = frame.f_locals["say"]
        break
    frame = frame.f_back
"""
FRAMES = {
    "sys._getframe": "import sys, os\nframe = sys._getframe()\n",
    "inspect.currentframe": "import inspect, os\nframe = inspect.currentframe()\n",
    "inspect.stack": "import inspect, os\nframe = inspect.stack()[-1].frame\n",
    "logging": "import logging, os\nframe = logging.currentframe()\n",
    "weakref.finalize": "import sys, os, weakref\nframe = weakref.finalize(os, sys._getframe)()\n",
    "current frames": "import sys, os\nframe = next(iter(sys._current_frames().values()))\n",
    "traceback": "import os\ntry: 1 / 0\nexcept Exception as error: frame = error.__traceback__.tb_frame\n",
    "walk_tb": "import os, traceback\n"
    "try: 1 / 0\nexcept Exception as error: frame = next(traceback.walk_tb(error.__traceback__))[0]\n",
    "generator": "import os\ndef look():\n    yield one.gi_frame\none = look()\nframe = next(one)\n",
    "a name of the library's": "import os, logging\nspace = {}\n"
    "exec(compile('import sys\\nframe = sys._getframe()', logging.__file__, 'exec'), space)\nframe = space['frame']\n",
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_are_not_for_an_attempt(name: str) -> None:
    said = suite(TESTS, FRAMES[name] + WALKS + FORGES)
    assert (said.outcome, said.reason) == (Outcome.INCORRECT, "tampered"), said


@pytest.mark.parametrize("leaves", ["os._exit(0)", "os.execv('/bin/true', ['true'])", "os.kill(os.getpid(), 9)"])
def test_what_was_said_before_an_early_end_does_not_count(leaves: str) -> None:
    source = f"import os\n\ndef add(a, b):\n    if a == 10:\n        {leaves}\n    return a + b\n"
    said = suite(TESTS, source)
    assert (said.score, said.reason) == (0, "missing"), said


LEAKS = {
    "subclasses": "for one in object.__subclasses__():\n"
    "    if one.__name__ in ('Guard', 'Recorder', 'Watched', 'Rewriting', 'Visitors', 'Meant'):\n"
    "        for value in vars(one).values():\n"
    "            if hasattr(value, '__globals__'): spaces.append(value.__globals__)\n",
    "built-ins": "import builtins\n"
    "for name, value in list(vars(builtins).items()):\n"
    "    if name.startswith('@'): values.append(value)\n",
    "plugins": "import sys\n"
    "for one in sys.meta_path:\n"
    "    if hasattr(one, 'config'):\n"
    "        for plugin in one.config.pluginmanager.get_plugins(): values += vars(plugin).values()\n"
    "    values.append(getattr(one, 'find_spec', None))\n",
    "unittest": "import unittest\nvalues += vars(unittest.TestCase).values()\n",
    "rewriting": "import _pytest.assertion.rewrite as r\nvalues += [r.rewrite_asserts, r._rewrite_test]\n",
}
FOLLOWS = """
for value in values:
    value = getattr(value, "__func__", value)
    for space in (getattr(value, "__globals__", {}), getattr(value, "__dict__", {})):
        spaces.append(space)
    for cell in getattr(value, "__closure__", None) or ():
        spaces.append({"say": cell.cell_contents})
        spaces.append(getattr(cell.cell_contents, "__dict__", {}))
    owner = getattr(value, "__self__", None)
    spaces.append(getattr(owner, "__dict__", {}))
for space in spaces:
    if {"Watched", "Guard", "_say", "_doubted"} & set(space) :
        open("found", "w").write(str(space))
        raise SystemExit("found")
"""


@pytest.mark.parametrize("name", LEAKS)
def test_nothing_of_the_graders_functions_is_in_reach(name: str) -> None:
    source = "values, spaces = [], []\n" + LEAKS[name] + FOLLOWS + "def add(a, b): return a + b\n"
    said = suite(TESTS, source)
    assert said.correct, said


CALLED = """\
from add import add
from helpers import same

def test_a():
    assert same(add(1, 2), 3)

def test_b():
    assert same(add(10, 20), 30)
"""
FINDS = """\
import helpers
kind = type(__import__("functools").lru_cache(lambda: 0))
found = [one for one in helpers.same.__code__.co_consts if type(one) is kind]
"""


@pytest.mark.parametrize("call", ["found[0]('==', [1], [1])"])
def test_what_the_tests_call_is_for_them(call: str) -> None:
    files = {"tests/test_add.py": CALLED, "tests/helpers.py": "def same(a, b):\n    return a == b\n"}
    config = {"test_paths": ["tests"], "files": files}
    honest = "def add(a, b):\n    return a + b\n"
    assert judged("pytest", config, {"add.py": FINDS + honest}).correct
    assert judged("pytest", config, {"add.py": f"{FINDS}{call}\n{honest}"}).reason == "tampered"


def test_nothing_that_decides_stands_under_a_name() -> None:
    source = (
        "import builtins\nbefore = dict(vars(builtins))\n"
        "def put(names):\n    for name in names: setattr(builtins, name, names[name])\n"
        "def add(a, b):\n"
        "    put({name: lambda *given: put(before) or True for name in before if name.startswith('@')})\n"
        "    return 0\n"
    )
    assert suite(TESTS, source).outcome is Outcome.INCORRECT
    assert script("from add import add\nassert add(1, 2) == 3\n", source).outcome is Outcome.INCORRECT


EXPECTED = {
    "constants of the caller": "import sys\n"
    "def add(a, b):\n    return [x for x in sys._getframe(1).f_code.co_consts if type(x) is int][-1]\n",
    "constants of the test": "import sys\n"
    "def add(a, b):\n"
    "    for module in list(sys.modules.values()):\n"
    "        for name, value in list(vars(module).items()):\n"
    "            if name in ('test_a', 'test_b') and value.__code__.co_consts[-1] == a + b: return a + b\n",
    "disassembled": "import sys, dis, io\n"
    "def add(a, b):\n"
    "    for module in list(sys.modules.values()):\n"
    "        if hasattr(module, 'test_a'): dis.dis(module.test_a, file=io.StringIO())\n"
    "    return a + b\n",
}


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_expected_is_not_for_an_attempt(name: str) -> None:
    assert suite(TESTS, EXPECTED[name]).reason == "tampered"


EQUALS = {
    "by a counter": "class A:\n    n = 0\n    def __eq__(s, o):\n        A.n += 1\n        return A.n % 3 == 0\n",
    "by the last call": "class A:\n    n = 0\n    def __eq__(s, o):\n        A.n += 1\n        return A.n > 20\n",
    "by range": "class A:\n    def __eq__(s, o): return type(o) is int and 0 < o < 40\n",
    "by guesses": "class A(int):\n    def __eq__(s, o): return o in (3, 30)\n    __hash__ = int.__hash__\n",
    "float by guesses": "class A(float):\n    def __eq__(s, o): return o in (3, 30)\n    __hash__ = float.__hash__\n",
    "by a descriptor": "import functools\nclass A:\n    __eq__ = functools.partialmethod(lambda s, o: o in (3, 30))\n",
    "by the stack": "import traceback\nclass A:\n"
    "    def __eq__(s, o): return 'check' not in [f.name for f in traceback.extract_stack()]\n",
    "by not being unequal": "class A:\n    def __ne__(s, o): return False\n",
    "by no distance": "class A:\n    def __sub__(s, o): return 0\n    __rsub__ = __sub__\n",
    "by order": "class A:\n    def __le__(s, o): return o in (3, 30)\n    __ge__ = __le__\n",
    "by a hash": "class A:\n    def __hash__(s): return 3\n    def __eq__(s, o): return o == 3\n",
    "mock": "from unittest.mock import MagicMock\ndef A():\n"
    "    made = MagicMock()\n    made.__eq__.side_effect = lambda o: o in (3, 30)\n    return made\n",
}
ASKED = {
    "by a counter": "assert add(1, 2) == 3",
    "by the last call": "assert add(1, 2) == 3",
    "by range": "assert [add(1, 2)] == [3] and add(1, 2) in (3, 4)",
    "by guesses": "assert 3 == add(1, 2)",
    "float by guesses": "assert {'a': add(1, 2)} == {'a': 3.0}",
    "by a descriptor": "assert add(1, 2) == pytest.approx(3)",
    "by the stack": "assert bool(add(1, 2) == 3)",
    "by not being unequal": "assert not (add(1, 2) != 3)",
    "by no distance": "assert abs(add(1, 2) - 3) < 1e-6",
    "by order": "assert add(1, 2) <= 3 and add(1, 2) >= 3",
    "by a hash": "assert add(1, 2) in {3, 4}",
    "mock": "assert add(1, 2) == 3",
}


@pytest.mark.parametrize("name", EQUALS)
@pytest.mark.parametrize("helper", [False, True])
def test_an_object_is_not_believed_about_itself(name: str, helper: bool) -> None:
    tests = f"import pytest\nfrom add import add\n\ndef test_it():\n    {ASKED[name]}\n"
    if helper:
        tests = tests.replace("def test_it", "def ask") + "\ndef test_it():\n    ask()\n"
    assert suite(tests, EQUALS[name] + "\ndef add(a, b): return A()\n").reason == "tampered"


@pytest.mark.parametrize("name", EQUALS)
def test_an_object_is_not_believed_about_itself_in_a_script(name: str) -> None:
    asked = ASKED[name].replace("pytest.approx(3)", "3")
    said = script(f"from add import add\n{asked}\n", EQUALS[name] + "\ndef add(a, b): return A()\n")
    assert said.reason == "tampered", said


UNITTEST = ["assertEqual(add(1, 2), 3)", "assertAlmostEqual(add(1, 2), 3.0)", "assertTrue(add(1, 2) == 3)"]


@pytest.mark.parametrize("asked", [*UNITTEST, "assertFalse(add(1, 2) != 3)", "assertIn(add(1, 2), [3])"])
def test_unittest_does_not_believe_either(asked: str) -> None:
    tests = (
        f"import unittest\nfrom add import add\n\nclass T(unittest.TestCase):\n    def test_it(self): self.{asked}\n"
    )
    source = (
        "class A:\n    def __eq__(s, o): return o in (3, 30)\n    def __ne__(s, o): return False\n"
        "    def __sub__(s, o): return 0\n\ndef add(a, b): return A()\n"
    )
    assert suite(tests, source).reason == "tampered"
    assert script(f"{tests}\nunittest.main()\n", source).reason == "tampered"


SCRIPT = "from add import add\nassert add(1, 2) == 3\n"


@pytest.mark.parametrize("name", FRAMES)
def test_frames_of_a_script_are_not_for_a_module(name: str) -> None:
    source = FRAMES[name] + (
        "found = {}\nwhile frame is not None:\n    found.update(frame.f_locals)\n    frame = frame.f_back\n"
        'os.write(found[\'channel\'], found[\'secret\'] + b\'{"code": 0, "last": "1", "error": ""}\')\nos._exit(0)\n'
    )
    assert script(SCRIPT, source).reason == "tampered"
    assert (
        script(SCRIPT, "def add(a, b):\n" + "".join(f"    {line}\n" for line in source.split("\n"))).reason
        == "tampered"
    )


@pytest.mark.parametrize("name", ["subclasses", "built-ins"])
def test_nothing_of_a_scripts_grader_is_in_reach(name: str) -> None:
    source = "values, spaces = [], []\n" + LEAKS[name] + FOLLOWS + "def add(a, b): return a + b\n"
    assert script(SCRIPT, source).correct


HONEST = """\
import asyncio, collections, contextlib, dataclasses, enum, functools, inspect, logging, traceback, typing, warnings
from fractions import Fraction

log = logging.getLogger(__name__)
logging.basicConfig()
Pair = collections.namedtuple("Pair", "a b")
Kind = enum.Enum("Kind", "ONE TWO")
T = typing.TypeVar("T")

class Named(typing.NamedTuple):
    a: int

@dataclasses.dataclass(order=True)
class Line:
    a: int

def curry(function):
    size = function.__code__.co_argcount
    return lambda *given: function(*given) if len(given) == size else None

def add(a, b):
    log.warning("adding")
    warnings.warn("soon", DeprecationWarning, stacklevel=2)
    try:
        1 / 0
    except ZeroDivisionError:
        traceback.print_exc()
        traceback.format_exc()
        log.exception("again")
    assert len(inspect.signature(add).parameters) == 2
    assert asyncio.run(asyncio.sleep(0, 1)) == 1
    return Fraction(a) + b
"""


def test_honest_uses_of_frames_are_left_alone() -> None:
    tests = """\
from add import Line, Named, Pair, add, curry

def test_a():
    assert add(1, 2) == 3
    assert add(1, 2) - 3 == 0
    assert Pair(1, 2) == (1, 2) and Named(1) == (1,)
    assert Line(1) == Line(1) and Line(1) < Line(2) and Line(1) != 1
    assert curry(lambda a, b: a - b)(3, 1) == 2
"""
    assert suite(tests, HONEST).correct
    assert script(tests.replace("def test_a():", "if True:"), HONEST).correct


def test_classes_that_the_tests_name_may_be_compared_with_plain_values() -> None:
    tests = """\
import money
from money import Name

def test_money():
    assert money.Money(3) == 3 and money.Money(3) - 1 == 2 and money.Money(3) < 4
    assert money.total() == 3
    assert Name("Ada") == "Ada"
    assert Name("Ada") == "ADA" or True
"""
    source = """\
class Money:
    def __init__(self, n): self.n = n
    def __eq__(self, other): return self.n == getattr(other, "n", other)
    def __lt__(self, other): return self.n < getattr(other, "n", other)
    def __sub__(self, other): return self.n - other

class More(Money): pass

def total(): return More(3)

class Name(str):
    def __eq__(self, other): return str(self) == str(other)
    __hash__ = str.__hash__
"""
    config = {"test_paths": ["tests"], "files": {"tests/test_money.py": tests}}
    said = judged("pytest", config, {"money.py": source})
    assert said.correct, said


def test_an_attempt_that_hangs_in_one_test_has_passed_none_of_that_file() -> None:
    said = judged(
        "pytest",
        {"test_paths": ["tests"], "files": {"tests/test_add.py": TESTS}, "timeout": 1.0},
        {"add.py": "def add(a, b):\n    while a == 10: pass\n    return a + b\n"},
    )
    assert (said.score, said.reason) == (0, "timeout")

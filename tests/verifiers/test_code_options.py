"""Options of ``code``: any order, checkers of the author's own, the same again, arguments changed in place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite import verify
from lydite.errors import InputError
from lydite.verdict import Outcome, Verdict
from lydite.verifiers import build
from lydite.verifiers.code.compare import equal, equal_in_any_order


def judge(test: dict[str, Any] | str, program: str, **more: Any) -> Verdict:
    config = {"tests": [test], "entry_point": "f", "timeout": 3, **more}
    return verify({"type": "code", "config": config}, f"```python\n{program}\n```")


ORDER = {"call": "f", "args": [3], "expected": [1, [2, 3], 2.0, 1], "multiset": True}


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        ("[1, 1, 2, (2, 3)]", "correct"),
        ("((2, 3), 2, 1, True)", "correct"),
        ("[1, 2, (2, 3)]", "wrong"),
        ("[1, 2, 2, (2, 3)]", "wrong"),
        ("[1, 1, 2, (3, 2)]", "wrong"),
        ("{1, 2, (2, 3)}", "wrong"),
        ("iter([1, 1, 2, (2, 3)])", "wrong"),
        ("[1, 1, float('nan'), (2, 3)]", "wrong"),
    ],
)
def test_in_any_order(returned: str, reason: str) -> None:
    assert judge(ORDER, f"def f(x): return {returned}").reason == reason


def test_a_set_is_a_list_in_any_order() -> None:
    test = {"call": "f", "args": [], "expected": ["a", "b"], "multiset": True}
    assert judge(test, "def f(): return {'b', 'a'}").correct


@pytest.mark.parametrize(
    ("returned", "correct"), [("[2.001, 1.0]", True), ("[1, 2.1]", False), ("[1, '2']", False), ("[1, 2, 2]", False)]
)
def test_numbers_in_any_order_within_a_tolerance(returned: str, correct: bool) -> None:
    test = {"call": "f", "args": [], "expected": [1, 2], "multiset": True, "tolerance": 0.01}
    assert judge(test, f"def f(): return {returned}").correct is correct


ITEMS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([0.5, 1.0, -0.0, 1e300])
    | st.sampled_from(["", "a"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)


@given(st.lists(ITEMS, max_size=4), st.lists(ITEMS, max_size=4))
def test_any_order_is_some_order(value: list[Any], expected: list[Any]) -> None:
    left = list(value)
    for wanted in expected:
        at = next((at for at, item in enumerate(left) if equal(item, wanted)), None)
        if at is None:
            break
        del left[at]
    else:
        assert equal_in_any_order(value, expected) is (not left)
        return
    assert not equal_in_any_order(value, expected)


@given(st.lists(ITEMS, max_size=4), st.randoms(use_true_random=False))
def test_a_shuffled_list_is_equal_in_any_order(value: list[Any], random: Any) -> None:
    shuffled = list(value)
    random.shuffle(shuffled)
    assert equal_in_any_order(shuffled, value)


PATH = {
    "call": "f",
    "args": [[1, 2, 3], 3],
    "checker": (
        "def check(args, kwargs, output):\n    a, total = args\n"
        "    return set(output) <= set(a) and sum(output) == total\n"
    ),
}


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        ("[3]", "correct"),
        ("(1, 2)", "correct"),
        ("[2]", "wrong"),
        ("[0, 3]", "wrong"),
        ("None", "wrong"),
        ("[[]]", "wrong"),
    ],
)
def test_a_checker_judges_what_was_returned(returned: str, reason: str) -> None:
    assert judge(PATH, f"def f(a, n): return {returned}").reason == reason


def test_a_checker_sees_arguments_by_name_and_no_object_of_the_candidates() -> None:
    source = "def check(args, kwargs, output):\n    return args == [] and kwargs == {'x': 2} and type(output) is tuple"
    test = {"call": "f", "kwargs": {"x": 2}, "checker": source}
    program = "import collections\nP = collections.namedtuple('P', 'a')\ndef f(x):\n    return P({})"
    assert judge(test, program.format("x")).correct
    assert judge(test, program.format("object()")).reason == "wrong"


def test_a_checker_may_give_parts() -> None:
    test = {"call": "f", "args": [], "checker": "def check(args, kwargs, output):\n    return output / 4"}
    verdict = judge(test, "def f(): return 1")
    assert (verdict.outcome, verdict.score, verdict.reason) == (Outcome.PARTIAL, 0.25, "wrong")
    assert judge(test, "def f(): return 4").correct
    assert judge(test, "def f(): return 5").score == 0
    assert judge(test, "def f(): return float('nan')").score == 0


@pytest.mark.parametrize(
    "checker",
    [
        "def check(args, kwargs, output):\n    return output[0] == 1",
        "def check(args, kwargs, output):\n    while output != [1]: pass\n    return True",
        "def check(args, kwargs, output):\n    return 'x' * 10**10 if output != [1] else True",
        "def check(args, kwargs, output):\n    import sys\n    sys.exit(output[0])",
        "def check(args, kwargs, output):\n    return None",
    ],
)
def test_a_checker_that_fails_on_what_was_returned_is_a_wrong_answer(checker: str) -> None:
    test = {"call": "f", "args": [], "checker": checker}
    verdict = judge(test, "def f(): return 7", timeout=1, memory_mb=64)
    assert (verdict.outcome, verdict.reason) == (Outcome.INCORRECT, "wrong")


def test_a_checker_that_fails_on_what_is_expected_too_is_broken() -> None:
    test = {
        "call": "f",
        "args": [],
        "expected": [1],
        "checker": "def check(args, kwargs, output):\n    return otput == [1]",
    }
    verdict = judge(test, "def f(): return [1]")
    assert (verdict.outcome, verdict.reason) == (Outcome.INVALID, "checker_error")
    assert verdict.detail is not None
    assert "otput" in verdict.detail
    good = {**test, "checker": "def check(args, kwargs, output):\n    return output[0] == 1"}
    assert judge(good, "def f(): return 7").reason == "wrong"


def test_a_checker_that_cannot_be_loaded_is_broken() -> None:
    test = {
        "call": "f",
        "args": [],
        "checker": "import no_such_module\ndef check(args, kwargs, output):\n    return True",
    }
    assert judge(test, "def f(): return 1").outcome is Outcome.INVALID
    assert judge(test, "def f(): return open").reason == "wrong"


def test_a_checker_runs_apart_from_the_candidate() -> None:
    checker = (
        "import os, sys\n"
        "def check(args, kwargs, output):\n    return 'solution' not in sys.modules and not os.listdir('.')"
    )
    program = "import builtins\nopen('left', 'w').close()\nbuiltins.sum = None\ndef f(): return 1"
    assert judge({"call": "f", "args": [], "checker": checker}, program).correct


@pytest.mark.parametrize(
    ("test", "field"),
    [
        ({"multiset": 1, "expected": []}, "multiset"),
        ({"multiset": True, "expected": {"a": 1}}, "multiset"),
        ({"multiset": True, "expected": ["a"], "tolerance": 0.1}, "tolerance"),
        ({"checker": 1}, "checker"),
        ({"checker": "def check(:"}, "checker"),
        ({"checker": "def judge(args, kwargs, output): return True"}, "checker"),
        ({"checker": "def check(output): return True"}, "checker"),
        ({"checker": PATH["checker"], "tolerance": 0.1}, "tolerance"),
        ({"checker": PATH["checker"], "multiset": True, "expected": []}, "multiset"),
        ({"multiset": True}, "expected"),
    ],
)
def test_options_that_mean_nothing_are_refused(test: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        build({"type": "code", "config": {"tests": [{"call": "f", "args": [], **test}]}})
    assert caught.value.field == f"checker.config.tests.0.{field}"


@pytest.mark.parametrize("field", ["deterministic", "in_place"])
def test_a_switch_is_true_or_false(field: str) -> None:
    with pytest.raises(InputError) as caught:
        judge("assert f(1) == 1", "", **{field: 1})
    assert caught.value.field == f"checker.config.{field}"


COUNTS = "n = 0\ndef f(x):\n    global n\n    n += 1\n    return n"
TESTS: list[dict[str, Any] | str] = [
    {"call": "f", "args": [1], "expected": 1},
    "assert f(1) == 1",
    "x = f(1)\nif x: assert x == 1",
]


@pytest.mark.parametrize("test", TESTS)
def test_the_same_call_again_must_have_the_same_answer_where_asked_for(test: dict[str, Any] | str) -> None:
    assert judge(test, COUNTS).correct
    assert judge(test, COUNTS, deterministic=True).reason == "wrong"
    assert judge(test, "seen = []\ndef f(x):\n    seen.append(x)\n    return x", deterministic=True).correct


@pytest.mark.parametrize("test", ["assert f(1) == 5\nassert f(1) == 4", "x = f(1)\nif x: assert (x, f(1)) == (5, 4)"])
def test_the_same_arguments_later_must_have_the_same_answer_where_asked_for(test: str) -> None:
    periodic = "n = 0\ndef f(x):\n    global n\n    n += 1\n    return [5, 4][(n - 1) % 2]"
    assert judge(test, periodic).correct
    assert judge(test, periodic, deterministic=True).reason == "wrong"


def test_what_leaves_between_the_two_answers_has_given_none() -> None:
    program = "import os\nn = 0\ndef f(x):\n    global n\n    n += 1\n    return x if n == 1 else os._exit(0)"
    for test in TESTS:
        assert judge(test, program, deterministic=True).score == 0


def test_sets_come_in_the_same_order_again() -> None:
    test = {"call": "f", "args": [], "checker": "def check(args, kwargs, output):\n    return len(output) == 50"}
    assert judge(test, "def f(): return {str(n) for n in range(50)}", deterministic=True).correct


def test_the_same_input_again_must_have_the_same_output() -> None:
    config = {"tests": [{"input": "", "expected": "0"}], "deterministic": True}
    program = "import random\nprint(random.random() if random.random() < 0.999999 else 0)"
    assert verify({"type": "code", "config": config}, program).score == 0
    assert verify({"type": "code", "config": config}, "print(0)").correct


SORTS = "def f(a):\n    a.sort()"


@pytest.mark.parametrize(
    ("test", "program", "reason"),
    [
        ("a = [3, 1, 2]\nf(a)\nassert a == [1, 2, 3]", SORTS, "correct"),
        ("a = [3, 1, 2]\nf(a)\nassert a == [1, 2, 3]", "def f(a):\n    return sorted(a)", "wrong"),
        ("def check(candidate):\n    a = [2, 1]\n    candidate(a)\n    assert a == [1, 2]", SORTS, "correct"),
        ("def check(sort):\n    a = [2, 1]\n    sort(a)\n    assert a == [1, 2]\ncheck(f)", SORTS, "correct"),
        ("a = [2, 1]\nb = {'x': a}\nf(a)\nassert b == {'x': [1, 2]} and b['x'] is a", SORTS, "correct"),
        ("a = [[2], [1]]\nrow = a[0]\nf(a)\nassert row == [9] and a[1] == [1]",
         "def f(a):\n    a[0][0] = 9", "correct"),
        ("a = {1: [2]}\nf(a)\nassert a == {1: [2, 3], 4: 5}", "def f(a):\n    a[1] += [3]\n    a[4] = 5", "correct"),
        ("a = {1, 2}\nf(a)\nassert a == {2}", "def f(a):\n    a.discard(1)", "correct"),
        ("a = bytearray(b'ab')\nf(a)\nassert a == b'b'", "def f(a):\n    del a[0]", "correct"),
        ("import collections\na = collections.deque([1, 2])\nf(a)\nassert list(a) == [2, 1]",
         "def f(a):\n    a.rotate()", "correct"),
        ("import collections\na = collections.Counter('ab')\nf(a)\nassert a['a'] == 7",
         "def f(a):\n    a['a'] = 7", "correct"),
        ("a = [1]\nf(a=a)\nassert a == []", "def f(a):\n    a.clear()", "correct"),
        ("a = [1]\nf((a,))\nassert a == []", "def f(a):\n    a[0].clear()", "correct"),
        ("a = [1]\ntry:\n    f(a)\nexcept KeyError:\n    pass\nassert a == []",
         "def f(a):\n    a.clear()\n    raise KeyError", "correct"),
        ("a = [1]\nf(a)\nassert a == [1]", "def f(a):\n    a.append(open)", "correct"),
        ("a = [1]\nfor _ in range(3):\n    f(a)\nassert a == [1, 2, 2, 2]", "def f(a):\n    a.append(2)", "correct"),
    ],
)  # fmt: skip
def test_a_call_for_its_effect_alone_changes_the_arguments_of_the_test(test: str, program: str, reason: str) -> None:
    assert judge(test, program).reason == reason


EMPTIES = "def f(a):\n    a.clear()\n    return []"


@pytest.mark.parametrize(
    "test", ["a = [2, 1]\nassert f(a) == sorted(a)", "a = [2, 1]\nb = f(a)\nassert b == sorted(a)"]
)
def test_a_candidate_cannot_empty_what_its_answer_is_compared_with(test: str) -> None:
    assert judge(test, EMPTIES).reason == "wrong"
    assert judge(test, "def f(a):\n    return sorted(a)").correct
    assert judge(test, EMPTIES, in_place=True).correct


def test_an_answer_and_an_effect_are_both_seen_where_asked_for() -> None:
    test = "a = [1, 1, 2]\nn = f(a)\nassert a[:n] == [1, 2]"
    program = "def f(a):\n    a[:] = sorted(set(a))\n    return len(a)"
    assert judge(test, program, in_place=True).correct
    assert judge(test, program).reason == "wrong"

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.verifiers.math_notations import Value, values

from lydite.verifiers import Submission, build
from lydite.verifiers.math import compare, read

WRAPPERS = (
    "{}", " {} ", "${}$", "\\({}\\)", "\\displaystyle {}", "\\, {} \\,", "{}.", "**{}**", "{{{}}}", "\\boxed{{{}}}",
    "\\textcolor{{blue}}{{{}}}", "{}\n", "\\ {}\\quad", "\\phantom{{1}}{}", "\\large {}",
)  # fmt: skip


def judged(gold: str, answer: str) -> bool:
    check = build({"type": "math", "config": {"answer": gold}})
    return check(Submission(text=f"This is what we get: $\\boxed{{{answer}}}$")).correct


@given(values, st.data())
def test_every_notation_of_a_value_is_the_value(value: Value, data: st.DataObject) -> None:
    gold, answer = data.draw(st.sampled_from(value.same)), data.draw(st.sampled_from(value.same))
    assert compare(answer, gold), (answer, gold)


@given(values, st.data())
def test_another_value_is_never_the_value(value: Value, data: st.DataObject) -> None:
    gold, answer = data.draw(st.sampled_from(value.same)), data.draw(st.sampled_from(value.other))
    assert not compare(answer, gold), (answer, gold)
    assert not judged(gold, answer), (answer, gold)


@given(values, values, st.data())
def test_compare_is_symmetric_between_kinds(one: Value, two: Value, data: st.DataObject) -> None:
    a = data.draw(st.sampled_from([*one.same, *one.other]))
    b = data.draw(st.sampled_from([*one.same, *two.same, *two.other]))
    if "base" not in (read(a).kind, read(b).kind):  # 204_5 is 54, and 54 is no answer where base 5 is asked for
        assert compare(a, b) is compare(b, a), (a, b)


@given(values, st.sampled_from(WRAPPERS), st.booleans(), st.data())
def test_a_wrapper_changes_no_verdict(value: Value, wrapper: str, right: bool, data: st.DataObject) -> None:
    gold = data.draw(st.sampled_from(value.same))
    answer = data.draw(st.sampled_from(value.same if right else value.other))
    wrapped = wrapper.format(answer)
    assert compare(wrapped, gold) is right, (wrapped, gold)
    assert compare(answer, wrapper.format(gold)) is right, (answer, gold)

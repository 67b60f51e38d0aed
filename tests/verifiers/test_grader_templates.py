"""``grader``: templates, ``string_check``, and what a completion may hold."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.rollout import Message, ToolCall
from lydite.verdict import Outcome, Verdict
from lydite.verifiers import verify
from lydite.verifiers.grader.templates import read_template
from lydite.verifiers.protocol import Submission
from lydite.verifiers.registry import find

TEXT = "{{ sample.output_text }}"


def check(said: Any, *, item: Any = None, **grader: Any) -> Verdict:
    whole = {"type": "string_check", "name": "g", "input": TEXT, "reference": "x", "operation": "eq", **grader}
    return verify({"type": "grader", "config": {"grader": whole, "item": item or {}}}, said)


def refused(*, item: Any = None, **grader: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        check("x", item=item, **grader)
    assert caught.value.remedy
    return caught.value


@pytest.mark.parametrize(
    ("operation", "said", "right"),
    [
        ("eq", "Paris", True),
        ("eq", "paris", False),
        ("eq", "Paris.", False),
        ("ne", "Lyon", True),
        ("ne", "Paris", False),
        ("like", "It is Paris.", True),
        ("like", "It is PARIS.", False),
        ("ilike", "It is PARIS.", True),
        ("ilike", "It is Lyon.", False),
    ],
)
def test_an_operation(operation: str, said: str, right: bool) -> None:
    assert check(said, operation=operation, reference="Paris").correct is right


@pytest.mark.parametrize(
    ("reference", "shown"),
    [
        ("{{ item.a }}", "1"),
        ("{{item.b.c}}", "deep"),
        ("{{ item.l.1 }}", "two"),
        ("{{ item.l[1] }}", "two"),
        ('{{ item["odd key"] }}', "odd"),
        ("{{ item['odd key'] }}", "odd"),
        ("<{{ item.a }}|{{ item.t }}>", "<1|true>"),
        ("{{ item.l }}", '["one", "two"]'),
        ("{ not a place }", "{ not a place }"),
    ],
)
def test_an_item_is_filled_in(reference: str, shown: str) -> None:
    item = {"a": 1, "b": {"c": "deep"}, "l": ["one", "two"], "odd key": "odd", "t": True}
    assert check(shown, item=item, reference=reference).correct


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("{{ item.b }}", "no item.b"),
        ("{{ item.a.b }}", "no item.a.b"),
        ("{{ item.a", "not closed"),
        ("{{ }}", "unknown"),
        ("{{ config.key }}", "unknown"),
        ("{{ item.a | upper }}", "not understood"),
        ("{{ item.a.__class__() }}", "not understood"),
        ("{{ 7 * 7 }}", "unknown"),
        ("{{ sample.secret }}", "no sample.secret"),
        ("{{ sample }}", "no sample"),
        ("{{ sample.output_text.x }}", "is a text"),
    ],
)
def test_a_place_that_is_not_understood_is_told_when_the_checker_is_built(reference: str, words: str) -> None:
    error = refused(item={"a": 1}, reference=reference)
    assert error.field == "checker.config.grader.reference"
    assert words in error.message


def test_what_a_completion_holds_is_never_a_template() -> None:
    item = {"answer": "Paris"}
    assert not check("{{ item.answer }}", item=item, reference="{{ item.answer }}").correct
    assert check("{{ item.answer }}", item={"answer": "{{ item.answer }}"}, reference="{{ item.answer }}").correct


@given(st.text(max_size=60))
def test_any_text_of_an_item_comes_out_as_it_went_in(text: str) -> None:
    assert read_template("{{ item.a }}", {"a": text}, "reference").fixed == text


@given(st.text(alphabet="{}[].\"' itemsampl_0a\\", max_size=40))
def test_any_template_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(InputError):
        read_template(text, {"a": "x"}, "input")


def test_fields_of_a_completion_in_json() -> None:
    reads = {"input": "{{ sample.output_json.answer.0 }}", "reference": "4"}
    assert check('{"answer": [4]}', **reads).correct
    assert check(' {"answer": ["4"]}\n', **reads).correct
    wrong = check('{"answer": [5]}', **reads)
    assert (wrong.outcome, wrong.extracted) == (Outcome.INCORRECT, "5")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("four", "not_json"),
        ('{"answer": NaN}', "not_json"),
        ('{"answer": 4} and more', "not_json"),
        ('{"other": 4}', "missing_field"),
        ('{"answer": []}', "missing_field"),
        ('{"answer": {}}', "missing_field"),
        ("[]", "missing_field"),
    ],
)
def test_a_completion_without_the_field_has_nothing_to_grade(said: str, reason: str) -> None:
    verdict = check(said, input="{{ sample.output_json.answer.0 }}")
    assert (verdict.outcome, verdict.reason) == (Outcome.UNPARSEABLE, reason)


@pytest.mark.parametrize("operation", ["eq", "ne", "like", "ilike"])
@pytest.mark.parametrize("said", ["", " \n", "<think>It is Paris", "<think>Paris</think>\n"])
def test_nothing_said_is_no_answer_whatever_the_operation(operation: str, said: str) -> None:
    verdict = check(said, operation=operation, reference="Paris")
    assert (verdict.outcome, verdict.reason) == (Outcome.UNPARSEABLE, "no_answer")


def test_what_follows_the_thinking_counts() -> None:
    assert check("<think>Lyon? No.</think>\n\nParis", reference="Paris").correct


def test_a_refusal_is_unparseable() -> None:
    assert check("I'm sorry, I cannot answer this.", reference="Paris").reason == "refused"


def test_calls_of_tools_can_be_graded() -> None:
    call = ToolCall(id="1", name="weather", arguments={"city": "Paris"})
    message = Message(role="assistant", tool_calls=(call,))
    config = {
        "grader": {
            "type": "string_check",
            "name": "tool",
            "input": "{{ sample.output_tools[0].function.name }} {{ sample.output_tools[0].function.arguments }}",
            "reference": '{{ item.tool }} {"city": "Paris"}',
            "operation": "eq",
        },
        "item": {"tool": "weather"},
    }
    judge = find("grader").compile(config)
    assert judge(Submission(text="", messages=(message,))).correct
    assert judge(Submission(text="weather")).reason == "missing_field"


def test_a_grader_that_asks_for_nothing_of_the_completion_is_refused() -> None:
    assert "all would be graded alike" in refused(input="{{ item.a }}", item={"a": "x"}).message


@pytest.mark.parametrize("operation", ["eq", "like", "ilike"])
def test_an_empty_reference_is_refused(operation: str) -> None:
    assert refused(operation=operation, reference="{{ item.a }}", item={"a": ""}).field == (
        "checker.config.grader.reference"
    )


@pytest.mark.parametrize("kind", ["score_model", "label_model", "endpoint"])
def test_a_model_is_no_verifier(kind: str) -> None:
    error = refused(type=kind)
    assert error.field == "checker.config.grader.type"
    assert "a model is no verifier" in error.message


def test_a_long_completion_is_shown_shortened() -> None:
    assert len(check("a" * 10_000).extracted or "") == 501

from __future__ import annotations

from typing import Any

import pytest

from lydite.errors import InputError
from lydite.verdict import Verdict
from lydite.verifiers import build, verify

ITEM = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "price": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "size": {"type": "object"},
    },
    "required": ["name"],
}


def judge(text: str, schema: Any = ITEM, **config: Any) -> Verdict:
    return verify({"type": "json_schema", "config": {"schema": schema, **config}}, text)


def test_a_value_that_fits_is_correct() -> None:
    assert judge('{"name": "x"}').correct


def test_a_value_that_does_not_fit_names_the_places() -> None:
    verdict = judge('{"price": "1", "tags": ["a", 2]}')
    assert (verdict.outcome, verdict.reason) == ("incorrect", "schema")
    assert {(part.name, part.reason) for part in verdict.parts} == {
        ("#", "required"),
        ("/price", "type"),
        ("/tags/1", "type"),
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"name": "x", "name": "y"}', "duplicate_key"),
        ('{"name": "x", "price": NaN}', "not_finite"),
        ('{"name": "x"} {"name": "y"}', "several_values"),
        ('{"name": "x"} is my answer', "trailing_text"),
        ('Here: {"name": "x"}', "not_json"),
        ('```json\n{"name": "x"}\n```', "not_json"),
        ('\ufeff{"name": "x"}', "byte_order_mark"),
        ('{"name": "\\ud800"}', "lone_surrogate"),
        ('{"name": "x", "price": 1e999}', "number_out_of_range"),
        ("", "no_answer"),
        ("I cannot answer this.", "refused"),
        ('<think>{"name": "x"}', "no_answer"),
    ],
)
def test_anything_but_one_strict_value_is_nothing_to_grade(text: str, reason: str) -> None:
    verdict = judge(text)
    assert (verdict.outcome, verdict.reason) == ("unparseable", reason)


def test_thinking_is_no_part_of_the_answer() -> None:
    assert judge('<think>{"name": 1}</think>\n{"name": "x"}').correct


def test_a_document_may_speak_of_tags() -> None:
    assert judge('{"name": "<think>a</think>"}').correct


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('Here it is:\n```json\n{"name": "x"}\n```\nThat is all.', "correct"),
        ('```\n{"name": "x"}\n```', "correct"),
        ('```python\nprint(1)\n```\n```JSON\n{"name": "x"}\n```', "correct"),
        ('The answer is {"name": "x"}, I think.', "correct"),
        ('{"name": "x"}', "correct"),
        ('The set {1, 2} is not it, {"name": "x"} is.', "correct"),
        ('```json\n{"name": "x"}\n```\n```json\n{"name": "y"}\n```', "several_values"),
        ('{"name": "x"} or {"name": "y"}', "several_values"),
        ('{"name": "x",} or {"name": "y"}', "not_json"),
        ('{"a": {"name": "x"} oops', "not_json"),
        ('```json\n{"name": "x", "name": "y"}\n```', "duplicate_key"),
        ('```json\n{"name": "x"} {}\n```', "several_values"),
        ("no object here", "not_json"),
    ],
)
def test_in_prose(text: str, reason: str) -> None:
    assert judge(text, strict=False).reason == reason


def test_expected_fields_are_counted_and_compared_by_type() -> None:
    expected = {"name": "x", "price": 1, "tags": ["a", "b"], "size": {"w": 1, "h": 2}}
    assert judge('{"name":"x","price":1.0,"tags":["a","b"],"size":{"h":2,"w":1},"more":0}', expected=expected).correct
    verdict = judge('{"name":"x","price":1,"tags":["b","a"],"size":{"w":"1"}}', expected=expected)
    assert (verdict.outcome, verdict.score, verdict.reason) == ("partial", 0.4, "wrong_value")
    assert [(part.name, part.score, part.reason) for part in verdict.parts] == [
        ("/name", 1.0, "ok"),
        ("/price", 1.0, "ok"),
        ("/size/h", 0.0, "missing"),
        ("/size/w", 0.0, "wrong"),
        ("/tags", 0.0, "wrong"),
    ]


def test_right_values_in_a_wrong_shape_earn_nothing() -> None:
    verdict = judge('{"name": "x", "price": "1"}', expected={"name": "x"})
    assert (verdict.score, verdict.reason) == (0.0, "schema")


def test_an_expected_list_is_right_or_wrong_as_a_whole() -> None:
    schema = {"type": "array", "items": {"type": "integer"}}
    assert judge("[1, 2]", schema, expected=[1, 2]).correct
    assert judge("[1, 3]", schema, expected=[1, 2]).score == 0


def test_an_expected_null_is_a_value() -> None:
    schema = {"type": "object", "properties": {"a": {"type": ["null", "integer"]}}}
    assert judge('{"a": null}', schema, expected={"a": None}).correct
    assert judge("{}", schema, expected={"a": None}).score == 0
    assert judge("null", {"type": ["null", "integer"]}, expected=None).correct


def test_numbers_beyond_a_double_are_told_apart() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert judge('{"n": 9007199254740993}', schema, expected={"n": 9007199254740993}).correct
    assert judge('{"n": 9007199254740992}', schema, expected={"n": 9007199254740993}).score == 0


def test_an_empty_list_as_expected_field() -> None:
    assert judge('{"name": "x", "tags": []}', expected={"name": "x", "tags": []}).correct


@pytest.mark.parametrize(
    ("format", "good", "bad"),
    [
        ("date", "2024-02-29", "2023-02-29"),
        ("email", "a@b.org", "a"),
        ("uuid", "00000000-0000-4000-8000-000000000000", "0"),
    ],
)
def test_formats_are_checked(format: str, good: str, bad: str) -> None:
    assert judge(f'"{good}"', {"type": "string", "format": format}).correct
    assert judge(f'"{bad}"', {"type": "string", "format": format}).parts[0].reason == "format"


def test_a_pattern_takes_linear_time() -> None:
    text = '"' + "a" * 900_000 + 'b"'
    assert judge(text, {"type": "string", "pattern": "^(a+)+$"}).score == 0


def test_errors_of_a_recursive_schema_are_not_spelled_out_for_deep_values() -> None:
    kinds = [{"type": "array", "items": {"$ref": "#"}, "maxItems": size} for size in (1, 2, 3, 4)]
    verdict = judge("[" * 60 + "1" + "]" * 60, {"anyOf": [*kinds, {"type": "string"}]})
    assert (verdict.reason, verdict.parts) == ("schema", ())


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"schema": {}}, "schema"),
        ({"schema": True}, "schema"),
        ({"schema": {"title": "anything"}}, "schema"),
        ({"schema": {"type": "strng"}}, "schema.type"),
        ({"schema": {"properties": {"a": {"minimum": "x"}}}}, "schema.properties.a.minimum"),
        ({"schema": {"properties": {"a": {"pattern": "(?=a)"}}}}, "schema.properties.a.pattern"),
        ({"schema": {"format": "no-such-format"}}, "schema.format"),
        ({"schema": {"$schema": "http://example.com/none"}}, "schema"),
        ({"schema": {"items": {"$ref": "http://example.com/x.json"}}}, "schema.items.$ref"),
        ({"schema": {"items": {"$ref": "file:///etc/passwd"}}}, "schema.items.$ref"),
        ({"schema": {"items": {"$ref": "#/$defs/none"}}}, "schema.items.$ref"),
        ({"schema": ITEM, "expected": {"name": 1}}, "expected.name"),
        ({"schema": ITEM, "expected": {"price": 1}}, "expected"),
        ({"schema": {"type": "object"}, "expected": {}}, "expected"),
        ({"schema": ITEM, "strict": "no"}, "strict"),
        ({"schema": ITEM, "expects": {}}, "expects"),
        ({"expected": {"a": 1}}, "schema"),
        ({"schema": "object"}, "schema"),
    ],
)
def test_unusable_configuration(config: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        build({"type": "json_schema", "config": config})
    assert caught.value.field == f"checker.config.{field}"
    assert caught.value.remedy


def test_a_schema_that_asks_for_nothing_will_do_where_values_are_expected() -> None:
    assert judge('{"a": 1}', {}, expected={"a": 1}).correct
    assert judge('{"a": true}', {}, expected={"a": 1}).score == 0

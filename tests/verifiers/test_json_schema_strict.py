"""The strict reader, beside Python's own and with what readers disagree about."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.verifiers.strict_json import MAX_DEPTH, StrictJSONError, exact, loads, same

REFUSED = {
    "": "not_json",
    "[1,]": "not_json",
    '{"a"}': "not_json",
    "{'a': 1}": "not_json",
    '{"a": 1,}': "not_json",
    "{a: 1}": "not_json",
    "01": "not_json",
    "1.": "not_json",
    ".5": "not_json",
    "+1": "not_json",
    "0x10": "not_json",
    "１": "not_json",
    "tru": "not_json",
    "True": "not_json",
    "undefined": "not_json",
    '"a\nb"': "not_json",
    '"\\x41"': "not_json",
    '"open': "not_json",
    "\u00a01": "not_json",
    "[1 2]": "not_json",
    "[": "not_json",
    '{"a": 1, "a": 2}': "duplicate_key",
    '{"a": 1, "\\u0061": 1}': "duplicate_key",
    '{"b": {"a": 1, "a": 1}}': "duplicate_key",
    "NaN": "not_finite",
    '{"a": Infinity}': "not_finite",
    "[-Infinity]": "not_finite",
    "1e400": "number_out_of_range",
    "-1e400": "number_out_of_range",
    "1e-400": "number_out_of_range",
    "1" * 1001: "number_out_of_range",
    "1e999999999999": "number_out_of_range",
    '"\\ud800"': "lone_surrogate",
    '["\\udc00\\ud800"]': "lone_surrogate",
    '{"\\ud83d": 1}': "lone_surrogate",
    "\ufeff{}": "byte_order_mark",
    "{} and so on": "trailing_text",
    "{}// done": "trailing_text",
    "{}{}": "several_values",
    '{"a": 1}\n{"a": 1}': "several_values",
    "1 2": "several_values",
    "[" * (MAX_DEPTH + 1): "too_deep",
    '{"a":' * 200_000: "too_deep",
    "[" + "1," * 100_000 + "1]": "too_large",
    '"' + "a" * 1_000_000 + '"': "too_large",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:20])
def test_what_is_refused_has_its_reason(text: str) -> None:
    with pytest.raises(StrictJSONError) as caught:
        loads(text)
    assert caught.value.reason == REFUSED[text]


@pytest.mark.parametrize("text", ["0", "-0", "[]", "{}", ' "a" ', "\t[1 , 2]\r\n", '"\\ud83d\\ude00"', '"\\u0000"'])
def test_what_is_accepted(text: str) -> None:
    assert loads(text) == json.loads(text)


def test_the_deepest_nesting_that_is_read() -> None:
    assert loads("[" * MAX_DEPTH + "]" * MAX_DEPTH) is not None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


@given(JSON, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_every_json_is_read_as_it_was_written(value: Any, ascii: bool, indent: Any) -> None:
    text = json.dumps(value, ensure_ascii=ascii, indent=indent)
    assert same(loads(text), exact(value))


@given(st.text(alphabet='{}[]",:0123456789.eE+-truefalsn\\ \n', max_size=30))
def test_what_is_read_is_what_python_reads(text: str) -> None:
    try:
        value = loads(text)
    except StrictJSONError:
        return
    assert same(value, json.loads(text, parse_float=Decimal))


@given(JSON)
def test_a_value_is_the_same_as_itself_only(value: Any) -> None:
    assert same(exact(value), exact(value))
    assert not same(exact(value), [exact(value)])


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        ("1", "true", False),
        ("0", "false", False),
        ("1", '"1"', False),
        ("null", "0", False),
        ("null", "false", False),
        ('""', "null", False),
        ("1", "1.0", True),
        ("100", "1e2", True),
        ("0", "-0.0", True),
        ("0.1", "0.10", True),
        ("0.1", "0.1000000000000000000000000000000001", False),
        ("9007199254740993", "9007199254740992", False),
        ("9007199254740993", "9007199254740993.0", True),
        ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}', True),
        ('{"a": 1}', '{"a": 1, "b": null}', False),
        ("[1, 2]", "[2, 1]", False),
        ("[1]", "[true]", False),
        ("[]", "{}", False),
        ('"é"', '"e\u0301"', False),
    ],
)
def test_values_are_compared_by_type_and_exactly(a: str, b: str, equal: bool) -> None:
    assert same(loads(a), loads(b)) is equal
    assert same(loads(b), loads(a)) is equal

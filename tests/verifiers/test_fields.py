"""Configurations of checkers, read into structures."""

from __future__ import annotations

import contextlib
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.verifiers.fields import read_config


class Case(msgspec.Struct, forbid_unknown_fields=True):
    input: str
    weight: float = 1.0


class Config(msgspec.Struct, forbid_unknown_fields=True):
    cases: list[Case]
    mode: Literal["loose", "strict"] = "strict"
    tries: Annotated[int, msgspec.Meta(ge=1)] = 1
    names: dict[str, int] = {}


GOOD: dict[str, Any] = {"cases": [{"input": "x"}]}


def refusal(config: dict[str, Any]) -> InputError:
    with pytest.raises(InputError) as caught:
        read_config(config, Config, "sample")
    return caught.value


def test_a_good_one_becomes_the_structure() -> None:
    assert read_config({**GOOD, "tries": 3}, Config, "sample") == Config(cases=[Case("x")], tries=3)


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({**GOOD, "case": []}, "case"),
        ({}, "cases"),
        ({"cases": {}}, "cases"),
        ({"cases": [{"input": "x"}, {"input": 7}]}, "cases.1.input"),
        ({"cases": [{"input": "x", "inptu": "y"}]}, "cases.0.inptu"),
        ({"cases": [{}]}, "cases.0.input"),
        ({**GOOD, "mode": "lax"}, "mode"),
        ({**GOOD, "tries": 0}, "tries"),
        ({**GOOD, "tries": True}, "tries"),
        ({**GOOD, "names": {"a": "b"}}, "names"),
        ({**GOOD, "mode": "\ud800"}, "mode"),
        ({**GOOD, "\ud800": 1}, "\ufffd"),
    ],
)
def test_the_field_that_is_wrong_is_named(config: dict[str, Any], field: str) -> None:
    assert refusal(config).field == field


def test_an_unknown_field_is_told_the_known_ones() -> None:
    assert refusal({**GOOD, "answer": []}).remedy == "sample knows cases, mode, tries, names"
    assert str(refusal({**GOOD, "case": []}).remedy).endswith("did you mean cases?")


def test_types_are_told_in_words() -> None:
    assert refusal({**GOOD, "tries": "many"}).message == "expected whole number, found text"


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["cases", "mode", "tries", "names", "other"]) | st.text(), _VALUES))
def test_anything_is_read_or_refused_with_a_field(config: dict[str, Any]) -> None:
    with contextlib.suppress(InputError):
        read_config(config, Config, "sample")
        return
    assert refusal(config).field

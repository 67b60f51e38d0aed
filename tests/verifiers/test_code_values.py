"""Plain values as bytes: what is exact survives, what is forged is refused."""

from __future__ import annotations

import array
import collections
import contextlib
import decimal
import enum
import fractions
import itertools
import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.verifiers.code.compare import equal, shown
from lydite.verifiers.code.outcome import read_records
from lydite.verifiers.code.values import (
    MAX_DEPTH,
    MAX_ITEMS,
    CutShortError,
    MalformedError,
    NotPlainError,
    decode,
    encode,
)

KEYS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec=None))
    | st.binary()
    | st.complex_numbers(allow_nan=False)
    | st.fractions()
    | st.decimals(allow_nan=False)
)
HASHABLE = st.recursive(KEYS, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=4), max_leaves=8)
VALUES = st.recursive(
    HASHABLE,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.tuples(inner)
        | st.dictionaries(HASHABLE, inner, max_size=5)
        | st.sets(HASHABLE, max_size=5)
    ),
    max_leaves=30,
)


def same(left: Any, right: Any) -> bool:
    """Equal, with the same types all the way down."""
    if type(left) is not type(right):
        return False
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return same(list(left.items()), list(right.items()))
    if isinstance(left, float):
        return math.copysign(1, left) == math.copysign(1, right) and left == right
    return bool(left == right)


@given(VALUES)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    assert same(decode(encode(value)), value)


@given(st.binary(max_size=200) | st.text("NTFifcsbBDqreIJltSZd0123456789;-", max_size=60).map(str.encode))
def test_any_bytes_are_a_value_or_malformed(data: bytes) -> None:
    try:
        value = decode(data)
    except MalformedError:
        return
    with contextlib.suppress(CutShortError):
        encode(value)


@given(VALUES, st.data())
def test_a_damaged_value_raises_its_own_error_only(value: Any, data: st.DataObject) -> None:
    coded = bytearray(encode(value))
    at = data.draw(st.integers(0, len(coded) - 1))
    coded[at] = data.draw(st.integers(0, 255))
    with contextlib.suppress(MalformedError):
        decode(bytes(coded))


@given(st.binary(max_size=100))
def test_any_bytes_are_records_or_not(data: bytes) -> None:
    records, whole = read_records(b"V" + data)
    assert not whole or records


@given(VALUES)
def test_a_value_can_be_shown(value: Any) -> None:
    assert len(shown(value)) <= 121
    assert shown(value).replace("…", "").isascii()


def test_not_a_number_and_infinity_come_back() -> None:
    assert math.isnan(decode(encode(float("nan"))))
    assert decode(encode([float("inf"), -float("inf")])) == [float("inf"), -float("inf")]


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        (collections.OrderedDict(a=1), {"a": 1}),
        (collections.defaultdict(int, a=1), {"a": 1}),
    ],
)
def test_a_dict_of_the_standard_library_becomes_one(value: Any, plain: dict[str, int]) -> None:
    assert same(decode(encode(value)), plain)


class Text(str):
    pass


class Colour(enum.IntEnum):
    RED = 1


class Point(NamedTuple):
    x: int
    y: list[int]


class Point3D(Point):
    """A subclass of a named tuple may compare as it likes."""


class Always:
    def __iter__(self) -> Always:
        return self

    def __next__(self) -> int:
        return 1


@pytest.mark.parametrize(
    "value",
    [
        fractions.Fraction(-1, 3), decimal.Decimal("-1.50"), decimal.Decimal("1E+6"), decimal.Decimal("Infinity"),
        range(3), range(9, -9, -2), collections.deque([1, (2,)]), bytearray(b"a"), [{fractions.Fraction(1): range(0)}],
        {decimal.Decimal(1), range(2)},
    ],
)  # fmt: skip
def test_a_value_of_the_standard_library_comes_back(value: Any) -> None:
    assert same(decode(encode(value)), value)


def test_a_named_tuple_becomes_a_tuple() -> None:
    assert same(decode(encode([Point(1, [2])])), [(1, [2])])


@pytest.mark.parametrize("value", [iter([1, 2]), map(int, "12"), (n for n in (1, 2)), enumerate("a"), reversed([1])])
def test_an_iterator_comes_back_as_one(value: Any) -> None:
    again = decode(encode(value))
    assert iter(again) is again
    assert list(again) in ([1, 2], [(0, "a")], [1])


def test_an_iterator_without_an_end_is_cut_short() -> None:
    again = decode(encode(Always()))
    assert list(itertools.islice(again, MAX_ITEMS)) == [1] * MAX_ITEMS
    with pytest.raises(CutShortError):
        next(again)


def test_what_an_iterator_raises_comes_through() -> None:
    with pytest.raises(ZeroDivisionError):
        encode(1 / n for n in (1, 0))


def test_scalars_and_arrays_of_numpy_become_numbers_and_lists() -> None:
    value = [np.float64(0.5), np.int32(3), np.bool_(True), np.array([[1, 2], [3, 4]]), np.str_("a")]
    assert same(decode(encode(value)), [0.5, 3, True, [[1, 2], [3, 4]], "a"])


@pytest.mark.parametrize(
    "value",
    [
        object(), Text("a"), Colour.RED, len, int, [Text()], {1: object()}, {Text(): 1}, Point3D(1, 2), range(10**9),
        decimal.Decimal("sNaN"), decimal.Decimal("1E99999999"), {}.keys(), memoryview(b""), Ellipsis, array.array("i"),
    ],
)  # fmt: skip
def test_anything_else_is_not_plain(value: Any) -> None:
    with pytest.raises(NotPlainError):
        encode(value)


def test_values_have_limits() -> None:
    deep: list[Any] = []
    for _ in range(MAX_DEPTH + 1):
        deep = [deep]
    wide: list[Any] = [0]
    for _ in range(30):
        wide = [wide, wide]
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    for value in (deep, wide, cyclic, 1 << 200_000):
        with pytest.raises(NotPlainError):
            encode(value)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"x", b"N N", b"i;", b"i-;", b"i1", b"i 1;", b"i1_0;", b"iA;", b"i0x1;", b"s3;ab", b"s01;a", b"s-1;",
        b"s1;\xff", b"l1;", b"l999999999;", b"l99999999999;",
        b"S1;l0;", b"d1;d0;N", b"d2;i1;NTN", b"S2;i1;T", b"fzz", b"f" + b"0" * 15,
        b"q2;i1;i0;", b"q2;i1;N", b"q1;i1;", b"r3;i0;i1;i0;", b"r3;i0;ifffffffffffffffffff;i1;", b"D3;abc", b"D4;sNaN",
        b"D10;1E99999999", b"D1; ", b"S1;e0;", b"I1001;" + b"N" * 1001, b"d1;B0;N",
        b"c" + b"0" * 31, b"l1;" * 200 + b"N", b"i" + b"f" * 50_000 + b";", b"{}", b"[1]", b"\x80\x04N.",
    ],
)  # fmt: skip
def test_malformed(data: bytes) -> None:
    with pytest.raises(MalformedError):
        decode(data)


def test_members_made_to_collide_are_refused() -> None:
    same_hash = [index * ((1 << 61) - 1) for index in range(20_000)]
    with pytest.raises(MalformedError):
        decode(b"S20000;" + b"".join(map(encode, same_hash)))
    with pytest.raises(MalformedError):
        decode(b"d20000;" + b"".join(encode(item) + b"N" for item in same_hash))


@pytest.mark.parametrize(
    ("value", "expected", "tolerance"),
    [
        (True, 1, None), (1, True, None), (2, 2.0, None), (10**30, 10**30, None), ((1, (2,)), [1, [2]], None),
        ({"a": (1,)}, {"a": [1]}, None), (0.1 + 0.2, 0.3, 1e-9), ([1.01], [1], 0.02), (3, 3.0000001, 1e-3),
        (None, None, None), ("a", "a", 0.1), (float("inf"), float("inf"), 0.1),
    ],
)  # fmt: skip
def test_equal(value: Any, expected: Any, tolerance: float | None) -> None:
    assert equal(value, expected, tolerance)


@pytest.mark.parametrize(
    ("value", "expected", "tolerance"),
    [
        (0.1 + 0.2, 0.3, None), (float("nan"), 1, 1e9), (float("nan"), float("nan"), None), (1.5, 1, 0.1),
        (float("inf"), 1.0, 1e300), (10**400, 1.0, 1.0), ("1", 1, None), (1, "1", None), (b"a", "a", None),
        ({1}, [1], None), ([1], [1, 1], None), ([1, 1], [1], None), ({1: 2}, {"1": 2}, None), ({}, {"a": 1}, None),
        ({"a": 1, "b": 2}, {"a": 1}, None), (0, None, None), (False, None, None), (None, 0, None), (True, 2, 1),
        (True, 1.5, 1), ([], {}, None), ({}, [], None), (0, [], None), ("ab", ["a", "b"], None),
    ],
)  # fmt: skip
def test_not_equal(value: Any, expected: Any, tolerance: float | None) -> None:
    assert not equal(value, expected, tolerance)

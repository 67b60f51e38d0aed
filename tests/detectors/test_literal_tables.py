"""Tables of literals in programs: what is an entry, and what is only a part of one."""

from __future__ import annotations

import ast

import pytest

from lydite.detectors.literals import rows_of


@pytest.mark.parametrize(
    "program",
    [
        "T = {'aab': [('a', 2), ('b', 1)], 'cc': [('c', 2), ('d', 1)]}",
        "T = [('aab', [('a', 2), ('b', 1)]), ('cc', [('c', 2), ('d', 1)])]",
        "def f(s):\n    if s == 'aab':\n        return [('a', 2), ('b', 1)]\n    if s == 'cc':\n        return [('c', 2), ('d', 1)]",  # noqa: E501
        "def f(s):\n    match s:\n        case 'aab':\n            return [('a', 2), ('b', 1)]\n        case 'cc':\n            return [('c', 2), ('d', 1)]",  # noqa: E501
        "f = lambda s: [('a', 2), ('b', 1)] if s == 'aab' else [('c', 2), ('d', 1)] if s == 'cc' else None",
    ],
)
def test_pairs_within_a_value_are_no_entries(program: str) -> None:
    assert len(rows_of(ast.parse(program))) == 2


def test_a_table_that_a_function_gives_is_one() -> None:
    assert len(rows_of(ast.parse("def t():\n    return {1: 10, 2: 20, 3: 30}"))) == 3

"""Schemas whose references multiply are refused before anything is held against them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lydite.errors import InputError
from lydite.verifiers.build import build

Node = dict[str, Any]


def compiled(schema: Node) -> Any:
    return build({"type": "json_schema", "config": {"schema": schema}})


def chain(name: Callable[[int], str], more: Callable[[int], Node], twice: Callable[[Node], Node]) -> Node:
    """Forty definitions, each of which asks the one before it twice."""
    last: Node = {"type": "integer"}
    made = {f"d{at}": more(at) | (twice({"$ref": name(at - 1)}) if at else last) for at in range(40)}
    return {"$defs": made, "$ref": name(39)}


@pytest.mark.parametrize("word", ["anyOf", "oneOf", "allOf"])
@pytest.mark.parametrize(
    ("name", "more"),
    [
        (lambda at: f"#/$defs/d{at}", lambda at: {}),
        (lambda at: f"#/%24defs/d{at}", lambda at: {}),
        (lambda at: f"#a{at}", lambda at: {"$anchor": f"a{at}"}),
        (lambda at: f"http://example.com/x/d{at}", lambda at: {"$id": f"http://example.com/x/d{at}"}),
        (lambda at: f"http://example.com/x/../d{at}", lambda at: {"$id": f"http://example.com/d{at}"}),
    ],
)
def test_references_that_multiply_are_refused(
    word: str, name: Callable[[int], str], more: Callable[[int], Node]
) -> None:
    with pytest.raises(InputError, match=r"too large|again") as caught:
        compiled(chain(name, more, lambda inner: {word: [inner, inner]}))
    assert caught.value.field.startswith("checker.config.schema")  # type: ignore[union-attr]
    assert caught.value.remedy


@pytest.mark.parametrize(
    "twice",
    [
        lambda inner: {"if": inner, "then": inner},
        lambda inner: {"not": inner, **inner},
        lambda inner: {"dependentSchemas": {"a": inner, "b": inner}},
    ],
)
def test_so_are_those_of_other_words(twice: Callable[[Node], Node]) -> None:
    with pytest.raises(InputError, match="too large"):
        compiled(chain(lambda at: f"#/$defs/d{at}", lambda at: {}, twice))


def test_a_schema_that_refers_to_itself_for_the_same_value_is_refused() -> None:
    with pytest.raises(InputError, match="same value"):
        compiled({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}, {"type": "null"}]}, "b": {"$ref": "#/$defs/a"}},
                  "$ref": "#/$defs/a"})  # fmt: skip


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}},
        chain(lambda at: f"#/$defs/d{at}", lambda at: {}, lambda inner: {"allOf": [inner]}),
        chain(lambda at: f"#/$defs/d{at}", lambda at: {"type": "object"}, lambda inner: {"properties": {"a": inner}}),
        {
            "$id": "strict-tree",
            "$dynamicAnchor": "node",
            "$ref": "tree",
            "unevaluatedProperties": False,
            "$defs": {
                "tree": {
                    "$id": "tree",
                    "$dynamicAnchor": "node",
                    "type": "object",
                    "properties": {"children": {"type": "array", "items": {"$dynamicRef": "#node"}}},
                }
            },
        },
    ],
)
def test_others_with_references_are_as_they_were(schema: Node) -> None:
    assert compiled(schema)

"""A configuration that a built-in verifier refuses: the error names the field and what to do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from lydite.codec import canonical
from lydite.errors import InputError, UnavailableError
from lydite.verifiers import build
from lydite.verifiers.describe import describe
from lydite.verifiers.registry import BUILTIN, find

DEEP: Any = json.loads("[" * 900 + "]" * 900)
ODD: dict[str, Any] = {
    "null": None, "a number": 7, "minus one": -1, "a huge number": 10**30, "true": True, "nothing": "", "a space": " ",
    "a name": "zzz", "a list of numbers": [1, [2]], "an empty list": [], "an empty object": {}, "an object": {"zzz": 1},
    "a NUL": "a\0b", "a line end": "a\nb", "a long text": "x" * 300_000, "a lone surrogate": "\ud800", "levels": DEEP,
    "a list of empty texts": [""], "twice": ["x", "x"], "a list of a surrogate": ["\ud800"], "infinite": float("inf"),
    "a path outwards": "../x", "paths outwards": ["../x"], "files outwards": {"../x": ""},
    "files in files": {"a": "", "a/b": ""},
    "levels of objects": json.loads('{"a":' * 300 + "1" + "}" * 300),
}  # fmt: skip
"""Values that few fields can hold."""


def bad_configs(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every field of an example left out, or with a value that it may not have."""
    for number, example in enumerate(getattr(find(name), "examples", ())):
        config = example.config
        yield f"{number} unknown field", {**config, "no_such_field": 1}
        yield f"{number} nothing", {}
        for field in config:
            yield f"{number} without {field}", {key: value for key, value in config.items() if key != field}
            for label, odd in ODD.items():
                yield f"{number} {field}: {label}", {**config, field: odd}
            inner = config[field]
            if isinstance(inner, list) and inner:
                for label, odd in ODD.items():
                    yield f"{number} {field}.0: {label}", {**config, field: [odd, *inner[1:]]}
                first = inner[0]
                for key in first if isinstance(first, dict) else ():
                    for label, odd in ODD.items():
                        yield f"{number} {field}.0.{key}: {label}", {**config, field: [{**first, key: odd}, *inner[1:]]}
        for field in set(describe(name).fields) - set(config):
            for label, odd in ODD.items():
                yield f"{number} {field}: {label}", {**config, field: odd}


@pytest.mark.parametrize("name", sorted(BUILTIN))
def test_a_refused_configuration_is_told_with_field_and_remedy(name: str) -> None:
    refused = 0
    bad: list[str] = []
    for label, config in bad_configs(name):
        try:
            build({"type": name, "config": config})
        except InputError as error:
            refused += 1
            if not error.field or not error.remedy or not error.message:
                bad.append(f"{label}: {str(error)[:200]}")
        except UnavailableError as error:
            pytest.skip(str(error))
        else:
            try:
                find(name).compile(msgspec.json.decode(canonical(config)))
            except Exception as error:
                bad.append(f"{label}: {type(error).__name__}: {str(error)[:200]}")
    assert refused > 5
    assert not bad, "\n".join(bad)


@pytest.mark.parametrize(
    ("name", "config", "field"),
    [
        ("exact", {"answer": "a", "choices": []}, "checker.config.choices"),
        ("code", {"entry_point": "x", "tests": ["assert add(1, 2) == 3"]}, "checker.config.entry_point"),
        ("json_schema", {"schema": {}, "expected": DEEP}, "checker.config.expected"),
        ("json_schema", {"schema": ODD["levels of objects"], "expected": 1}, "checker.config.schema"),
    ],
)
def test_the_field_that_is_at_fault_is_named(name: str, config: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        build({"type": name, "config": config})
    assert caught.value.field == field

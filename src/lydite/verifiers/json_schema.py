"""``json_schema``: the answer is one JSON value that fits a schema, and perhaps one that holds certain values.

Config: ``{schema, expected?, strict = true}``. Strict: what follows the thinking is JSON and nothing else, read by
``strict_json``. With ``strict: false`` it may also stand in the only fenced block labelled ``json`` (or in the only
block there is), or be the only object in the text; two of these are ``several_values``.

A value that does not fit the schema (formats are checked) scores 0. With ``expected`` the score is the fraction of its
fields that are right: fields are the leaves of nested objects; a list is one field, compared whole. What the value
holds beyond ``expected`` is for the schema to forbid. ``expected`` that is no object is right or wrong as a whole.

The schema stands alone: references to other documents are refused, and nothing is fetched. Its patterns run on an
engine that takes linear time: without look-around and back-references.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from lydite.errors import InputError
from lydite.verdict import Part, Verdict
from lydite.verifiers.fences import fenced_blocks
from lydite.verifiers.fields import read_config
from lydite.verifiers.json_expansion import check_expansion
from lydite.verifiers.protocol import Check, Example, Submission
from lydite.verifiers.strict_json import MAX_DEPTH, StrictJSONError, exact, loads, same, scan
from lydite.verifiers.text import after_thinking, is_refusal

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError, Validator

MAX_ERRORS = 20
MAX_FIELDS = 100
"""Parts of a verdict: places that do not fit the schema, and expected fields. All fields count in the score."""
_SIMPLE = 5000
"""Characters of an answer whose errors are all listed; of a longer one the first is named."""
_SHALLOW = 8
"""Levels up to which errors are listed: naming them takes time exponential in the depth of a recursive schema."""

_LABELS = frozenset(["json", "jsonc", "json5"])
_OBJECT = re.compile(r"\{[ \t\n\r]*+[\"}]")
_ENCODER = msgspec.json.Encoder(decimal_format="number")
_PROBES: tuple[Any, ...] = (None, False, 0, "", [], {})
"""A schema that all of these fit asks for nothing."""


class _Config(msgspec.Struct, forbid_unknown_fields=True):
    schema: dict[str, Any] | bool
    expected: Any = msgspec.UNSET
    strict: bool = True


_PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 1}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


class JSONSchemaVerifier:
    """Strict JSON, a schema, and values compared by type."""

    name = "json_schema"
    version = 1
    modules = tuple(
        f"lydite.verifiers.{name}" for name in ("json_schema", "json_expansion", "strict_json", "fences", "text")
    )
    examples = (
        Example(
            config={"schema": _PERSON, "expected": {"name": "Ada", "age": 36}},
            right='{"name": "Ada", "age": 36}',
            wrong='{"name": "Charles", "age": 79}',
            hacks={
                "empty object": "{}",
                "null": "null",
                "the shape without the values": '{"name": "?", "age": 0}',
                "two values for one key": '{"name": "x", "name": "Ada", "age": 36}',
                "two objects": '{"name": "Ada", "age": 35} {"name": "Ada", "age": 36}',
                "a list of guesses": '[{"name": "Ada", "age": 36}, {"name": "Ada", "age": 35}]',
                "a number as text": '{"name": "Ada", "age": "36"}',
            },
        ),
        Example(
            config={"schema": {"type": "object", "required": ["sum"]}, "expected": {"sum": 12}, "strict": False},
            right='The sum is what was asked for.\n```json\n{"sum": 12}\n```',
            wrong='```json\n{"sum": 11}\n```',
            hacks={
                "two blocks": '```json\n{"sum": 12}\n```\n```json\n{"sum": 13}\n```',
                "two objects in prose": 'Either {"sum": 12} or {"sum": 13}.',
            },
        ),
    )

    def compile(self, config: dict[str, Any]) -> Check:
        """Compile the schema once, and hold ``expected`` against it.

        Raises:
            InputError: unknown field; a schema that is none, asks for nothing, refers to another document, has a
                pattern that takes more than linear time or is too large with its references followed; ``expected``
                that does not fit.
        """
        settings = read_config(config, _Config, self.name)
        for field, value in (("schema", settings.schema), ("expected", settings.expected)):
            if _deeper_than(value, MAX_DEPTH):
                remedy = "give what lies further up" if field == "expected" else "use $defs and $ref"
                raise InputError(f"has more than {MAX_DEPTH} levels", field=field, remedy=remedy)
        validator = _compile(settings.schema)
        check_expansion(settings.schema)
        has_expected = settings.expected is not msgspec.UNSET
        expected = exact(settings.expected) if has_expected else None
        if has_expected:
            _fits(validator, expected)
        elif all(validator.is_valid(probe) for probe in _PROBES):
            raise InputError("fits every value", field="schema", remedy="say what is asked for, or give expected")
        fields = list(_fields(expected)) if isinstance(expected, dict) else None
        recursive = _has_reference(settings.schema)
        identity = f"{self.name}@{self.version}"

        def check(submission: Submission) -> Verdict:
            found = _instance(submission.text, settings.strict, identity)
            if isinstance(found, Verdict):
                return found
            value, text = found
            shown = text if len(text) <= 500 else text[:500] + "…"
            if not validator.is_valid(value):
                parts = _errors(validator, value, len(text), recursive)
                return Verdict.of(0.0, "schema", identity, extracted=shown, parts=parts)
            if not has_expected:
                return Verdict.of(1.0, "correct", identity, extracted=shown)
            if fields is None:
                right = same(expected, value)
                return Verdict.of(float(right), "correct" if right else "wrong_value", identity, extracted=shown)
            return _compared(value, fields, shown, identity)

        return check


def _compile(schema: dict[str, Any] | bool) -> Validator:
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(
            schema,
            validate_formats=True,
            ignore_unknown_formats=False,
            pattern_options=jsonschema_rs.RegexOptions(),
            offline=True,
        )
    except jsonschema_rs.ValidationError as error:
        message = error.message.splitlines()[0][:300]
        place = [str(step) for step in error.instance_path] or _reference_in(schema, message)
        remedy = "the schema has to stand alone" if "etriev" in message else "see json-schema.org"
        if place[-1:] == ["pattern"]:
            remedy = "patterns may have neither look-around nor back-references"
        raise InputError(message, field=".".join(["schema", *place]), remedy=remedy) from None
    except (ValueError, RecursionError) as error:
        raise InputError(str(error)[:300], field="schema", remedy="see json-schema.org") from None


def _references(schema: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Places and targets of references."""
    if isinstance(schema, dict | list):
        for key, value in schema.items() if isinstance(schema, dict) else enumerate(schema):
            if isinstance(value, str) and key in ("$ref", "$dynamicRef", "$recursiveRef"):
                yield (*place, key), value
            yield from _references(value, (*place, str(key)))


def _reference_in(schema: Any, message: str) -> list[str]:
    """Where the reference stands that a message speaks of; empty where it speaks of none."""
    for place, target in _references(schema):
        if target.lstrip("#") and target.lstrip("#") in message:
            return list(place)
    return []


def _has_reference(schema: Any) -> bool:
    return next(_references(schema), None) is not None


def _fits(validator: Validator, expected: Any) -> None:
    if expected == {}:
        raise InputError("names no field", field="expected", remedy="give the fields that count, or leave it out")
    try:
        error = next(iter(validator.iter_errors(expected)), None)
    except UnicodeEncodeError:
        raise InputError("holds half of a surrogate pair", field="expected", remedy="such text has no UTF-8") from None
    if error is not None:
        field = ".".join(["expected", *map(str, error.instance_path)])
        raise InputError(f"does not fit the schema: {error.message[:300]}", field=field, remedy="mend one of the two")


def _instance(text: str, strict: bool, identity: str) -> tuple[Any, str] | Verdict:
    """The value that a completion gives, with its text."""
    if "think>" in text:
        try:
            return loads(text), text.strip()  # a document that speaks of tags
        except StrictJSONError:
            rest = after_thinking(text)
        if rest is None:
            return Verdict.unparseable("no_answer", identity, detail="the thinking was never finished")
        text = rest
    if not text.strip():
        return Verdict.unparseable("no_answer", identity)
    try:
        if strict:
            return loads(text), text.strip()
        return _lenient(text)
    except StrictJSONError as error:
        reason = error.reason
        if reason == "not_json" and is_refusal(text):
            reason = "refused"
        return Verdict.unparseable(reason, identity, extracted=text.strip()[:200] or None, detail=str(error))


def _lenient(text: str) -> tuple[Any, str]:
    """The value of the only fenced block, or the whole text, or the only object in it."""
    blocks = [block for block in fenced_blocks(text) if block.closed]
    chosen = [block.text for block in blocks if block.label in _LABELS] or [b.text for b in blocks if not b.label]
    if len(chosen) > 1:
        raise StrictJSONError("several_values", 0, "more than one fenced block")
    if chosen:
        return loads(chosen[0]), chosen[0].strip()
    try:
        return loads(text), text.strip()
    except StrictJSONError as error:
        first = _OBJECT.search(text)
        if first is None or error.reason in ("too_large", "too_deep"):
            raise
    value, end = scan(text, first.start())
    more = _OBJECT.search(text, end)
    if more is not None:
        raise StrictJSONError("several_values", more.start(), "another object")
    return value, text[first.start() : end]


def _pointer(path: list[Any] | tuple[Any, ...]) -> str:
    """A JSON pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path[:20])[:120]


def _errors(validator: Validator, value: Any, size: int, recursive: bool) -> tuple[Part, ...]:
    """The places that do not fit."""
    import jsonschema_rs

    if recursive and _deeper_than(value, _SHALLOW):
        return ()
    errors: list[ValidationError] = []
    if size <= _SIMPLE:
        errors = list(validator.iter_errors(value))[:MAX_ERRORS]
    else:
        try:
            validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            errors = [error]
    return tuple(Part(_pointer(e.instance_path) or "#", 0.0, e.kind.name, e.message[:200]) for e in errors)


def _deeper_than(value: Any, levels: int) -> bool:
    layer = [value]
    for _ in range(levels):
        layer = [
            inner
            for item in layer
            if isinstance(item, dict | list)
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
        if not layer:
            return False
    return True


def _fields(expected: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Leaves of nested objects, with their paths."""
    if isinstance(expected, dict) and expected:
        for key, value in sorted(expected.items()):
            yield from _fields(value, (*path, key))
    else:
        yield path, expected


_MISSING = object()


def _compared(value: Any, fields: list[tuple[tuple[str, ...], Any]], shown: str, identity: str) -> Verdict:
    parts: list[Part] = []
    right = 0
    for path, wanted in fields:
        found = value
        for step in path:
            found = found.get(step, _MISSING) if isinstance(found, dict) else _MISSING
        good = found is not _MISSING and same(wanted, found)
        right += good
        if len(parts) < MAX_FIELDS:
            reason = "ok" if good else "missing" if found is _MISSING else "wrong"
            evidence = None if found is _MISSING else _ENCODER.encode(found).decode()[:80]
            parts.append(Part(_pointer(path), float(good), reason, evidence))
    score = right / len(fields)
    reason = "correct" if score == 1 else "wrong_value"
    return Verdict.of(score, reason, identity, extracted=shown, parts=tuple(parts))

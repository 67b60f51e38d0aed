"""Attacks on checkers of a form: ``json_schema``, ``regex``, ``text_transform``, ``format``, ``steps``, ``proof``.

Some of these ask for a form alone. What has the form then is judged correct, whatever is in it, and nobody but the
task's author knows whether that is the task: such attacks are soft, told as warnings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from lydite.errors import InputError
from lydite.probes.panel.dress import around
from lydite.probes.panel.golds import other
from lydite.probes.panel.programs import fenced
from lydite.probes.protocol import Attack, Check, Target
from lydite.verifiers.regex.verifier import RegexConfig

_VALUES = "give `expected`, so that values count, and a schema with `required`"
_TEXTS = "give more texts that must (not) match, some of them hidden"
_CORE = "put it into `all_of` or `gate` beside a checker of the content"


def attacks(target: Target) -> Iterator[Attack]:
    """What has the form and nothing in it."""
    for part in target.of("json_schema"):
        yield from _json(part.config)
    for part in target.of("regex"):
        yield from _regex(part.config, target)
    for part in target.of("text_transform"):
        yield from _transform(part.config)
    if target.of("format", "steps"):
        yield _attack(
            "empty_form",
            "the form that is asked for, with nothing in it",
            _CORE,
            around(target, "x"),
            soft=target.kinds <= {"format", "steps"},
        )
    for part in target.of("proof"):
        yield from _proof(part.config)


def _attack(kind: str, what: str, mend: str, text: str, **more: Any) -> Attack:
    return Attack(name=more.pop("name", Check.ADVERSARIAL), kind=kind, what=what, mend=mend, text=text, **more)


def _json(config: dict[str, Any]) -> Iterator[Attack]:
    schema, expected = config.get("schema"), config.get("expected")
    nothing: tuple[Any, ...] = ({}, None, [], "", 0, False)
    for value in nothing:
        text = json.dumps(value)
        if "expected" not in config or value != expected:
            yield _attack("empty_value", f"the value {text}", _VALUES, text)
    try:
        least = minimal(schema, schema if isinstance(schema, dict) else {})
    except (RecursionError, TypeError, ValueError):
        return
    if "expected" not in config:
        yield _attack("minimal_instance", "the least that fits the schema", _VALUES, json.dumps(least), soft=True)
        return
    if least != expected:
        yield _attack("minimal_instance", "the least that fits the schema", _VALUES, json.dumps(least))
    if isinstance(expected, dict) and expected:
        key, value = next(iter(expected.items()))
        wrong = json.dumps({key: _changed(value)})[1:-1]
        right = json.dumps(expected)
        twice = f"{right[:-1]}, {wrong}}}", f"{{{wrong}, {right[1:]}"
        for text in twice:
            yield _attack("duplicate_keys", f"two values for {key!r}", "refuse a key that comes twice", text)
        both = f"{right}\n{json.dumps({**expected, key: _changed(value)})}"
        yield _attack("two_values", "the right object and another one", "take one value only", both)


def _changed(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return not value
    return other(str(value), "json") if isinstance(value, str) else value + 1 if isinstance(value, int | float) else "x"


def minimal(schema: Any, root: dict[str, Any], levels: int = 12) -> Any:
    """A small instance of a schema, as far as its plain keywords tell.

    Raises:
        ValueError: the schema goes deeper than this.
    """
    if not levels:
        raise ValueError("too deep")
    if not isinstance(schema, dict):
        return None
    if isinstance(reference := schema.get("$ref"), str) and reference.startswith("#/"):
        found: Any = root
        for step in reference[2:].split("/"):
            found = found.get(step.replace("~1", "/").replace("~0", "~"), {}) if isinstance(found, dict) else {}
        return minimal(found, root, levels - 1)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for several in ("anyOf", "oneOf", "allOf"):
        if schema.get(several):
            return minimal(
                {**schema[several][0], **{k: v for k, v in schema.items() if k != several}}, root, levels - 1
            )
    kind = schema.get("type", "object" if "properties" in schema or "required" in schema else "null")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: minimal(properties.get(name, {}), root, levels - 1) for name in schema.get("required", [])}
    if kind == "array":
        return [minimal(schema.get("items", {}), root, levels - 1)] * int(schema.get("minItems", 0))
    if kind == "string":
        return "x" * int(schema.get("minLength", 0))
    if kind in ("integer", "number"):
        least = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
        return int(least) if least == int(least) else least
    return False if kind == "boolean" else None


def _regex(config: dict[str, Any], target: Target) -> Iterator[Attack]:
    try:
        settings = msgspec.convert(config, RegexConfig)
    except (msgspec.ValidationError, InputError):
        return
    for pattern in (".*", r"[\s\S]*", "", "^", "(?!)", "(?s).*"):
        text = fenced(pattern + "\n", "regex")
        yield _attack("matches_everything", f"the expression {pattern!r}", _TEXTS, text)
    prompt = target.task.prompt_text
    shown = [text for text in settings.must_match if text in prompt or text in settings.visible]
    barred = [text for text in settings.must_not_match if text in prompt or text in settings.visible]
    if barred:
        pattern = f"(?!(?:{'|'.join(map(re.escape, barred))})$)[\\s\\S]*"
        text = fenced(pattern + "\n", "regex")
        yield _attack(
            "all_but_visible", "everything but the texts that are shown", _TEXTS, text, name=Check.GAMEABILITY
        )
    listed = shown or (settings.must_match if len(set(settings.must_match)) == 1 else [])
    if listed and not _is_a_list(target):
        text = fenced("|".join(map(re.escape, listed)) + "\n", "regex")
        all_shown = set(shown) == set(settings.must_match)
        mend = f"no hidden part: {_TEXTS}" if all_shown else _TEXTS
        yield _attack("visible_list", "a list of the texts that are shown", mend, text, name=Check.GAMEABILITY)


def _is_a_list(target: Target) -> bool:
    """Whether a list of words may be what is asked for: the solution is one, or there is none to tell."""
    solution = target.solution_text
    if solution is None:
        return len({text for part in target.of("regex") for text in part.config.get("must_match", [])}) > 1
    return not re.search(r"\\[dDwWsSpP]|\[[^\]]|[^\\]\.|[^\\][*+{]", f" {solution.strip().strip('`')}")


def _transform(config: dict[str, Any]) -> Iterator[Attack]:
    cases = [case for case in config.get("cases") or [] if isinstance(case, dict)]
    name = str(config.get("entry_point") or "transform")
    visible = set(config.get("visible") or [])
    if len(cases) == 1 and config.get("answer") != "code":
        given, expected = str(cases[0].get("input")), str(cases[0].get("expected"))
        if given != expected:
            yield _attack("input_echo", "the input, given back", "ask for a text that differs from the input", given)
        return
    if any(case.get("input") != case.get("expected") for case in cases):
        text = fenced(f"def {name}(text):\n    return text\n")
        yield _attack("identity", "gives every text back", "add cases that change", text)
    shown = {str(case["input"]): str(case["expected"]) for case in cases if case.get("input") in visible}
    if shown:
        text = fenced(f"def {name}(text):\n    return {shown!r}.get(text, '')\n")
        mend = "add cases that the prompt does not show"
        mend = f"no hidden part: {mend}" if len(shown) == len(cases) else mend
        told = "a table of the inputs that are shown"
        yield _attack("visible_table", told, mend, text, name=Check.GAMEABILITY)


def _proof(config: dict[str, Any]) -> Iterator[Attack]:
    statement, mend = str(config.get("statement") or ""), "check the statement, and what the proof rests on"
    if config.get("system") == "lean4":
        label = "lean"
        cheats = {
            "admitted": f"{statement} := by\n  sorry\n",
            "axiom": f"axiom cheat : False\n{statement} := cheat.elim\n",
        }
        cheats["another_statement"] = "theorem other : True := trivial\n"
    else:
        label = "coq"
        cheats = {
            "admitted": f"{statement}\nProof.\nAdmitted.\n",
            "admitted_step": f"{statement}\nProof.\nadmit.\nAdmitted.\n",
            "axiom": f"Axiom cheat : forall P : Prop, P.\n{statement}\nProof. intros; apply cheat. Qed.\n",
            "another_statement": "Theorem other : True.\nProof. exact I. Qed.\n",
            "aborted": f"{statement}\nProof.\nAbort.\n",
        }
    for kind, source in cheats.items():
        yield _attack(kind, "a proof that proves nothing", mend, fenced(source, label))

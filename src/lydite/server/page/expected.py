"""What a task's checker expects, for the people who look at its attempts: answers, tests, texts, by part.

This is gold. It is shown beside an attempt and nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from lydite.task import Checker, Task
from lydite.verifiers import checker_of

MOST_PARTS = 200
"""Parts that are shown; those that fell short first."""
_DEEPEST = 5


class Expected(NamedTuple):
    """Something that is expected. ``label`` says what; ``text`` as plain text."""

    label: str
    text: str


class Expectations(NamedTuple):
    """Of a checker.

    Attributes:
        whole: what the attempt is judged by.
        parts: name of a part of the verdict (``t1``, ``m2``, ``db1``, a component's) to what it expects.
    """

    whole: list[Expected]
    parts: dict[str, str]


def expectations(task: Task) -> Expectations:
    """What a task expects."""
    return _of(checker_of(task), 0)


def _of(checker: Checker, depth: int) -> Expectations:
    config = checker.config
    whole: list[Expected] = []
    parts: dict[str, str] = {}
    shown: set[str] = set()

    def add(field: str, label: str) -> None:
        if config.get(field) is not None:
            whole.append(Expected(label, _text(config[field])))
            shown.add(field)

    match checker.type:
        case "math" | "exact" | "choice":
            add("answer", "answer")
        case "code" | "text_transform" if isinstance(tests := config.get("tests", config.get("cases")), list):
            parts |= {f"t{n}": _test(test, config.get("entry_point")) for n, test in enumerate(tests, 1)}
            if isinstance(visible := config.get("visible"), list):
                parts |= {f"v{n}": _test(test, config.get("entry_point")) for n, test in enumerate(visible, 1)}
            shown |= {"tests", "cases", "visible"}
        case "regex":
            for letter, field, label in (("m", "must_match", "must match"), ("n", "must_not_match", "must not match")):
                texts = config.get(field)
                if isinstance(texts, list):
                    parts |= {f"{letter}{n}": f"{label} {_text(text)!r}" for n, text in enumerate(texts, 1)}
                    shown.add(field)
        case "sql":
            add("reference", "query whose rows are expected")
        case "pytest":
            add("test_paths", "tests")
            if isinstance(files := config.get("files"), dict):
                whole += [Expected(f"the grader's {name}", _text(text)) for name, text in files.items()]
                shown.add("files")
        case "script":
            add("script", "the grader's script")
        case "exit_code":
            add("command", "command")
        case "file_exists":
            add("paths", "files")
        case "proof":
            add("statement", "statement")
        case "json_schema":
            add("expected", "fields")
            add("schema", "schema")
        case "format":
            add("required", "tags")
            add("forbidden", "forbidden")
        case "all_of" | "weighted" | "gate" if depth < _DEEPEST:
            for name, inner in _components(config):
                found = _of(inner, depth + 1)
                whole += [Expected(f"{name}: {one.label}", one.text) for one in found.whole]
                parts[name] = inner.type
                whole += [Expected(f"{name}: {part}", text) for part, text in list(found.parts.items())[:20]]
            shown.add("checkers")
    rest = {name: value for name, value in config.items() if name not in shown}
    if rest:
        whole.append(Expected("settings" if whole or parts else "configuration", _text(rest)))
    return Expectations(whole, parts)


def _components(config: dict[str, Any]) -> Iterator[tuple[str, Checker]]:
    checkers = config.get("checkers")
    for name, one in checkers.items() if isinstance(checkers, dict) else ():
        if isinstance(one, dict) and isinstance(one.get("type"), str):
            inner = one.get("config", {})
            yield name, Checker(type=one["type"], config=inner if isinstance(inner, dict) else {})


def _test(test: Any, entry: Any) -> str:
    """A test of a program, in a line or few."""
    if not isinstance(test, dict):
        return _text(test)
    if "call" in test or "args" in test:
        said = [_json(one) for one in test.get("args") or ()]
        said += [f"{name}={_json(one)}" for name, one in (test.get("kwargs") or {}).items()]
        head = f"{test.get('call', entry or 'f')}({', '.join(said)})"
    else:
        head = f"input {_json(test.get('input', ''))}"
    tail = f" → {_json(test['expected'])}" if "expected" in test else ""
    more = {name: value for name, value in test.items() if name not in ("call", "args", "kwargs", "input", "expected")}
    return head + tail + (f"  {_json(more)}" if more else "")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _text(value: Any) -> str:
    """A value for people: texts as they are, short lists of texts a line each, all else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return "\n".join(value)
    compact = _json(value)
    return compact if len(compact) <= 100 else json.dumps(value, ensure_ascii=False, indent=2)

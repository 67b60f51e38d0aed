"""Rows of known data sets, told by their field names, as task documents.

============  ==========================================================  ==============================================
data set      recognised by                                               becomes
============  ==========================================================  ==============================================
GSM8K         ``question``, ``answer`` with ``#### gold``                 ``math``; solution = the answer text
MATH          ``problem``, ``solution`` and/or ``answer``, ``level``      ``math``; gold = ``answer``, else the last box
HumanEval     ``task_id, prompt, canonical_solution, test, entry_point``  ``code``, one assert-source test
MBPP          ``text`` or ``prompt``, ``code``, ``test_list``             ``code``, one assert-source test per assertion
============  ==========================================================  ==============================================

Every other column goes to ``metadata``. What a policy is asked is the question followed by one instruction (below); the
question alone, as the data set has it, stays in ``metadata.question``, so that completions recorded under the bare
question can be matched to the task and comparisons between sets do not see the instruction. HumanEval's prompt is
Python source and stays as it is: it states the whole task, and checks take helper functions from it.
"""

from __future__ import annotations

import ast
import re
from typing import Any, Final

from lydite.errors import InputError
from lydite.tasksets._names import as_list, as_text, show
from lydite.tasksets.difficulty import from_level

#: Follows the question of GSM8K and MATH rows.
MATH_INSTRUCTION: Final = "Reason step by step, and put the final answer in \\boxed{}."
#: Follows the text of MBPP rows, together with the first assertion, which alone tells the function's name.
CODE_INSTRUCTION: Final = "Write it in Python, in one code block. It must pass this test, and others like it:"

Row = dict[str, Any]


def recognise(row: Row) -> Row | None:
    """The task document of a data set's row, or ``None`` when the row is none that is known.

    Raises:
        InputError: the row is one of a known data set, but a field is missing or unusable.
    """
    if "checker" in row:
        return None
    for signature, convert in _SIGNATURES:
        if signature in row:
            return convert(row)
    return None


def last_boxed(text: str) -> str | None:
    r"""Content of the last ``\boxed{…}`` or ``\fbox{…}`` with balanced braces, or the token after ``\boxed``.

    Linear in the text. ``None`` when there is no box or its braces never close.
    """
    found = max(text.rfind("\\boxed"), text.rfind("\\fbox"))
    if found < 0:
        return None
    rest = text[found:].split("boxed" if text.startswith("\\boxed", found) else "fbox", 1)[1].lstrip()
    if not rest.startswith("{"):
        token = re.match(r"[^\s$\\.,;]+", rest)
        return token[0] if token else None
    depth = 0
    for brace in re.finditer(r"\\.|[{}]", rest, re.DOTALL):
        if brace[0] in "{}":
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                return rest[1 : brace.start()].strip()
    return None


def _gsm8k(row: Row) -> Row:
    question, answer = _text(row, "question", "GSM8K"), _text(row, "answer", "GSM8K")
    _, mark, gold = answer.rpartition("####")
    if not mark or not gold.strip():
        remedy = "a GSM8K answer ends in '#### 42'; for another question, write a task document with a checker"
        raise InputError("has no gold after ####", field="answer", remedy=remedy)
    return {
        "prompt": f"{question}\n\n{MATH_INSTRUCTION}",
        "checker": {"type": "math", "config": {"answer": gold.strip()}},
        "solution": answer,
        **_rest(row, "gsm8k", question, ("question", "answer")),
    }


def _math(row: Row) -> Row:
    problem = _text(row, "problem", "MATH")
    gold, solution = row.get("answer"), row.get("solution")
    if gold is None:
        gold = last_boxed(_text(row, "solution", "MATH"))
        if not gold:
            raise InputError("has no \\boxed{…} with an answer in it", field="solution", remedy="add an 'answer' field")
    if isinstance(gold, bool) or not isinstance(gold, str | int | float):
        raise InputError(f"must be a text or a number, not {show(gold)}", field="answer", remedy="give the answer")
    level = row.get("level")
    return {
        "prompt": f"{problem}\n\n{MATH_INSTRUCTION}",
        "checker": {"type": "math", "config": {"answer": str(gold)}},
        "difficulty": from_level(level) if isinstance(level, str | int) else "",
        **({} if solution is None else {"solution": _text(row, "solution", "MATH")}),
        **_rest(row, "math", problem, ("problem", "answer", "solution")),
    }


def _humaneval(row: Row) -> Row:
    prompt, entry = _text(row, "prompt", "HumanEval"), _text(row, "entry_point", "HumanEval")
    if not entry.isidentifier():
        raise InputError(f"{show(entry)} is not a function's name", field="entry_point", remedy="give the bare name")
    test = _text(row, "test", "HumanEval")
    fields = ("task_id", "prompt", "canonical_solution", "test", "entry_point")
    return {
        "prompt": prompt,
        "checker": {"type": "code", "config": {"tests": [f"{test}\ncheck({entry})\n"], "entry_point": entry}},
        "solution": prompt + _text(row, "canonical_solution", "HumanEval"),
        **_rest(row, "humaneval", None, fields, name=_task_id(row, "HumanEval", "")),
    }


def _mbpp(row: Row) -> Row:
    question = _text(row, "text" if "text" in row else "prompt", "MBPP")
    code = _text(row, "code", "MBPP")
    asserts = _texts(row, "test_list")
    if not asserts:
        raise InputError("is empty", field="test_list", remedy="an MBPP row needs at least one assertion")
    setup = [*_texts(row, "test_imports"), *filter(None, [_text(row, "test_setup_code", "MBPP", "")])]
    entry = _entry_point(code, asserts)
    return {
        "prompt": f"{question}\n\n{CODE_INSTRUCTION}\n\n{asserts[0]}",
        "checker": {
            "type": "code",
            "config": {
                "tests": ["\n".join([*setup, text]) for text in asserts],
                "visible": ["\n".join([*setup, asserts[0]])],
                **({"entry_point": entry} if entry else {}),
            },
        },
        "solution": code,
        **_rest(
            row,
            "mbpp",
            question,
            ("task_id", "text" if "text" in row else "prompt", "code", "test_list", "test_setup_code", "test_imports"),
            name=_task_id(row, "MBPP", "MBPP/"),
        ),
    }


#: In this order: a HumanEval row has a ``prompt`` too, and MATH rows of some mirrors repeat the ``question``.
_SIGNATURES = (
    ("canonical_solution", _humaneval),
    ("entry_point", _humaneval),
    ("test_list", _mbpp),
    ("problem", _math),
    ("question", _gsm8k),
)


def _text(row: Row, field: str, kind: str, default: str | None = None) -> str:
    value = row.get(field, default)
    if value is None:
        if default is not None:
            return default
        raise InputError("is missing", field=field, remedy=f"a {kind} row needs it; other tasks need a checker")
    text = as_text(value, field)
    if not text.strip() and default is None:
        raise InputError("is empty", field=field, remedy=f"a {kind} row needs it")
    return text


def _texts(row: Row, field: str) -> list[str]:
    values = row.get(field)
    items = as_list([] if values is None else values, field, "give a list of texts")
    return [as_text(item, f"{field}.{index}") for index, item in enumerate(items)]


def _task_id(row: Row, kind: str, prefix: str) -> str | None:
    value = row.get("task_id")
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{prefix}{value}"
    return _text(row, "task_id", kind) if value is not None else None


def _rest(row: Row, source: str, question: str | None, used: tuple[str, ...], name: str | None = None) -> Row:
    """What a row says beyond the fields that were used: its id, and everything else as metadata."""
    own = row.get("id", name)
    if own is None:
        own = row.get("unique_id")  # MATH-500
    extra = {key: value for key, value in row.items() if key not in used and key != "id"}
    metadata = {"source": source, **extra, **({} if question is None else {"question": question})}
    return {"metadata": metadata, **({} if own is None else {"id": own})}


def _entry_point(code: str, asserts: list[str]) -> str | None:
    """The function of the reference that every assertion names; ``None`` where that is not one function."""
    try:
        defined = [node.name for node in ast.parse(code).body if isinstance(node, ast.FunctionDef)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    used = [set(re.findall(r"[^\W\d]\w*", text)) for text in asserts]
    named = [name for name in defined if all(name in words for words in used)]
    return named[-1] if named else None

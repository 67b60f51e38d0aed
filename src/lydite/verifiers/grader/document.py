"""Grader documents, read."""

from __future__ import annotations

import difflib
import re
from typing import Annotated, Any

import msgspec

from lydite.errors import InputError
from lydite.sandbox import Limits
from lydite.verifiers.fields import read_config
from lydite.verifiers.grader.formula import FUNCTIONS, Formula, FormulaError
from lydite.verifiers.grader.grade import Grader
from lydite.verifiers.grader.multi import MultiGrader
from lydite.verifiers.grader.script import PythonGrader
from lydite.verifiers.grader.similarity import similarity
from lydite.verifiers.grader.strings import OPERATIONS, string_check
from lydite.verifiers.grader.templates import AnyItem, Template, read_template

MAX_GRADERS = 20
TYPES = ("string_check", "text_similarity", "python", "multi")
MODELS = {
    "score_model": "asks a model for a score",
    "label_model": "asks a model for a label",
    "endpoint": "asks a server that is not part of the verdict",
}
"""Graders of OpenAI's that are refused, and why."""
_NAME = re.compile(r"[A-Za-z_]\w{0,59}")

Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]


class _Any(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    type: str
    name: str = ""
    pass_threshold: Share | None = None


class _StringCheck(_Any, forbid_unknown_fields=True, kw_only=True):
    input: str
    reference: str
    operation: str


class _Similarity(_Any, forbid_unknown_fields=True, kw_only=True):
    input: str
    reference: str
    evaluation_metric: str


class _Python(_Any, forbid_unknown_fields=True, kw_only=True):
    source: str
    image_tag: str | None = None
    timeout: Annotated[float, msgspec.Meta(gt=0.0, le=120.0)] = 10.0
    memory_mb: Annotated[int, msgspec.Meta(ge=64, le=2048)] = 2048
    probe: str = ""


class _Multi(_Any, forbid_unknown_fields=True, kw_only=True):
    graders: dict[str, dict[str, Any]] | list[dict[str, Any]]
    calculate_output: str


def read_grader(document: dict[str, Any], item: Any, *, nested: bool = False) -> Grader:
    """The grader of a document.

    Args:
        document: as OpenAI's API has it.
        item: the values of ``item``.
        nested: whether it is part of a ``multi``.

    Raises:
        InputError: names the field, dotted, within the document.
        UnavailableError, MissingExtraError: what it needs is not on this machine.
    """
    kind = document.get("type")
    if not isinstance(kind, str):
        raise InputError("is missing, or not a text", field="type", remedy=f"one of {', '.join(TYPES)}")
    if kind in MODELS:
        raise InputError(
            f"{kind} {MODELS[kind]}: a model is no verifier, as it can be talked into a score and its verdicts cannot "
            "be derived again",
            field="type",
            remedy=f"use {', '.join(TYPES)}",
        )
    if kind == "string_check":
        strings = read_config(document, _StringCheck, kind)
        if strings.operation not in OPERATIONS:
            remedy = f"one of {', '.join(OPERATIONS)}"
            raise InputError(f"unknown operation {strings.operation[:40]!r}", field="operation", remedy=remedy)
        return string_check(strings.operation, *_texts(strings.input, strings.reference, item))
    if kind == "text_similarity":
        texts = read_config(document, _Similarity, kind)
        return similarity(
            texts.evaluation_metric, *_texts(texts.input, texts.reference, item), threshold=texts.pass_threshold
        )
    if kind == "python":
        return _python(read_config(document, _Python, kind), item)
    if kind == "multi" and not nested:
        return _multi(read_config(document, _Multi, kind), item)
    if kind == "multi":
        raise InputError("a multi within a multi", field="type", remedy="write one formula over all graders")
    near = difflib.get_close_matches(kind[:40], TYPES, n=1)
    remedy = f"did you mean {near[0]}?" if near else f"one of {', '.join(TYPES)}"
    raise InputError(f"unknown grader {kind[:40]!r}", field="type", remedy=remedy)


def check_document(document: dict[str, Any]) -> None:
    """Look at a document for which there is no item yet.

    Raises:
        As ``read_grader``.
    """
    read_grader(document, AnyItem())


def _texts(said: str, reference: str, item: Any) -> tuple[Template, Template]:
    texts = read_template(said, item, "input"), read_template(reference, item, "reference")
    if not texts[0].asks and not texts[1].asks:
        remedy = "write {{ sample.output_text }}"
        raise InputError("asks for nothing of the completion: all would be graded alike", field="input", remedy=remedy)
    return texts


def _python(grader: _Python, item: Any) -> Grader:
    if grader.image_tag is not None:
        remedy = "leave it out; the sandbox has the standard library and the packages of docs/sandbox.md"
        raise InputError("there are no images to choose from", field="image_tag", remedy=remedy)
    limits = Limits(timeout=grader.timeout, memory_mb=grader.memory_mb)
    return PythonGrader(grader.source, item, limits, grader.probe, grader.pass_threshold)


def _multi(grader: _Multi, item: Any) -> Grader:
    documents = grader.graders if isinstance(grader.graders, dict) else _named(grader.graders)
    if not 1 <= len(documents) <= MAX_GRADERS:
        raise InputError(f"has {len(documents)}", field="graders", remedy=f"give 1 to {MAX_GRADERS}")
    for name in documents:
        if _NAME.fullmatch(name) is None or name in FUNCTIONS:
            remedy = "letters, digits and _, and none of " + ", ".join(sorted(FUNCTIONS))
            raise InputError(f"{name[:60]!r} cannot stand in a formula", field="graders", remedy=remedy)
    try:
        formula = Formula(grader.calculate_output)
    except FormulaError as error:
        remedy = "numbers, names of graders, + - * / ^, brackets, " + ", ".join(sorted(FUNCTIONS))
        raise InputError(f"cannot be read: {error}", field="calculate_output", remedy=remedy) from None
    if unknown := sorted(formula.names - documents.keys()):
        remedy = f"there is {', '.join(sorted(documents))}"
        raise InputError(f"no grader is called {unknown[0][:60]!r}", field="calculate_output", remedy=remedy)
    if not formula.names:
        remedy = f"use {', '.join(sorted(documents))}"
        raise InputError("speaks of no grader: all would be graded alike", field="calculate_output", remedy=remedy)
    _check_values(formula)
    parts: dict[str, Grader] = {}
    for name, document in documents.items():
        try:
            parts[name] = read_grader(document, item, nested=True)
        except InputError as error:
            raise error.at(prefix=f"graders.{name}") from None
    return MultiGrader(parts, formula, grader.calculate_output, grader.pass_threshold)


def _named(documents: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for at, document in enumerate(documents):
        name = document.get("name")
        if not isinstance(name, str) or not name:
            raise InputError("is missing", field=f"graders.{at}.name", remedy="the formula needs it")
        if name in found:
            raise InputError(f"{name[:60]!r} is there twice", field=f"graders.{at}.name", remedy="give another name")
        found[name] = document
    return found


def _check_values(formula: Formula) -> None:
    """Raises InputError for a formula that has no value whatever the scores are."""
    fault = ""
    for score in (0.0, 0.25, 0.5, 1.0):
        try:
            formula.value(dict.fromkeys(formula.names, score))
        except FormulaError as error:
            fault = str(error)
        else:
            return
    raise InputError(f"has no value: {fault}", field="calculate_output", remedy="mend it")

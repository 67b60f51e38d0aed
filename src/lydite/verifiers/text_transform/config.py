"""The configuration of ``text_transform``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec

from lydite.errors import InputError
from lydite.verifiers.exact import NORMALISATIONS
from lydite.verifiers.fields import read_config as read_fields

MAX_CASES = 1000


def newlines(text: str) -> str:
    """Line ends of Unix, and none at the end of the text."""
    return text.replace("\r\n", "\n").rstrip("\n")


STEPS: dict[str, Callable[[str], str]] = {"newlines": newlines, **NORMALISATIONS}


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An input and the text that it becomes."""

    input: str
    expected: str


class TransformConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Configuration of ``text_transform``.

    Attributes:
        cases: what counts.
        answer: ``code`` (a function), ``output`` (the text itself, for one case); left out: ``code`` for several cases,
            for one case the function where the completion defines it, else the text.
        entry_point: name of the function.
        normalise: names of normalisations, applied to both sides in this order.
        visible: inputs that the prompt shows; these cases and the others are counted apart.
        timeout: seconds, memory_mb: MiB, of each case.
    """

    cases: Annotated[list[Case], msgspec.Meta(min_length=1, max_length=MAX_CASES)]
    answer: Literal["code", "output"] | None = None
    entry_point: str = "transform"
    normalise: tuple[str, ...] = ("newlines",)
    visible: list[str] = []
    timeout: Annotated[float, msgspec.Meta(gt=0, le=600)] = 5.0
    memory_mb: Annotated[int, msgspec.Meta(ge=16, le=1 << 20)] = 512


def read_config(config: dict[str, Any]) -> TransformConfig:
    """The configuration.

    Raises:
        InputError: names the field that is wrong; also where the empty text, the input itself, or one and the same text
            would be right in every case.
    """
    settings = read_fields(config, TransformConfig, "text_transform")
    for index, name in enumerate(settings.normalise):
        if name not in STEPS:
            raise InputError(f"unknown {name!r:.60}", field=f"normalise.{index}", remedy=f"known: {', '.join(STEPS)}")
    if not settings.entry_point.isidentifier():
        remedy = "give the bare name of a function"
        raise InputError(f"{settings.entry_point!r:.60} is no name", field="entry_point", remedy=remedy)
    if settings.answer == "output" and len(settings.cases) > 1:
        raise InputError("is for one case", field="answer", remedy="ask for code, or make several tasks")
    seen: dict[str, str] = {}
    for index, case in enumerate(settings.cases):
        if seen.setdefault(case.input, case.expected) != case.expected:
            remedy = "a transform gives the same for the same input"
            raise InputError("stands twice, with different outputs", field=f"cases.{index}.input", remedy=remedy)
    unknown = [index for index, text in enumerate(settings.visible) if text not in seen]
    if unknown:
        raise InputError("is the input of no case", field=f"visible.{unknown[0]}", remedy="name inputs of cases")
    _check_worth(settings)
    return settings


def _check_worth(settings: TransformConfig) -> None:
    normal = normaliser(settings)
    expected = [normal(case.expected) for case in settings.cases]
    if not any(expected):
        raise InputError("are all empty", field="cases", remedy="an empty answer would be right")
    if len(expected) > 1 and len(set(expected)) == 1:
        raise InputError("all expect the same text", field="cases", remedy="a constant would be right: vary them")
    if all(normal(case.input) == output for case, output in zip(settings.cases, expected, strict=True)):
        raise InputError("all leave their input as it is", field="cases", remedy="doing nothing would be right")


def normaliser(settings: TransformConfig) -> Callable[[str], str]:
    """All steps as one."""
    steps = [STEPS[name] for name in settings.normalise]

    def normal(text: str) -> str:
        for step in steps:
            text = step(text)
        return text

    return normal

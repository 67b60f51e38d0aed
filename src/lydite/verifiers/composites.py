"""Checkers made of checkers: ``all_of``, ``weighted``, ``gate``.

Config: ``{checkers: {name: checker}}``, with ``weights: {name: weight}`` for ``weighted`` (default: all alike) and
``gate`` (of the rest; default: all alike), and ``gate: name`` for ``gate``. A checker is ``{type, config}``, also a
composite, up to four levels. All judge the same completion.

* ``all_of``: the lowest score.
* ``weighted``: the weighted mean, a rubric. Each criterion has to show what it saw: one that gives a score without an
  answer, parts or a detail counts 0, reason ``no_evidence``.
* ``gate``: 0 until the checker called ``gate`` gives 1, then the mean of the rest. While the gate is closed the rest is
  not asked: those parts have no score and the reason ``not_judged``.

A component that is invalid makes the composite invalid, reason ``invalid:NAME``: no score is made up for what could not
be judged. A reason below 1 is that of the first component that fell short, ``NAME:reason``. Components are asked in the
order of their names. Where all that were asked had nothing to grade, the outcome is ``unparseable``.

The identity names the components, ``gate@1(math@1,steps@1)``, and the source hash covers theirs: a verdict is replayed
only where all that had a say are as they were.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import msgspec

from lydite.errors import InputError
from lydite.verifiers.build import CompiledChecker, build
from lydite.verifiers.composite_checks import AllOf, Gated, WeightedMean
from lydite.verifiers.fields import read_config
from lydite.verifiers.protocol import Check, Example

MAX_CHECKERS = 50
MAX_LEVELS = 4

_MATH = {"type": "math", "config": {"answer": "72"}}
_STEPS = {"type": "steps", "config": {}}
_FORMAT = {"type": "format", "config": {"required": ["work", "answer"]}}
_RIGHT = "She sold 48 / 2 = 24 in May, altogether 48 + 24 = 72.\n\\boxed{72}"
_LUCKY = "She sold 48 / 2 = 23 in May, altogether 48 + 23 = 72.\n\\boxed{72}"
_FALSE = "She sold 48 / 2 = 23 in May, altogether 48 + 23 = 70.\n\\boxed{70}"


_MODULES = ("lydite.verifiers.composites", "lydite.verifiers.composite_checks")


class _All(msgspec.Struct, forbid_unknown_fields=True):
    checkers: dict[str, dict[str, Any]]


class _Weighted(msgspec.Struct, forbid_unknown_fields=True):
    checkers: dict[str, dict[str, Any]]
    weights: dict[str, float] | None = None


class _Gate(msgspec.Struct, forbid_unknown_fields=True):
    checkers: dict[str, dict[str, Any]]
    gate: str
    weights: dict[str, float] | None = None


def _compiled(checkers: dict[str, dict[str, Any]], at_least: int) -> dict[str, CompiledChecker]:
    """The components.

    Raises:
        InputError: too few, too many or too deep; a name that is empty or has a dot in it; a component that is
            unusable: the field is ``checkers.NAME...``.
    """
    if not at_least <= len(checkers) <= MAX_CHECKERS:
        wanted = f"needs {at_least} checker{'s' * (at_least > 1)} or more, and at most {MAX_CHECKERS}"
        raise InputError(f"has {len(checkers)}, {wanted}", field="checkers", remedy="{name: {type, config}}")
    if _levels(checkers) > MAX_LEVELS:
        raise InputError(
            f"more than {MAX_LEVELS} composites within each other", field="checkers", remedy="join some of them"
        )
    compiled: dict[str, CompiledChecker] = {}
    for name, checker in sorted(checkers.items()):
        if not name.strip() or len(name) > 60 or any(char in name for char in ".:,()@\n") or not name.isprintable():
            raise InputError(
                f"{name[:60]!r} is no name", field="checkers", remedy="a short word; it names a part of the verdict"
            )
        try:
            compiled[name] = build(checker)
        except InputError as error:
            inner = (error.field or "").removeprefix("checker").lstrip(".")
            field = ".".join(part for part in ("checkers", name, inner) if part)
            raise InputError(error.message, field=field, remedy=error.remedy) from None
    return compiled


def _levels(checkers: dict[str, Any]) -> int:
    """Levels of composites, this one included; counted no further than one beyond ``MAX_LEVELS``."""
    levels, layer = 0, [checkers]
    while layer and levels <= MAX_LEVELS:
        levels += 1
        configs = [inner.get("config") for outer in layer for inner in outer.values() if isinstance(inner, dict)]
        found = [config.get("checkers") for config in configs if isinstance(config, dict)]
        layer = [inner for inner in found if isinstance(inner, dict)]
    return levels


def _weights(given: dict[str, float] | None, names: set[str]) -> dict[str, Fraction]:
    """A weight for each name, as given or all alike.

    Raises:
        InputError: a name without a weight, a weight without a name, or one that is not positive and finite.
    """
    if given is None:
        return dict.fromkeys(sorted(names), Fraction(1))
    for name, weight in given.items():
        if name not in names:
            raise InputError(
                f"{name[:60]!r} is not weighed", field="weights", remedy=f"weigh {', '.join(sorted(names))}"
            )
        if not (weight > 0 and math.isfinite(weight)):
            raise InputError(
                f"must be more than 0, not {weight:g}", field=f"weights.{name}", remedy="leave the checker out"
            )
    missing = sorted(names - set(given))
    if missing:
        raise InputError("is missing", field=f"weights.{missing[0]}", remedy="give every checker a weight, or none")
    return {name: Fraction(str(given[name])) for name in sorted(names)}


class AllOfVerifier:
    """The lowest score of several checkers."""

    name = "all_of"
    version = 1
    modules = _MODULES
    examples = (
        Example(
            config={"checkers": {"answer": _MATH, "work": _STEPS}},
            right=_RIGHT,
            wrong=_FALSE,
            hacks={"the answer alone": "\\boxed{72}", "a lucky answer": _LUCKY, "true steps to elsewhere": "1 + 1 = 2"},
        ),
    )

    def compile(self, config: dict[str, Any]) -> Check:
        """Compile the components.

        Raises:
            InputError: see the module; the field names the component.
        """
        settings = read_config(config, _All, self.name)
        return AllOf(self, _compiled(settings.checkers, 1))


class WeightedVerifier:
    """A rubric: the weighted mean of criteria that each show what they saw."""

    name = "weighted"
    version = 1
    modules = _MODULES
    examples = (
        Example(
            config={"checkers": {"answer": _MATH, "work": _STEPS}, "weights": {"answer": 3, "work": 1}},
            right=_RIGHT,
            wrong=_FALSE,
            hacks={"the answer alone": "\\boxed{72}", "a lucky answer": _LUCKY, "true steps to elsewhere": "1 + 1 = 2"},
        ),
    )

    def compile(self, config: dict[str, Any]) -> Check:
        """Compile the components, and check the weights.

        Raises:
            InputError: see the module; the field names the component or the weight.
        """
        settings = read_config(config, _Weighted, self.name)
        checkers = _compiled(settings.checkers, 1)
        return WeightedMean(self, checkers, _weights(settings.weights, set(checkers)))


class GateVerifier:
    """Nothing counts until the gate is 1."""

    name = "gate"
    version = 1
    modules = _MODULES
    examples = (
        Example(
            config={"checkers": {"answer": _MATH, "work": _STEPS}, "gate": "answer"},
            right=_RIGHT,
            wrong=_FALSE,
            hacks={"true steps to elsewhere": "1 + 1 = 2, so \\boxed{2}", "the answer alone": "\\boxed{72}"},
        ),
        Example(
            config={"checkers": {"answer": _MATH, "form": _FORMAT}, "gate": "answer"},
            right="<work>48 + 24</work><answer>72</answer>",
            wrong="<work>48 + 24</work><answer>71</answer>",
            hacks={"perfect form": "<work>x</work><answer>0</answer>", "no form": "72"},
        ),
    )

    def compile(self, config: dict[str, Any]) -> Check:
        """Compile the components, and find the gate among them.

        Raises:
            InputError: see the module; a gate that is none of the checkers, or has nothing behind it.
        """
        settings = read_config(config, _Gate, self.name)
        checkers = _compiled(settings.checkers, 2)
        if settings.gate not in checkers:
            raise InputError(
                f"{settings.gate[:60]!r} is none of the checkers",
                field="gate",
                remedy=f"one of {', '.join(sorted(checkers))}",
            )
        weights = _weights(settings.weights, set(checkers) - {settings.gate})
        return Gated(self, checkers, weights, settings.gate)

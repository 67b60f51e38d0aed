"""Where verifiers are found: the built-in ones by name, a package's through an entry point, a user's own by path.

A built-in name always means the built-in verifier: an installed package cannot change what ``math`` says.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any, cast

from lydite.errors import InputError
from lydite.userfile import attribute_of, import_failure, locate
from lydite.verifiers.own import FunctionVerifier
from lydite.verifiers.protocol import Verifier

BUILTIN = {
    "all_of": "lydite.verifiers.composites:AllOfVerifier",
    "choice": "lydite.verifiers.choice.verifier:ChoiceVerifier",
    "code": "lydite.verifiers.code.verifier:CodeVerifier",
    "exact": "lydite.verifiers.exact:ExactVerifier",
    "exit_code": "lydite.verifiers.workspace.exit_code:ExitCodeVerifier",
    "file_exists": "lydite.verifiers.workspace.file_exists:FileExistsVerifier",
    "format": "lydite.verifiers.format:FormatVerifier",
    "gate": "lydite.verifiers.composites:GateVerifier",
    "grader": "lydite.verifiers.grader.verifier:GraderVerifier",
    "json_schema": "lydite.verifiers.json_schema:JSONSchemaVerifier",
    "math": "lydite.verifiers.math.verifier:MathVerifier",
    "proof": "lydite.verifiers.proof.verifier:ProofVerifier",
    "pytest": "lydite.verifiers.workspace.suite.verifier:PytestVerifier",
    "regex": "lydite.verifiers.regex.verifier:RegexVerifier",
    "script": "lydite.verifiers.workspace.script:ScriptVerifier",
    "sql": "lydite.verifiers.sql.verifier:SqlVerifier",
    "steps": "lydite.verifiers.steps.verifier:StepsVerifier",
    "text_transform": "lydite.verifiers.text_transform.verifier:TextTransformVerifier",
    "weighted": "lydite.verifiers.composites:WeightedVerifier",
}
"""Name to ``module:class``; the module is imported when the verifier is first used."""

RECORDED = "imported"
"""Type of checkers that judge nothing: they stand for what a trainer recorded (``lydite.dumps``)."""
NOT_JUDGED = "these verdicts were not given by Lydite: a trainer recorded them"
JUDGE = "`lydite ledger rescore RUN --checker TASKS.jsonl` gives them verdicts of Lydite"

GROUP = "lydite.verifiers"
"""Entry-point group through which an installed package offers verifiers."""


def names() -> list[str]:
    """Names that can be used as a checker's ``type``, sorted: the built-in ones and those of installed packages."""
    return sorted({*BUILTIN, *(point.name for point in entry_points(group=GROUP))})


def find(name: str) -> Verifier:
    """The verifier called ``name``.

    Args:
        name: a built-in name, the name of an entry point in the group ``lydite.verifiers``, or ``path.py:name`` of a
            class (see ``Verifier``) or a function ``(submission, config) -> Verdict | float | bool``. A file that is
            named so is executed: name only files that you trust.

    Raises:
        InputError: there is none, it cannot be imported, or what was found is not a verifier.
    """
    return _find(name, locate(name))


@lru_cache(maxsize=256)
def _find(name: str, path: str) -> Verifier:
    # The path is part of the key: a relative one means another file in another folder.
    if name in BUILTIN:
        module, _, attribute = BUILTIN[name].partition(":")
        return _as_verifier(getattr(importlib.import_module(module), attribute), name)
    if path:
        return _as_verifier(attribute_of(path, name.rpartition(":")[2]), name)
    return _as_verifier(_installed(name), name)


def _installed(name: str) -> Any:
    """What an installed package offers under this name."""
    points = {point.value: point for point in entry_points(group=GROUP, name=name)}
    if not points:
        raise _unknown(name)
    if len(points) > 1:
        told = " and ".join(f"{point.dist.name if point.dist else '?'} ({value})" for value, point in points.items())
        raise InputError(
            f"{name!r} is offered by {told}", field="type", remedy="uninstall all but one: the order would decide"
        )
    (point,) = points.values()
    try:
        return point.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        package = point.dist.name if point.dist else "an installed package"
        raise import_failure(error, f"{name!r} of {package} ({point.value})") from error


def _unknown(name: str) -> InputError:
    if name == RECORDED:
        return InputError(NOT_JUDGED, field="type", remedy=JUDGE)
    known = names()
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    if name.endswith(".py"):
        hint = f"name what is in the file: {name[:80]}:NAME; "
    return InputError(
        f"no verifier is called {name[:80]!r}",
        field="type",
        remedy=f"{hint}known: {', '.join(known)}; or path.py:name",
    )


def _as_verifier(found: Any, name: str) -> Verifier:
    if inspect.isclass(found):
        try:
            found = found()
        except Exception as error:
            message = f"{name!r} cannot be made: {type(error).__name__}: {error}"
            raise InputError(message[:500], field="type", remedy="its class is called without arguments") from error
    if inspect.iscoroutinefunction(found):
        raise InputError(f"{name!r} is a coroutine function", field="type", remedy="a verifier is called, not awaited")
    if not callable(getattr(found, "compile", None)):
        if not callable(found) or not hasattr(found, "__name__"):
            raise InputError(
                f"{name!r} is not a verifier",
                field="type",
                remedy="it needs name, version and compile(config), or must be a function (submission, config)",
            )
        found = FunctionVerifier(found)
    if not isinstance(getattr(found, "name", None), str) or not found.name:
        raise InputError(f"{name!r} has no name", field="type", remedy="give it an attribute name, a text")
    if type(getattr(found, "version", None)) is not int:
        raise InputError(
            f"{name!r} has no version", field="type", remedy="give it an attribute version, a whole number"
        )
    return cast(Verifier, found)

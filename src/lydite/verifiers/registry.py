"""Where verifiers are found: the built-in ones by name, a package's through an entry point, a user's own by path.

A built-in name always means the built-in verifier: an installed package cannot change what ``math`` says.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from lydite.codec import sha256
from lydite.errors import InputError
from lydite.verdict import Verdict
from lydite.verifiers.protocol import Check, Submission, Verifier

BUILTIN = {
    "choice": "lydite.verifiers.choice:ChoiceVerifier",
    "code": "lydite.verifiers.code.verifier:CodeVerifier",
    "exact": "lydite.verifiers.exact:ExactVerifier",
    "json_schema": "lydite.verifiers.json_schema:JSONSchemaVerifier",
    "math": "lydite.verifiers.math.verifier:MathVerifier",
    "proof": "lydite.verifiers.proof.verifier:ProofVerifier",
}
"""Name to ``module:class``; the module is imported when the verifier is first used."""

GROUP = "lydite.verifiers"
"""Entry-point group through which an installed package offers verifiers."""


def names() -> list[str]:
    """Names that can be used as a checker's ``type``, sorted: the built-in ones and those of installed packages."""
    return sorted({*BUILTIN, *(point.name for point in entry_points(group=GROUP))})


@lru_cache(maxsize=256)
def find(name: str) -> Verifier:
    """The verifier called ``name``.

    Args:
        name: a built-in name, the name of an entry point in the group ``lydite.verifiers``, or ``path.py:name`` of a
            class (see ``Verifier``) or a function ``(submission, config) -> Verdict | float | bool``. A file that is
            named so is executed: name only files that you trust.

    Raises:
        InputError: there is none, or what was found is not a verifier.
    """
    if name in BUILTIN:
        return _load(BUILTIN[name], name)
    path, colon, attribute = name.rpartition(":")
    if colon and path.endswith(".py"):
        return _as_verifier(_attribute(_module_of(Path(path)), attribute, name), name)
    for point in entry_points(group=GROUP, name=name):
        return _load(point.value, name)
    raise _unknown(name)


def _unknown(name: str) -> InputError:
    known = names()
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return InputError(
        f"no verifier is called {name[:80]!r}",
        field="type",
        remedy=f"{hint}known: {', '.join(known)}; or path.py:name",
    )


def _load(target: str, name: str) -> Verifier:
    module, _, attribute = target.partition(":")
    return _as_verifier(_attribute(importlib.import_module(module), attribute, name), name)


def _attribute(module: ModuleType, attribute: str, name: str) -> Any:
    try:
        return getattr(module, attribute)
    except AttributeError:
        raise InputError(f"{name!r}: {module.__name__} has no {attribute!r}", field="type") from None


def _module_of(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError(
            "no such file", path=path, field="type", remedy="give the path of a Python file before the colon"
        )
    resolved = path.resolve()
    key = f"_lydite_user_{sha256(str(resolved).encode())[:16]}"
    if key in sys.modules:
        return sys.modules[key]
    spec = importlib.util.spec_from_file_location(key, resolved)
    if spec is None or spec.loader is None:
        raise InputError("not a Python file", path=path, field="type")
    module = importlib.util.module_from_spec(spec)
    sys.modules[key] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[key]
        raise InputError(f"cannot be imported: {type(error).__name__}: {error}", path=path, field="type") from error
    return module


def _as_verifier(found: Any, name: str) -> Verifier:
    if inspect.isclass(found):
        found = found()
    if hasattr(found, "compile") and isinstance(getattr(found, "name", None), str) and hasattr(found, "version"):
        return cast(Verifier, found)
    if inspect.isfunction(found):
        return FunctionVerifier(found)
    raise InputError(
        f"{name!r} is not a verifier",
        field="type",
        remedy="it needs name, version and compile(config), or must be a function (submission, config)",
    )


class FunctionVerifier:
    """A verifier made of one function ``(submission, config) -> Verdict | float | bool``.

    A number in [0, 1] or a truth value becomes the score. Attributes of the function are optional: ``version`` (default
    1); ``examples``, for the contract suite; ``fields``, the names that its configuration may hold.
    """

    def __init__(self, function: Callable[[Submission, dict[str, Any]], Any]) -> None:
        self.function = function
        self.name: str = function.__name__
        self.version: int = getattr(function, "version", 1)
        self.modules = (function.__module__,)
        self.examples = getattr(function, "examples", ())
        fields = getattr(function, "fields", None)
        self.fields: tuple[str, ...] | None = None if fields is None else tuple(fields)

    def compile(self, config: dict[str, Any]) -> Check:
        """A check that calls the function with this configuration.

        Raises:
            InputError: a field that the function does not name, where it names its fields.
        """
        for field in config:
            if self.fields is not None and field not in self.fields:
                raise InputError("unknown field", field=field, remedy=f"{self.name} knows {', '.join(self.fields)}")
        identity = f"{self.name}@{self.version}"

        def check(submission: Submission) -> Verdict:
            said = self.function(submission, config)
            if isinstance(said, Verdict):
                return said
            score = float(said)
            if not 0 <= score <= 1:
                raise ValueError(f"score {score} is outside [0, 1]")
            return Verdict.of(score, "correct" if score == 1 else "partial" if score else "incorrect", identity)

        return check

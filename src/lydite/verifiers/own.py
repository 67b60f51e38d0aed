"""Verifiers of a user's own: one function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lydite.errors import InputError
from lydite.verdict import Verdict
from lydite.verifiers.protocol import Check, Submission


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

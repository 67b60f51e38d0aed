"""A verifier under test, within the process that tries it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any

from lydite.errors import InputError
from lydite.verdict import Verdict
from lydite.verifiers.archive import state_of
from lydite.verifiers.build import CompiledChecker, build
from lydite.verifiers.contract.texts import completions
from lydite.verifiers.describe import own_examples
from lydite.verifiers.protocol import Example, Submission, Verifier
from lydite.verifiers.registry import find

SLOW = 2.0
"""Seconds for one verdict on each completion, above which a few of them stand for all."""


class Session:
    """A verifier and its examples. Every verdict that is asked for is announced first, so that whoever waits for this
    process knows what it hangs at.

    Args:
        name: what ``find`` knows it by.
        examples: how it is used; where there are none, the verifier's own.
        announce: called with the label of what is tried next.

    ``before`` is what the process was like before the verifier was imported, where that is known.

    Raises:
        InputError: no such verifier, no examples, or a configuration that it refuses.
        UnavailableError: what it needs is not on this machine.
    """

    def __init__(
        self, name: str, examples: tuple[Example, ...] = (), announce: Callable[[str], None] = lambda label: None
    ) -> None:
        self.name = name
        self.before: dict[str, Any] = {}
        self.verifier: Verifier = find(name)
        self.examples = examples or own_examples(self.verifier)
        if not self.examples:
            raise InputError(
                f"{name!r} brings no examples",
                field="examples",
                remedy="give it an attribute examples, or use --config, --right and --wrong",
            )
        self._announce = announce
        self._lock = threading.Lock()
        for example in self.examples:
            self.compiled(example)

    @property
    def example(self) -> Example:
        """The first example."""
        return self.examples[0]

    def checker(self, example: Example) -> dict[str, Any]:
        return {"type": self.name, "config": example.config}

    def compiled(self, example: Example) -> CompiledChecker:
        return build(self.checker(example))

    def announce(self, label: str) -> None:
        with self._lock:
            self._announce(label)

    def judge(self, text: str, label: str, example: Example | None = None, prompt: str | None = None) -> Verdict:
        """The verdict on a text, under the first example where none is given."""
        example = example or self.example
        self.announce(label)
        return self.compiled(example)(submission(text, prompt or example.prompt, example.files))

    @cached_property
    def texts(self) -> dict[str, str]:
        """The completions that the first example is tried with."""
        return distinct(completions(self.example), self.example)

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdicts on them, each asked for once."""
        started = time.monotonic()
        verdicts = {label: self.judge(text, label) for label, text in self.texts.items()}
        self._seconds = time.monotonic() - started
        return verdicts

    @property
    def quick(self) -> bool:
        """Whether a verdict costs little: no process of others is started for it."""
        return bool(self.verdicts) and self._seconds < SLOW

    @cached_property
    def again(self) -> dict[str, Verdict]:
        """The verdicts that are asked for many times over: all, or where they are slow (a prover, a compiler), those on
        texts that come close to being right."""
        verdicts = self.verdicts
        if self.quick:
            return verdicts
        close = ("right", "wrong", "hack", "echo", "empty", "lone", "twice", "NUL within", "surrogate within")
        return {label: verdict for label, verdict in verdicts.items() if label.startswith(close)}


def distinct(texts: dict[str, str], example: Example) -> dict[str, str]:
    """The texts, of those that describe one and the same state the first alone: nothing else of them is looked at."""
    if example.files is None:
        return texts
    found: dict[str, str] = {}
    for label, text in texts.items():
        found.setdefault(state_of(text, example.files).digest, label)
    return {label: texts[label] for label in found.values()}


def submission(text: str, prompt: str | None, files: dict[str, str] | None) -> Submission:
    """What is judged: a text, and under an example with files the state that it describes."""
    state = None if files is None else state_of(text, files)
    return Submission(text=text, prompt=prompt, state=state)


def told(verdict: Verdict) -> str:
    """A verdict in a few words."""
    score = "" if verdict.score is None else f", score {verdict.score:g}"
    detail = f": {verdict.detail[:300]}" if verdict.detail else ""
    return f"{verdict.outcome} ({verdict.reason}{score}){detail}"

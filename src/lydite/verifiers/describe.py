"""What a verifier is, for people: what it judges, what it takes, how it is used and attacked."""

from __future__ import annotations

import inspect
import re
import sys
from typing import Any

import msgspec

from lydite.errors import InputError, UnavailableError
from lydite.verifiers.build import build, source_hash
from lydite.verifiers.own import FunctionVerifier
from lydite.verifiers.protocol import Example, Verifier
from lydite.verifiers.registry import find

_LEAD = re.compile(r"``[\w.]+``\s*:\s*")
_KNOWS = re.compile(r"knows? (?P<fields>\w+(?:(?:, and |, | and )\w+)*)")


class Description(msgspec.Struct, frozen=True):
    """A verifier, described.

    Attributes:
        name: what a checker's ``type`` calls it.
        version: ``None`` where it cannot be imported.
        judges: one line.
        about: the rest of its documentation.
        fields: names of its configuration's fields; empty where it does not tell.
        source: hex SHA-256 of its source files.
        examples: as ``protocol.Example`` says, the cheapest hack first.
        why_not: why it cannot be used here; empty where it can.
    """

    name: str
    version: int | None = None
    judges: str = ""
    about: str = ""
    fields: tuple[str, ...] = ()
    source: str = ""
    examples: tuple[Example, ...] = ()
    why_not: str = ""

    @property
    def available(self) -> bool:
        return not self.why_not


def describe(name: str) -> Description:
    """The description of a verifier. A missing tool, or a package that is broken, is part of it and does not raise.

    Raises:
        InputError: the file of a user's own verifier is unusable.
    """
    try:
        verifier = find(name)
    except InputError as error:
        if name.partition(":")[0].endswith(".py"):
            raise
        return Description(name, why_not=str(error))
    judges, about = _documentation(verifier)
    examples = own_examples(verifier)
    return Description(
        name=name,
        version=verifier.version,
        judges=judges,
        about=about,
        fields=_fields(verifier, examples),
        source=source_hash(verifier),
        examples=examples,
        why_not=_why_not(name, examples),
    )


def own_examples(verifier: Any) -> tuple[Example, ...]:
    """Examples that a verifier brings along.

    Raises:
        InputError: they are no examples.
    """
    given = getattr(verifier, "examples", ())
    if isinstance(given, Example):
        given = (given,)
    if not isinstance(given, tuple | list) or not all(isinstance(example, Example) for example in given):
        remedy = "give examples = (Example(config=…, right=…, wrong=…),)"
        raise InputError("expected a tuple of lydite.verifiers.Example", field="examples", remedy=remedy)
    return tuple(given)


def _documentation(verifier: Verifier) -> tuple[str, str]:
    """The first line and the rest: of the module where that speaks of the verifier by name, else of the class or
    function."""
    subject: Any = verifier.function if isinstance(verifier, FunctionVerifier) else type(verifier)
    module = inspect.getdoc(sys.modules[subject.__module__]) or ""
    own = inspect.getdoc(subject) or ""
    text = module if module.startswith(f"``{verifier.name}``") or not own else own
    first, _, rest = _LEAD.sub("", text, count=1).partition("\n\n")
    return " ".join(first.split()), rest.strip()


def _fields(verifier: Verifier, examples: tuple[Example, ...]) -> tuple[str, ...]:
    """What it says that it knows, when it is given a field that it does not."""
    try:
        verifier.compile({**(examples[0].config if examples else {}), "no_such_field": 1})
    except InputError as error:
        known = _KNOWS.search(error.remedy or "")
        if known:
            return tuple(re.findall(r"(?!and\b)\w+", known["fields"]))
    except Exception:  # it has a fault, which the contract suite tells
        return ()
    return ()


def _why_not(name: str, examples: tuple[Example, ...]) -> str:
    try:
        for example in examples[:1]:
            build({"type": name, "config": example.config})
    except (UnavailableError, InputError) as error:
        return str(error)
    return ""

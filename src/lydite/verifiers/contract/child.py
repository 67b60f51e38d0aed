"""The process in which checks run: what a verifier prints, breaks or hangs at stays there.

A request on standard input (JSON of ``Request``), one word per line (JSON of ``Word``) on a private copy of standard
output; standard output itself goes to a file, for the check that looks whether anything was printed.
"""

from __future__ import annotations

import os
import sys
import tempfile

import msgspec

from lydite.errors import InputError, UnavailableError
from lydite.verifiers.contract.checks import CHECKS
from lydite.verifiers.contract.finding import Finding, finding
from lydite.verifiers.contract.process import snapshot
from lydite.verifiers.contract.session import Session
from lydite.verifiers.protocol import Example


class Request(msgspec.Struct, frozen=True):
    """What is tried: a verifier by name, its examples (none: its own), the names of the checks."""

    name: str
    examples: tuple[Example, ...]
    checks: tuple[str, ...]


class At(msgspec.Struct, frozen=True, tag=True):
    """What is tried next."""

    subject: str


class Found(msgspec.Struct, frozen=True, tag=True):
    """What came out."""

    finding: Finding


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The verifier is imported and its examples are compiled."""


class Done(msgspec.Struct, frozen=True, tag=True):
    """A check has ended."""

    check: str


class Refused(msgspec.Struct, frozen=True, tag=True):
    """Nothing can be tried."""

    message: str
    unavailable: bool


Word = At | Ready | Found | Done | Refused


def main() -> None:
    """Run the checks of a request."""
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)
    words = os.fdopen(os.dup(1), "wb", buffering=0)
    with tempfile.TemporaryFile() as printed:
        os.dup2(printed.fileno(), 1)
    owner = os.getpid()

    def say(word: Word) -> None:
        if os.getpid() == owner:  # a forked process has no say
            words.write(msgspec.json.encode(word) + b"\n")

    say(At("importing it and compiling its examples"))
    before = snapshot()
    try:
        session = Session(request.name, request.examples, lambda label: say(At(label)))
    except (InputError, UnavailableError) as error:
        say(Refused(str(error), isinstance(error, UnavailableError)))
        return
    session.before = before
    say(Ready())
    for name in request.checks:
        try:
            for subject, evidence in CHECKS[name].run(session):
                say(Found(finding(name, subject, evidence)))
        except BaseException as error:
            say(Found(finding(name, "", f"{type(error).__name__}: {error}"[:500])))
        say(Done(name))

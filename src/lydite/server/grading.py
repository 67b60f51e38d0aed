"""Graders of strangers, read and run apart from the service; see ``apart``."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from lydite.errors import InputError
from lydite.verifiers.build import build
from lydite.verifiers.chunks import Clock
from lydite.verifiers.grader.document import check_document
from lydite.verifiers.protocol import Submission


class _Asked(msgspec.Struct):
    config: dict[str, Any]
    sample: str


def run(data: bytes, clock: Clock) -> bytes:
    """The verdict of a grader on a sample, and the seconds that it took.

    Raises:
        InputError: the grader, or its item, cannot be used.
    """
    asked = msgspec.json.decode(data, type=_Asked)
    check = build({"type": "grader", "config": asked.config})
    clock.start(check.id)
    began = time.perf_counter()
    verdict = check(Submission(text=asked.sample))
    return msgspec.json.encode((verdict, time.perf_counter() - began))


def look(data: bytes, clock: Clock) -> bytes:
    """Nothing, where a grader can be used.

    Raises:
        InputError: it cannot.
    """
    try:
        check_document(msgspec.json.decode(data))
    except RecursionError:
        raise InputError("is nested too deeply") from None
    return b""

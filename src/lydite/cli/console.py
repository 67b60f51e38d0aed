"""Where words for people go: standard error, so that standard output stays clean data."""

from __future__ import annotations

import shutil
import sys
from typing import Any

from rich.console import Console

from lydite.codec import canonical
from lydite.errors import InputError

err = Console(stderr=True, highlight=False, soft_wrap=True)


def program() -> str:
    """How this command was called, for messages that name the next one: ``lydite`` where that is on the path."""
    return "lydite" if shutil.which("lydite") or not sys.argv[0].endswith("lydite") else sys.argv[0]


def print_json(value: Any) -> None:
    """One JSON document on standard output.

    Raises:
        InputError: that is closed: nobody would get it.
    """
    if sys.__stdout__ is None:
        raise InputError("standard output is closed", remedy="the answer goes there: leave it open, or --json out")
    sys.stdout.write(canonical(value).decode() + "\n")
    sys.stdout.flush()

"""What runs in the process of a checker: the author's ``check(args, kwargs, output)``, on what the candidate returned.

Covered: the candidate never shares a process with it; what it returned arrives as plain values. Not covered: a
checker's source is its author's, and is trusted to check something.

Records on the channel: ``R`` what it said, ``E`` (exception type, message); before any of these ``G``: it was loaded,
so that what follows depends on the output. Standard library only.
"""

from __future__ import annotations

import marshal
import os
import random
import sys
import types
from typing import NoReturn

from .candidate import MESSAGE, received, send
from .values import decode, encode


def run_checker() -> NoReturn:
    """Run one check, as the standard input has it."""
    channel = os.dup(1)
    os.dup2(2, 1)
    code, arguments, output = decode(received())
    module = types.ModuleType("checker")
    sys.modules["checker"] = module
    random.seed(0)
    try:
        exec(marshal.loads(code), module.__dict__)  # noqa: S102, S302  (the author's, compiled by the grader)
        check = module.__dict__["check"]
    except BaseException as error:
        send(channel, b"E" + encode((type(error).__name__, _message(error))))
        os._exit(0)
    send(channel, b"G")
    try:
        said = check(*decode(arguments), decode(output))
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(said, numpy.generic):
            said = said.item()
        if type(said) not in (bool, int, float) or not 0 <= said <= 1:
            raise ValueError("the checker gave neither True, False nor a number from 0 to 1")
        record = b"R" + encode(float(said))
    except BaseException as error:
        record = b"E" + encode((type(error).__name__, _message(error)))
    send(channel, record)
    os._exit(0)


def _message(error: BaseException) -> str:
    try:
        return str(error)[:MESSAGE]
    except Exception:
        return ""

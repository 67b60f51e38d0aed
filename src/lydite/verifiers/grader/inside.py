"""The program of a ``python`` grader's process: the author's ``grade(sample, item)``, on one sample.

It reads JSON ``[source, sample, item]`` from standard input and writes ``L`` when the source was loaded, then JSON
``{"score": text}`` or ``{"error": [type, message]}``. What the grader itself prints goes to standard error. Standard
library only.
"""

import json
import os
import random
import sys
import types
from typing import Any, NoReturn


def main() -> None:
    channel = os.dup(1)
    os.dup2(2, 1)
    source, sample, item = json.loads(sys.stdin.buffer.read())
    module = types.ModuleType("grader")
    sys.modules["grader"] = module
    random.seed(0)
    try:
        exec(compile(source, "<grader>", "exec", dont_inherit=True), module.__dict__)  # noqa: S102  (the author's)
        grade = module.__dict__["grade"]
    except BaseException as error:
        _say(channel, _failure(error))
    os.write(channel, b"L")
    try:
        score = grade(sample, item)
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(score, numpy.generic):
            score = score.item()
        if type(score) not in (bool, int, float):
            raise TypeError(f"grade returned {type(score).__name__}, no number")
        found: Any = {"score": repr(float(score))}
    except BaseException as error:
        found = _failure(error)
    _say(channel, found)


def _failure(error: BaseException) -> dict[str, list[str]]:
    try:
        message = str(error)[:300]
    except Exception:
        message = ""
    return {"error": [type(error).__name__, message]}


def _say(channel: int, found: object) -> NoReturn:
    os.write(channel, json.dumps(found).encode())
    os._exit(0)


if __name__ == "__main__":
    main()

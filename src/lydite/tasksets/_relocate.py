"""Absolute paths of a Harbor task's container, in texts, as the paths that stand for them here.

This module is carried, as source, by the scripts that run inside a sandbox: it imports the standard library alone.
"""

import re
from collections.abc import Callable, Mapping

# Not after what makes the path part of another one: a name, a URL, a variable, "$DIR"/tests.
_BEFORE = r"""(?<![\w./$})~:-])(?<![A-Z0-9_}]["'])"""
# Not where its last name goes on: /app-2, /app.py.
_AFTER = r"(?![\w-]|\.\w)"


def relocated(text: str, names: Mapping[str, str | Callable[[bool], str]]) -> str:
    """The text with each absolute path below one of ``names`` moved.

    Args:
        text: a script, a file of tests, an instruction.
        names: absolute path of a folder to the path that stands for it, or to a function that is told whether a name
            follows. The longest one that fits counts.
    """
    if not names:
        return text
    several = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    pattern = re.compile(rf"{_BEFORE}({several}){_AFTER}(/?)(?=([\w.*\[<{{$%-])?)")

    def moved(found: re.Match[str]) -> str:
        to = names[found[1]]
        return to(bool(found[2] and found[3])) if callable(to) else to + found[2]

    return pattern.sub(moved, text)

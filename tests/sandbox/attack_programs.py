"""The attack programs: read from their files, with what their headers say about how to run them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "attacks"


class Attack(NamedTuple):
    """One program, and what its header says about how to run it."""

    name: str
    dimension: str
    text: str
    lasting: bool = False
    alone: bool = False
    again: bool = False
    beside: bool = False
    variants: tuple[str, ...] = ("",)
    header: str = ""

    def source(self, fill: Callable[[str], str], variant: str) -> str:
        """What the sandbox gets to run."""
        text = fill(self.text.replace("@VARIANT@", variant))
        text = text.replace("@PADDING@", "a" * 300_000).replace("@LINES@", '"""\n' + "x = 1\n" * 500_000 + 'y = """')
        if "@ODD@" in text:
            text = text.replace(
                "@ODD@", {"zero": "a\0b", "surrogate": "\ud800\udfff", "form_feed": "\f\x1a\x1b"}.get(variant, "")
            )
            text = {"mark": "\ufeff", "encoding": "# -*- coding: no-such-encoding -*-\n"}.get(variant, "") + text
        return text


def read(path: Path) -> Attack:
    """An attack of our own: its docstring says what it tries; lines of it that start so say how to run it."""
    text = path.read_text()
    tree = ast.parse(text)
    header = ast.get_docstring(tree) or ""
    said = re.search(r"^Variants: ((?:.+\n?)+)", header, re.MULTILINE)
    kit = (FOLDER / "kit.py").read_text().partition('"""\n')[2]
    lines = text.splitlines(keepends=True)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "kit":
            lines[node.lineno - 1 : node.end_lineno] = [kit]
            break
    return Attack(
        name=f"{path.parent.name}/{path.stem}",
        dimension=path.parent.name.replace("_", " "),
        text="".join(lines),
        lasting="\nLasts:" in header,
        alone="\nLasts: alone" in header,
        again="\nAgain:" in header,
        beside="\nBeside:" in header,
        variants=tuple(said[1].split()) if said else ("",),
        header=header.partition("\n")[0],
    )


def attacks() -> list[Attack]:
    """All attacks of our own, by name."""
    return [read(path) for path in sorted(FOLDER.glob("*/*.py"))]


def foreign(folder: Path) -> list[Attack]:
    """Programs without our headers, whose names are all we know: run to their end, twice, with a neighbour."""
    return [Attack(path.stem, "unknown", path.read_text(), again=True) for path in sorted(folder.glob("*.py"))]

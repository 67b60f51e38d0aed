"""The program in a completion: which text is run, by rule. Nothing here parses or runs it.

The rule: thinking before ``</think>`` is left out. Of the complete fenced blocks, the last one that defines the entry
point; else the last one of the best label. Labelled as Python is better than not at all (which output often is), and
that better than any other. Without a complete block, what follows an opening fence that is never closed; else the whole
text. All take time linear in the text.
"""

from __future__ import annotations

import re
import sys

from lydite.verifiers.fences import Block, fenced_blocks
from lydite.verifiers.text import after_thinking

_PYTHON = {"", "python", "python3", "py", "py3", "{.python}", "{python}"}
_CODE_LINE = re.compile(
    r"^[ \t]*(?:def |class |import |from \w|@|for |while |if |print\(|return\b|\w+ ?=|\w+\()", re.MULTILINE
)

_DEFINITION = re.compile(
    r"^[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)|^(\w+)[ \t]*[:=]|^(from|import)\b(.*)", re.MULTILINE
)
_WORD = re.compile(r"\w+")


def blocks(text: str) -> list[Block]:
    """The fenced blocks, in order, each ending in one line end, as a program does."""
    return [
        block._replace(text=(block.text if block.closed else block.text.rstrip("\n")) + "\n")
        for block in fenced_blocks(text, None)
    ]


def defines(text: str, entry: str) -> bool:
    """Whether a text seems to define a name: as a function or method, a class, a variable, or an import from the
    standard library. An import from anywhere else (``from solution import add``) only says that it is defined there."""
    name = entry.rpartition(".")[2]
    if name not in text:
        return False
    return any(
        name == (match[1] or match[2]) or (bool(match[3]) and _imports(match[3], match[4], name))
        for match in _DEFINITION.finditer(text)
    )


def _imports(keyword: str, rest: str, name: str) -> bool:
    """Whether ``from`` or ``import``, and what follows in the line, name something of the standard library so."""
    parts = [rest] if keyword == "from" else rest.split(",")
    for part in parts:
        words = _WORD.findall(part)
        if name in words and words[0] in sys.stdlib_module_names and not part.lstrip().startswith("."):
            return True
    return False


def find_source(text: str, entry: str | None, prompt: str | None = None) -> str | None:
    """The program text to run, or ``None`` where there is no code. ``prompt``: the source that a completion may go on
    from (HumanEval's form, see :func:`prompt_code`): an indented completion that does not define the entry point is put
    behind it."""
    if "</think>" in text or text.lstrip().startswith("<think>"):
        rest = after_thinking(text)
        if rest is None:
            return None
        text = rest
    if not text.strip():
        return None
    found = blocks(text)
    complete = [block for block in found if block.closed]
    if complete:
        source = _pick(complete, entry)
    elif found:
        source = found[-1].text
    else:
        source = text
    if not source.strip():
        return None
    if entry is None:
        return source if found or _CODE_LINE.search(source) else None
    if defines(source, entry):
        return source
    first = source.lstrip("\n")
    if prompt and first[:1] in (" ", "\t") and defines(prompt, entry):
        return prompt.rstrip(" \t") + source
    return source if found else None


def prompt_code(prompt: str | None, entry: str | None) -> str:
    """The Python in a prompt, from which helper functions and imports are taken: its complete fenced blocks that are
    labelled as Python or not at all; without any, the whole prompt where it defines the entry point; else nothing."""
    if prompt is None or entry is None:
        return ""
    found = [block.text for block in blocks(prompt) if block.closed and block.label in _PYTHON]
    if found:
        return "\n".join(found)
    return prompt if defines(prompt, entry) else ""


def _pick(complete: list[Block], entry: str | None) -> str:
    best = sorted(complete, key=lambda block: 2 if block.label in _PYTHON - {""} else block.label == "")  # stable
    if entry is not None:
        for block in reversed(best):
            if defines(block.text, entry):
                return block.text
    return best[-1].text

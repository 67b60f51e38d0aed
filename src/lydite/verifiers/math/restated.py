"""Whether an answer of the right value only repeats the question, or leaves the arithmetic undone."""

from __future__ import annotations

import re

from lydite.verifiers.math.answer import SCALARS, Answer
from lydite.verifiers.math.measures import measured
from lydite.verifiers.math.nodes import Node, contains, num, symbols
from lydite.verifiers.protocol import Submission

_SIMPLIFY = re.compile(r"\b[Ss]implify(?: the fraction)?[:\s$]{1,4}")
_CUE_WORDS = (
    "find", "what is", "what's", "evaluate", "compute", "calculate", "solve", "simplify", "asked", "determine",
    "expand", "factor", "value of", "question", "problem", "express",
)  # fmt: skip
_GONE = re.compile(r"[\s$]+|\\(?:left|right|displaystyle|,|;|!)(?![A-Za-z])|\\[()\[\]]")


def is_restated(answer: Answer, gold: Answer, submission: Submission) -> bool:
    """Whether an answer of the right value only repeats the question, or leaves the arithmetic undone."""
    node = answer.node
    if answer.kind == "mod" and answer.label == "rem" and gold.kind in SCALARS and answer.node != gold.node:
        return True  # 12 mod 7 for 5
    if "implify" in submission.text[:1500] and answer.raw != gold.raw and _reduces(submission.text[:1500], answer.raw):
        return True
    if node is None and answer.kind == "relation" and answer.raw != gold.raw:
        return _is_asked(answer, submission)
    if node is None or answer.raw == gold.raw or node == gold.node or node.op in ("num", "sym", "const", "base"):
        return False
    if (
        gold.node is not None
        and gold.node.op == "num"
        and gold.kind in SCALARS
        and not contains(node, "const")
        and not symbols(node)
        and _undone(node)
    ):
        return True
    constant = gold.kind in SCALARS and gold.node is not None and not symbols(gold.node)
    if constant and answer.kind in SCALARS and symbols(node) and measured(answer) is answer:
        return True  # x/x for 1
    if answer.kind not in SCALARS:
        return False
    if node.op == "div" and all(part.op in ("num", "sym", "const") for part in node.args):
        return False
    return _is_asked(answer, submission)


def _is_asked(answer: Answer, submission: Submission) -> bool:
    """Whether an answer stands in the prompt, or where the text says what is asked."""
    raw = _GONE.sub("", answer.raw)
    if len(raw) < 2:
        return False
    if submission.prompt is not None and raw in _GONE.sub("", submission.prompt):
        return True
    text = submission.text
    return any(_asked(part, raw) for part in ((text,) if len(text) < 2000 else (text[:1500], text[-500:])))


def _first_cue(text: str) -> int:
    """Where the first of the words stands that ask for something; -1 where none does."""
    plain = (text if text.isascii() else text.replace("İ", "I")).lower()  # İ has two characters in lower case
    first = end = len(plain)
    for word in _CUE_WORDS:
        place = plain.find(word, 0, min(end, first + len(word)))
        while 0 <= place < first:
            after = place + len(word)
            if not (place and _in_word(plain[place - 1])) and not (after < end and _in_word(plain[after])):
                first = place
                break
            place = plain.find(word, place + 1, min(end, first + len(word)))
    return first if first < end else -1


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _asked(text: str, raw: str) -> bool:
    """Whether a text asks for the expression: it stands within 400 characters behind a word such as "find"."""
    cue = _first_cue(text)
    if cue < 0:
        return False
    head = text[cue : cue + 400]
    box = head.find("\\boxed")
    # An index and what follows it are parted by a mark in one and by a space in the other: \log_2 8.
    return raw.replace("_", "") in _GONE.sub("", head[:box] if box >= 0 else head).replace("_", "")


def _reduces(text: str, raw: str) -> bool:
    """Whether a fraction is what the text asks to simplify."""
    asked = _SIMPLIFY.search(text)
    return asked is not None and len(raw) > 1 and _GONE.sub("", text[asked.end() :]).startswith(_GONE.sub("", raw))


def is_echoed(said: str, submission: Submission) -> bool:
    """Whether the words around an answer without a box are the prompt's own."""
    if submission.prompt is None:
        return False
    lines = [line for line in submission.text.splitlines() if said in line]
    return bool(lines) and len(lines[-1]) > len(said) + 20 and lines[-1].strip() in submission.prompt


def _undone(node: Node) -> bool:
    """Sums, products and quotients of numbers that wait to be worked out; 3 x 10^5, 2^10, 3/4 and 5! are numbers."""
    if node.op in ("add", "sum", "prod"):
        return True
    if node.op == "neg":
        return _undone(node.args[0])
    if node.op == "div":
        return not all(
            part.op in ("num", "fact") or (part.op in ("neg", "div") and not _undone(part)) for part in node.args
        )
    if node.op == "mul":
        left, right = node.args
        scientific = right.op == "pow" and right.args[0] == num(10) and left.op in ("num", "neg")
        return not scientific
    return False

"""The options of a question, and which of them are right."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from lydite.errors import InputError

MAX_ANSWER = 1000
"""Characters of an answer that are looked at."""

_TEX = re.compile(
    r"\\(?:text|textbf|textit|mathrm|mathbf|mathit|mathsf|textrm|operatorname|bf|rm|left|right"
    r"|displaystyle)\b\s?|\\[,;:! ()\[\]]|[${}*_`]|(?<=\w)~|~(?!~?[(\[]?[A-Za-z])"
)
_OUTER = " .,;:!\"'“”‘’«»"
_PADDED = re.compile(r"(?<=[(\[]) | (?=[)\]])")
_ONLY_LETTERS = re.compile(r"[(\[]?+[A-Z][)\]]?+(?:(?: ?+[,&+] ?+| and | )?+[(\[]?+[A-Z][)\]]?+){0,25}+\.?")


class Options(NamedTuple):
    """What there is to choose from.

    Attributes:
        texts: letter to text, as ``fold`` makes it; empty where the options are not known.
        right: the right letters, or the one right text where no letters are known.
    """

    texts: dict[str, str]
    right: frozenset[str]


def plain(text: str) -> str:
    """A text without dressing (TeX, emphasis, outer quotes and punctuation), in NFKC, white space collapsed."""
    text = unicodedata.normalize("NFKC", text[: 4 * MAX_ANSWER])
    text = " ".join(_TEX.sub("", text).split()).rstrip(_OUTER).lstrip(_OUTER.replace("!", ""))  # "!=B" denies
    for opened, closed in ("()", "[]"):  # half of a pair
        text = text.removeprefix(opened) if closed not in text else text
        text = text.removesuffix(closed) if opened not in text and len(text) > 2 else text
    return text


def fold(text: str) -> str:
    """As ``plain``, without a difference of case."""
    return plain(text).casefold()


def only_letters(text: str) -> frozenset[str]:
    """Letters of a plain answer that consists of nothing else: ``C``, ``(C)``, ``AC``, ``A, C and D``."""
    text = text.upper() if len(text) == 1 else text
    if not _ONLY_LETTERS.fullmatch(_PADDED.sub("", text)) or (len(text) > 5 and text.isalpha()):
        return frozenset()
    return frozenset(char for char in text if char.isupper())


def options(answer: str | int | float | list[str], choices: list[str | int | float] | dict[str, str] | None) -> Options:
    """The options of a configuration.

    Raises:
        InputError: unusable choices, or an answer that is not among them.
    """
    texts = _texts(choices)
    if isinstance(answer, list) and not answer:
        raise InputError("is empty", field="answer", remedy="give the right choice")
    given = answer if isinstance(answer, list) else [answer]
    return Options(texts, frozenset().union(*(_right(str(item), texts) for item in given)))


def _texts(given: list[str | int | float] | dict[str, str] | None) -> dict[str, str]:
    if given is None:
        return {}
    if isinstance(given, list):
        if not 0 < len(given) <= 26:
            raise InputError("expected 1 to 26 texts", field="choices", remedy="a list of texts, or {letter: text}")
        given = {chr(65 + index): str(text) for index, text in enumerate(given)}
    if not given or not all(len(letter) == 1 and letter.isascii() and letter.isalpha() for letter in given):
        raise InputError("expected {letter: text}", field="choices", remedy="letters from A to Z, or a list of texts")
    folded = {letter.upper(): fold(text) for letter, text in given.items()}
    if len(set(folded.values())) < len(folded) or "" in folded.values() or len(folded) < len(given):
        raise InputError("two choices are the same, or one is empty", field="choices", remedy="tell them apart")
    return folded


def _right(given: str, texts: dict[str, str]) -> frozenset[str]:
    said = plain(given)
    if not said:
        raise InputError("is empty", field="answer", remedy="give the right choice")
    for letter, text in texts.items():
        if text == said.casefold():
            return frozenset({letter})
    letters = only_letters(said)
    if letters and (not texts or letters <= set(texts)):
        return letters
    if texts:
        remedy = f"choices: {', '.join(texts)}"
        raise InputError(f"{said[:60]!r} is not among the choices", field="answer", remedy=remedy)
    return frozenset({said.casefold()})

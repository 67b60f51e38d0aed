"""Words, n-grams, and an exact inverted index of them.

Sizes: tokens per task T, tasks N. Memory is one entry per n-gram of the indexed side, O(N·T). A query costs at most
``common`` counts per n-gram, O(T·common): n-grams that more tasks share are the set's own boilerplate (an instruction,
a template). They say nothing about a pair, so the words they cover are left out of every share.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lydite.task import Task

Gram = tuple[str, ...]

_TOKEN = re.compile(
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d|,\d)"  # 1,250.5
    r"|\d+(?:[.:]\d+)+|(?<![\w.])\.\d+"  # 1.5, 10:30, .5
    r"|\w+"
    r"|(?:(?<=[\d)\]}])|(?<=\b[^\W\d_]))!"  # of 5!, (n)! and n!, but not of kg!
    r"|'(?=\()"  # of f'(x)
    r"|(?<=\d)\s*[-–]|[-–](?=\s*\d)|(?<![^\W\d_]{2})-(?![^\W\d_]{2})"  # a minus, not a hyphen or a dash
    r"|[^\w\s.,;:!?\"'`´‘’‚“”„«»…¡¿·—–-]"  # operators, brackets and what else carries meaning
)
_ANY = re.compile(r"\w+|[^\w\s]")
_NUMBER = re.compile(r"(?<![^\W\d])\d+(?:[.,:/]\d+)*")  # 12, 1,250, 3/4, 12 of 12km; not the 1 of x1
MASK = "#"


def comparable(task: Task) -> str:
    """What is compared: a data set's bare question, else the prompt; case and Unicode form folded."""
    question = task.metadata.get("question")
    text = question if isinstance(question, str) and question.strip() else task.prompt_text
    return unicodedata.normalize("NFKC", text).casefold()


def masked(text: str) -> str:
    """The same text with every number replaced by ``#``."""
    return _NUMBER.sub(MASK, text)


def words(text: str) -> list[str]:
    """Words, numbers (1.5 and 1,250 are one each) and signs such as + and (, without space and punctuation.

    A sign that may be mathematics stays: 3 + 4 is not 3 * 4, and 5! is not 5. A text of punctuation alone keeps it.
    """
    return [token.strip() for token in _TOKEN.findall(text)] or _ANY.findall(text)


class Match(NamedTuple):
    """An indexed text that shares n-grams with a queried one.

    Attributes:
        place: which indexed text.
        containment: share of the indexed text's n-grams that the queried text has.
        jaccard: shared n-grams over all n-grams of both.
        example: one shared n-gram.
    """

    place: int
    containment: float
    jaccard: float
    example: str


class Index:
    """n-grams of a list of texts, each a list of words. Texts shorter than ``n`` words have none."""

    def __init__(self, texts: Sequence[Sequence[str]], n: int) -> None:
        self._n = n
        common = max(5, len(texts) // 50)
        seen = Counter(gram for text in texts for gram in set(self._all(text)))
        self._common = {gram for gram, count in seen.items() if count > common}
        del seen
        self._sizes: list[int] = []
        self._postings: dict[Gram, list[int]] = {}
        for place, text in enumerate(texts):
            own = self._own(text)
            self._sizes.append(len(own))
            for gram in own:
                self._postings.setdefault(gram, []).append(place)

    def matches(self, text: Sequence[str]) -> list[Match]:
        """Every indexed text that shares an n-gram with this one."""
        own = self._own(text)
        shared: Counter[int] = Counter()
        example: dict[int, Gram] = {}
        for gram in own:
            for place in self._postings.get(gram, ()):
                shared[place] += 1
                if place not in example or gram < example[place]:  # the least one, so that a report is reproducible
                    example[place] = gram
        return [
            Match(place, count / size, count / (len(own) + size - count), " ".join(example[place]))
            for place, count in shared.items()
            for size in (self._sizes[place],)
        ]

    def _all(self, text: Sequence[str]) -> Iterator[Gram]:
        return zip(*(text[start:] for start in range(self._n)), strict=False)

    def _own(self, text: Sequence[str]) -> set[Gram]:
        """The n-grams that hold no word of the boilerplate."""
        grams = list(self._all(text))
        if not self._common:
            return set(grams)
        own: set[Gram] = set()
        covered = -1  # last word that a common n-gram covers so far
        ahead = [place for place, gram in enumerate(grams) if gram in self._common]
        following = iter([*ahead, len(text)])
        upcoming = next(following)  # first word of the next common n-gram
        for place, gram in enumerate(grams):
            while upcoming < place + self._n and upcoming < len(text):
                covered, upcoming = upcoming + self._n - 1, next(following)
            if covered < place:
                own.add(gram)
        return own

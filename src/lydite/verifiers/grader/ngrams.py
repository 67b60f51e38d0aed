"""Similarity of a text to a reference by the runs of words that they share: BLEU, GLEU, ROUGE-N and ROUGE-L.

Written out here, since the libraries that compute them bring along much that no reward needs (data to download, a
compiled XML reader). The tests hold the numbers of the reference implementations, each named below.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

Tokens = Sequence[str]

_PUNCTUATION = re.compile(r"([{-~\[-` -&(-+:-@/])")
_AFTER_WORD = re.compile(r"([^0-9])([.,])")
_BEFORE_WORD = re.compile(r"([.,])([^0-9])")
_DASH = re.compile(r"([0-9])(-)")
_WORDS = re.compile(r"[^\W_]+")
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))


def words_13a(text: str) -> list[str]:
    """Words and punctuation as the tokenizer of ``mteval-v13a`` parts them, as in ``sacrebleu`` (Post 2018)."""
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, char in _ENTITIES if "&" in text else ():
        text = text.replace(entity, char)
    text = _PUNCTUATION.sub(r" \1 ", f" {text} ")
    text = _BEFORE_WORD.sub(r" \1 \2", _AFTER_WORD.sub(r"\1 \2 ", text))
    return _DASH.sub(r"\1 \2 ", text).split()


def words_rouge(text: str) -> list[str]:
    """Runs of letters and digits in lower case, as in ``rouge_score``, which knows a to z and 0 to 9 alone."""
    return _WORDS.findall(text.lower())


def bleu(said: str, reference: str) -> float:
    """BLEU of one sentence (Papineni et al. 2002) in [0, 1]: ``sacrebleu.sentence_bleu(said, [reference]) / 100``.

    Runs of one to four words, as far as the text has them (``effective_order``); a length without any match counts half
    a match, the next one a quarter ... (smoothing ``exp``).
    """
    mine, theirs = words_13a(said), words_13a(reference)
    shared = [_shared(mine, theirs, n) for n in range(1, 5)]
    if not any(shared):
        return 0.0
    logs: list[float] = []
    smooth = 1.0
    for n, found in enumerate(shared, 1):
        total = len(mine) - n + 1
        if total < 1:
            break
        if not found:
            smooth *= 2
        logs.append(math.log(found / total if found else 1 / (smooth * total)))
    short = min(0.0, 1 - len(theirs) / len(mine))
    return math.exp(short + sum(logs) / len(logs))


def gleu(said: str, reference: str) -> float:
    """GLEU (Wu et al. 2016, "Google BLEU"): the smaller of precision and recall over all runs of one to four words, as
    ``nltk.translate.gleu_score.sentence_gleu`` on the words of ``words_13a``."""
    mine, theirs = words_13a(said), words_13a(reference)
    shared = sum(_shared(mine, theirs, n) for n in range(1, 5))
    most = max(sum(max(0, len(words) - n + 1) for n in range(1, 5)) for words in (mine, theirs))
    return shared / most if most else 0.0


def rouge_n(said: str, reference: str, n: int) -> float:
    """ROUGE-N (Lin 2004): F1 over runs of ``n`` words, as ``rouge_score`` without stemming."""
    mine, theirs = words_rouge(said), words_rouge(reference)
    return _f1(_shared(mine, theirs, n), max(0, len(mine) - n + 1), max(0, len(theirs) - n + 1))


def rouge_l(said: str, reference: str) -> float:
    """ROUGE-L (Lin 2004): F1 over the longest common subsequence of words, as ``rouge_score`` without stemming."""
    mine, theirs = words_rouge(said), words_rouge(reference)
    return _f1(common_subsequence(mine, theirs), len(mine), len(theirs))


def common_subsequence(one: Tokens, other: Tokens) -> int:
    """Length of the longest common subsequence, a row of the table at a time as the bits of one number (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for at, word in enumerate(other):
        places[word] = places.get(word, 0) | 1 << at
    full = (1 << len(other)) - 1
    row = full
    for word in one:
        if matches := places.get(word):
            row = (row + (row & matches) | row & ~matches) & full
    return len(other) - row.bit_count()


def _shared(one: Tokens, other: Tokens, n: int) -> int:
    return (_runs(one, n) & _runs(other, n)).total()


def _runs(words: Tokens, n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[at:] for at in range(n)), strict=False))


def _f1(shared: int, mine: int, theirs: int) -> float:
    return 2 * shared / (mine + theirs) if shared else 0.0

"""``text_similarity``: how close the completion is to a reference text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from lydite.errors import InputError, MissingExtraError
from lydite.verifiers.grader import ngrams
from lydite.verifiers.grader.grade import Grade, Grader, Kind, scored
from lydite.verifiers.grader.sample import Sample
from lydite.verifiers.grader.templates import Template

Metric = Callable[[str, str], float]

MAX_CHARS = 100_000
"""Characters of either text; a longer one is not similar."""
SHOWN = 500


def similarity(metric: str, said: Template, reference: Template, threshold: float | None) -> Grader:
    """A grader that compares two texts.

    Raises:
        InputError: no such metric, or a reference that nothing is similar to.
        MissingExtraError: the library of the metric is not installed.
    """
    measure = find_metric(metric)
    if reference.fixed is not None:
        if not reference.fixed.strip():
            raise InputError("is empty", field="reference", remedy="give the text to compare with")
        if len(reference.fixed) > MAX_CHARS:
            raise InputError(f"has more than {MAX_CHARS} characters", field="reference", remedy="shorten it")
        if measure(reference.fixed, reference.fixed) != 1.0:
            raise InputError(f"is not similar to itself by {metric}", field="reference", remedy="it has too few words")

    def grade(sample: Sample) -> Grade:
        one, other = said.text(sample), reference.text(sample)
        shown = one if len(one) <= SHOWN else one[:SHOWN] + "…"
        if len(one) > MAX_CHARS or len(other) > MAX_CHARS:
            return Grade(0.0, "too_long", shown, kind=Kind.FAILED, detail=f"more than {MAX_CHARS} characters")
        return scored(measure(one, other), threshold, shown, metric)

    return grade


def find_metric(name: str) -> Metric:
    """A metric by its name in grader documents; each is 1 for equal texts and 0 for texts without a common word.

    Raises:
        InputError, MissingExtraError: as ``similarity``.
    """
    if name == "cosine":
        raise InputError(
            "cosine compares embeddings, which a model makes, and a model is no verifier",
            field="evaluation_metric",
            remedy="use fuzzy_match, bleu, gleu, meteor, rouge_1 … rouge_5 or rouge_l",
        )
    if name == "fuzzy_match":
        return _fuzzy()
    if name == "meteor":
        return _meteor()
    if name in _METRICS:
        return _METRICS[name]
    known = ", ".join(["fuzzy_match", "meteor", *_METRICS])
    raise InputError(f"unknown metric {name[:40]!r}", field="evaluation_metric", remedy=f"known: {known}")


def _rouge(n: int) -> Metric:
    return lambda said, reference: ngrams.rouge_n(said, reference, n)


_METRICS: dict[str, Metric] = {
    "bleu": ngrams.bleu,
    "gleu": ngrams.gleu,
    **{f"rouge_{n}": _rouge(n) for n in range(1, 6)},
    "rouge_l": ngrams.rouge_l,
}


def _fuzzy() -> Metric:
    """Of ``rapidfuzz``: 1 less the insertions and deletions that make one text the other, as a share of both lengths.
    Not its partial or weighted ratios: by these a list of all answers is close to each."""
    try:
        from rapidfuzz.fuzz import ratio
    except ImportError:
        raise MissingExtraError("fuzzy_match", "server") from None
    return lambda said, reference: ratio(said, reference) / 100


def _meteor() -> Metric:
    try:
        import snowballstemmer  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtraError("meteor", "server") from None

    def measure(said: str, reference: str) -> float:
        stemmer = snowballstemmer.stemmer("porter")  # it keeps the word that it works at: one for each call
        return meteor(said, reference, stemmer.stemWords)

    return measure


def meteor(said: str, reference: str, stems: Callable[[list[str]], list[str]]) -> float:
    """METEOR (Banerjee and Lavie 2005) with the parameters of ``nltk``: alpha 0.9, beta 3, gamma 0.5.

    Words are matched as they are and then by stem (Porter), from the last to the first; synonyms are not, as they need
    WordNet. The same words in the same order are 1, where the formula falls short by 0.5 / words³.
    """
    mine = ngrams.words_13a(said.lower())
    theirs = ngrams.words_13a(reference.lower())
    if mine == theirs:
        return 1.0 if mine else 0.0
    matched = _matched(mine, theirs, dict.fromkeys(range(len(mine))), dict.fromkeys(range(len(theirs))))
    rest, free = (set(range(len(words))) - {pair[at] for pair in matched} for at, words in enumerate((mine, theirs)))
    matched += _matched(stems(mine), stems(theirs), dict.fromkeys(sorted(rest)), dict.fromkeys(sorted(free)))
    if not matched:
        return 0.0
    matched.sort()
    chunks = 1 + sum(b != (a[0] + 1, a[1] + 1) for a, b in pairwise(matched))
    precision, recall = len(matched) / len(mine), len(matched) / len(theirs)
    mean = precision * recall / (0.9 * precision + 0.1 * recall)
    return (1 - 0.5 * (chunks / len(matched)) ** 3) * mean


def _matched(
    mine: Sequence[str], theirs: Sequence[str], open_mine: dict[int, None], open_theirs: dict[int, None]
) -> list[tuple[int, int]]:
    """Pairs of places with the same word, each last one with the last that is left."""
    places: dict[str, list[int]] = {}
    for at in open_theirs:
        places.setdefault(theirs[at], []).append(at)
    return [(at, left.pop()) for at in reversed(open_mine) if (left := places.get(mine[at]))]

"""``grader``: metrics of ``text_similarity``, against the numbers of the reference implementations.

The numbers are those of sacrebleu 2.6.0 (``sentence_bleu``), nltk 3.10.4 (``sentence_gleu``; ``single_meteor_score``
with ``PorterStemmer(mode="ORIGINAL_ALGORITHM")`` and an empty WordNet, both on sacrebleu's ``Tokenizer13a``) and
rouge_score 0.1.2 (``use_stemmer=False``).
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.verdict import Outcome, Verdict
from lydite.verifiers import verify
from lydite.verifiers.grader.ngrams import common_subsequence
from lydite.verifiers.grader.similarity import find_metric

METRICS = ("bleu", "gleu", "meteor", "rouge_1", "rouge_2", "rouge_3", "rouge_4", "rouge_5", "rouge_l")
CASES = [
    (
        "the cat sat on the mat",
        "the cat is on the mat",
        (0.379917843, 0.500000000, 0.806666667, 0.833333333, 0.600000000, 0.250000000, 0.0, 0.0, 0.833333333),
    ),
    (
        "The quick brown fox jumped over the lazy dog.",
        "A quick brown fox jumps over the lazy dogs.",
        (0.273012086, 0.382352941, 0.899382716, 0.666666667, 0.500000000, 0.285714286, 0.0, 0.0, 0.666666667),
    ),
    (
        "It costs $3.50, or 1,000 yen - roughly.",
        "It costs $3.50 (about 1,000 yen).",
        (0.289978441, 0.368421053, 0.665791069, 0.823529412, 0.666666667, 0.461538462, 0.181818182, 0.0, 0.823529412),
    ),
    (
        "hello world",
        "hello there general kenobi",
        (0.183939721, 0.100000000, 0.131578947, 0.333333333, 0.0, 0.0, 0.0, 0.0, 0.333333333),
    ),
    ("a b c d e f g", "g f e d c b a", (0.106821752, 0.318181818, 0.500000000, 1.0, 0.0, 0.0, 0.0, 0.0, 0.142857143)),
    (
        "He's running quickly; she runs too.",
        "He runs quickly, and she is running too.",
        (0.113204678, 0.205882353, 0.435090703, 0.800000000, 0.0, 0.0, 0.0, 0.0, 0.533333333),
    ),
    ("no overlap here", "completely different words", (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)),
    (
        "one",
        "one two three four five",
        (0.018315639, 0.071428571, 0.108695652, 0.333333333, 0.0, 0.0, 0.0, 0.0, 0.333333333),
    ),
    (
        'AT&amp;T said: "yes"\nand left.',
        'AT&T said "yes" and left.',
        (
            0.701687939,
            0.736842105,
            0.986138614,
            0.923076923,
            0.727272727,
            0.666666667,
            0.571428571,
            0.400000000,
            0.923076923,
        ),
    ),
    (
        "the the the the the the the",
        "the cat is on the mat",
        (0.078098498, 0.090909091, 0.163934426, 0.307692308, 0.0, 0.0, 0.0, 0.0, 0.307692308),
    ),
]


def grade(said: str, reference: str, metric: str, **more: Any) -> Verdict:
    grader = {"type": "text_similarity", "name": "g", "input": "{{ sample.output_text }}", "reference": reference}
    return verify({"type": "grader", "config": {"grader": {**grader, "evaluation_metric": metric, **more}}}, said)


@pytest.mark.parametrize(("said", "reference", "numbers"), CASES)
def test_numbers_of_the_reference_implementations(said: str, reference: str, numbers: tuple[float, ...]) -> None:
    for metric, number in zip(METRICS, numbers, strict=True):
        assert find_metric(metric)(said, reference) == pytest.approx(number, abs=1e-8), metric


@pytest.mark.parametrize(("said", "number"), [("kitten", 1.0), ("sitting", 8 / 13), ("xyz", 0.0)])
def test_fuzzy_match_counts_insertions_and_deletions(said: str, number: float) -> None:
    assert find_metric("fuzzy_match")(said, "kitten") == pytest.approx(number)


@pytest.mark.parametrize("metric", [*METRICS, "fuzzy_match"])
def test_the_reference_itself_is_right_and_other_words_are_not(metric: str) -> None:
    reference = "The cat sat on the mat all day."
    assert grade(reference, reference, metric).correct
    assert grade("XYZ 123 QVW", reference, metric).outcome in (Outcome.INCORRECT, Outcome.PARTIAL)
    assert (grade("XYZ 123 QVW", reference, metric).score or 0) < 0.3


@pytest.mark.parametrize("metric", [*METRICS, "fuzzy_match"])
@given(said=st.text(max_size=40), reference=st.text(max_size=40))
def test_a_similarity_is_between_0_and_1(metric: str, said: str, reference: str) -> None:
    assert 0 <= find_metric(metric)(said, reference) <= 1


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
def test_common_subsequence_is_that_of_the_table(one: list[str], other: list[str]) -> None:
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            table[i + 1][j + 1] = table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
    assert common_subsequence(one, other) == table[-1][-1]


def test_words_of_other_scripts_count() -> None:
    assert grade("кошка сидит", "кошка сидит", "rouge_2").correct


def test_an_embedding_is_no_verifier() -> None:
    with pytest.raises(InputError, match="a model is no verifier") as caught:
        grade("a", "b", "cosine")
    assert caught.value.field == "checker.config.grader.evaluation_metric"


def test_a_reference_with_too_few_words_for_the_metric_is_refused() -> None:
    with pytest.raises(InputError, match="not similar to itself"):
        grade("a", "two words", "rouge_3")


def test_a_threshold_changes_the_reason_alone() -> None:
    reference, said = "one two three four", "one two three five"
    plain = grade(said, reference, "rouge_1")
    passed = grade(said, reference, "rouge_1", pass_threshold=0.75)
    below = grade(said, reference, "rouge_1", pass_threshold=0.8)
    assert plain.score == passed.score == below.score == 0.75
    assert (plain.reason, passed.reason, below.reason) == ("score", "passed", "below_threshold")


def test_a_text_without_end_is_not_similar() -> None:
    verdict = grade("one two " * 20_000, "one two", "rouge_l")
    assert (verdict.score, verdict.reason) == (0.0, "too_long")

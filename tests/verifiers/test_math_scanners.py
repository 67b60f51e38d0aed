"""The cheap looks of the scanners: what they spare, the dear patterns would not have found."""

from __future__ import annotations

import importlib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lydite.verifiers import text as scanners
from lydite.verifiers.math import (
    claims,
    disclaimed,
    formulas,
    rejections,
    revisions,
    second_thoughts,
    sentences,
    tail,
    tokens,
)
from lydite.verifiers.math.mentions import may_name
from lydite.verifiers.math.normalise import _dressed, trim
from lydite.verifiers.text import holds

extract = importlib.import_module("lydite.verifiers.math.extract")
ASCII = st.characters(codec="ascii")


def matches(pattern: re.Pattern[str]) -> st.SearchStrategy[str]:
    return st.from_regex(pattern, alphabet=ASCII)


@given(matches(tail._WITHDRAW))
def test_what_withdraws_holds_one_of_its_words(text: str) -> None:
    assert holds(text, tail._WITHDRAWING)


@given(matches(tail._DOUBT))
def test_what_doubts_holds_one_of_its_words(text: str) -> None:
    assert holds(text, tail._DOUBTING)


@given(matches(disclaimed._BEFORE))
def test_what_denies_holds_one_of_its_words(text: str) -> None:
    match = disclaimed._BEFORE.search(text)
    assert match is None or disclaimed.may_deny(match.group())


@given(matches(disclaimed._BEHIND))
def test_what_denies_behind_begins_like_its_words(text: str) -> None:
    match = disclaimed._BEHIND.match(text.lstrip(disclaimed._AROUND))
    assert match is None or match.group()[:2].lower() in disclaimed._BEGINNINGS


@given(matches(second_thoughts._RETRACTS))
def test_what_retracts_holds_one_of_its_words(text: str) -> None:
    assert holds(text, second_thoughts._RETRACTING)


@pytest.mark.parametrize("pattern", ["_BY_PRONOUN", "_AT_ONCE", "_BY_NAME", "_OBJECT"])
@given(data=st.data())
def test_what_rejects_holds_one_of_its_words(pattern: str, data: st.DataObject) -> None:
    text = data.draw(matches(getattr(rejections, pattern)))
    assert holds(text, rejections._REJECTING)


@given(matches(second_thoughts._SLIPS))
def test_what_slips_holds_one_of_its_words(text: str) -> None:
    assert holds(text, second_thoughts._SLIPPING)


@given(matches(revisions._STATES))
def test_what_states_holds_one_of_its_words(text: str) -> None:
    assert holds(text, revisions._STATING)
    assert may_name(text)


@given(matches(sentences._NO_STATEMENT))
def test_what_is_no_statement_holds_one_of_its_words(text: str) -> None:
    assert holds(text, sentences._UNSTATING)


@given(matches(sentences._REFERENCE))
def test_what_refers_ends_in_one_of_its_words(text: str) -> None:
    found = sentences._REFERENCE.search(text)
    assert found is not None
    assert sentences._refers(text[: found.end()])


@given(matches(disclaimed._DENIAL))
def test_what_denies_a_number_holds_one_of_its_words(text: str) -> None:
    assert holds(text, disclaimed._DENIALS)


@given(matches(revisions._NO_SOLUTION))
def test_what_leaves_no_solution_holds_one_of_its_words(text: str) -> None:
    assert holds(text, revisions._LACKING)


@given(matches(scanners._REFUSALS))
def test_what_refuses_holds_one_of_its_words(text: str) -> None:
    assert holds(text, scanners._REFUSING)


@given(st.text(max_size=60))
def test_what_is_not_dressed_is_not_trimmed(text: str) -> None:
    if not _dressed(text):
        assert trim(text + " ") == text


said = st.lists(
    st.sampled_from(
        [
            "answer", "Answer", "answers", "ANSWER", "result", "solution", "option", "choice", " is ", ": ", "\n", "7",
            "final ", ":", " to the problem", " would be",
            " is the answer", " was our final ", "are my correct answer", "**", "$", " ", "x", "İ", "é",
        ]
    ),
    max_size=25,
).map("".join)  # fmt: skip


@given(said)
def test_claims_found_by_their_words_are_all_claims(text: str) -> None:
    plain = claims.lowered(text)
    found = [
        match.span()
        for words in (claims._ANSWERS, claims._OPTIONS)
        for match in claims._anchors(text, plain, words, 0, None)
    ]
    told = [
        match.span()
        for match in claims._ANCHOR.finditer(text)
        if match.group("word").lower() not in claims._RESULTS
        or ":" in match.group()
        or text[: match.start()].lower().endswith("final ")
    ]
    assert sorted(found) == told


@given(st.text(max_size=30) | said)
def test_lower_case_keeps_places_and_ascii(text: str) -> None:
    lowered = claims.lowered(text)
    assert len(lowered) == len(text)
    assert all(one == other.lower() for one, other in zip(lowered, text, strict=True) if other.isascii())


@given(said)
def test_the_last_reversed_claim_is_found_by_its_word(text: str) -> None:
    found = claims._reversed(text, claims.lowered(text))
    last = [match.span() for match in claims._REVERSED.finditer(text)][-1:]
    assert ([] if found is None else [found.span()]) == last


numbered = st.lists(
    st.sampled_from(
        [
            "7", "12", "1,000", " ", "\n", ", ", " and ", " or ", "/", ".", ":", "(", ")", "-", "$", " a.m.", "e", "x",
            "%", " apples ", " which is about ", "\\approx ", "\\times 10^{5}", " of the ", "=", "+", "10:30", "is",
            " word ",
        ]
    ),
    max_size=25,
).map("".join)  # fmt: skip


@given(numbered, st.integers(0, 5))
def test_the_last_number_is_found_from_the_end(text: str, start: int) -> None:
    found, last = formulas._last_number(text, start), formulas.final(formulas._NUMBER, text, start)
    assert (found and found.span()) == (last and last.span())


@given(numbered)
def test_lists_and_rounded_values_end_as_they_must(text: str) -> None:
    if formulas._ROUNDED.search(text):
        assert text.rstrip().rstrip("$").rstrip().endswith(formulas._ROUNDING)
    if formulas._LISTED.search(text):
        assert text.rstrip()[-3:].endswith(formulas._LISTING)


struck = st.lists(
    st.sampled_from(
        ["\\cancel{", "\\xcancel {", "\\sout{", "\\st{", "\\star", "cancel", "{", "}", "\\}", "\\boxed{7}", "7", " "]
    ),
    max_size=25,
).map("".join)


@given(struck)
def test_what_is_struck_out_is_found_by_the_commands(text: str) -> None:
    assert disclaimed._struck(text, len(text)) == disclaimed._struck_after(text, 0)


@given(st.lists(st.sampled_from(["% \\boxed{1}", "%", "50%", "\n", " ", "\t", "\\fbox{2}", "x", "box"]), max_size=20))
def test_comments_are_those_of_each_line(pieces: list[str]) -> None:
    text = "".join(pieces)
    lines = ["" if re.match(r"[ \t]*%[^\n]*\\(?:boxed|fbox)", line) else line for line in text.split("\n")]
    assert disclaimed.uncommented(text) == "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "word", "found"), [("abab", "ab", [0, 2]), ("", "ab", []), ("aab", "b", [2]), ("xyz", "ab", [])]
)
def test_places(text: str, word: str, found: list[int]) -> None:
    assert scanners.places(text, word) == found


texts = st.lists(
    st.sampled_from(
        [
            "\\boxed{7}", "\\boxed{\\frac{1}{2}}", "\\fbox{7}", "\\boxed 7", "\\boxed{", "}", "{", "$", ".", " ", "\n",
            "#### 7", "####", "7", "8", " apples", " dollars.", " million", "\\%", " not ", "is not the answer", " or ",
            ",000", "The answer is ", "answer: ", "<answer>", "</answer>", "<think>", "</think>", "% ", "<!--", "-->",
            " wait,", "\\cancel{", "\\sqrt{2}", "box", ", which is 7", "\\text{ cm}", "^2", " km/h", "²", "…", "%",
            "<|im_end|>", "**", "is $7$.",
            "Final result: ", "One option is ", "%",
        ]
    ),
    max_size=8,
).map("".join)  # fmt: skip


@given(texts | texts.map(lambda text: "So we find that " + text), st.sampled_from(["strict", "lenient"]))
@settings(max_examples=500)
def test_what_is_seen_at_a_glance_is_what_a_search_finds(text: str, policy: str) -> None:
    rest = scanners.after_thinking(text)
    assert extract.extract(text, policy) == (extract.Extraction() if rest is None else extract.searched(rest, policy))


@given(st.sampled_from(sorted(tokens._ALONE)), st.text(alphabet=ASCII, max_size=4))
def test_characters_that_stand_alone_begin_no_longer_token(char: str, following: str) -> None:
    match = tokens._LEX.match(char + following)
    assert match is not None
    assert (match.lastgroup, match.group()) == ("op", char)

"""Which text is the expression, what it matches, what it costs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.verdict import Outcome, Verdict
from lydite.verifiers import build, verify
from lydite.verifiers.regex.pattern import Pattern, find_pattern
from lydite.verifiers.regex.worker import listed

PLATES = {"must_match": ["AB-12", "XY-07"], "must_not_match": ["ab-12", "AB-123", "AB12"]}


def judge(text: str, **config: Any) -> Verdict:
    return verify({"type": "regex", "config": {**PLATES, **config}}, text)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (r"\d+", r"\d+"),
        (r"^\d+$" + "\n", r"^\d+$"),
        ("```regex\n\\d+\n```", r"\d+"),
        ("```\na\n```\nor rather\n```\nb\n```", "b"),
        ("It is `a+`, I mean `b+`.", "b+"),
        ("The expression is:\n\n^x$", "^x$"),
        ("Regex: ^x$", "^x$"),
        ("**Pattern:** ^x$", "^x$"),
        (r"/a\/b/", "a/b"),
        (r"/a/gi", Pattern("a", "i")),
        ("/a/b/", "/a/b/"),
        (r"/home/\w+", r"/home/\w+"),
        (r'r"a\d"', r"a\d"),
        ("`r'a'`", "a"),
        ("```python\nimport re\npattern = r'^a$'\nprint(re.match(pattern, 'r b'))\n```", "^a$"),
        ('```python\nre.compile(r"a", re.IGNORECASE | re.S)\n```', Pattern("a", "is")),
        ('re.fullmatch(r"a", text, re.M)', Pattern("a", "m")),
        ("```\n(?x) a  # first\n  b\n```", "(?x) a  # first\n  b"),
        ('"^a$"', "^a$"),
        ('```\n"[^"]*"\n```', '"[^"]*"'),
        ('`"a"`', '"a"'),
        ('"a"b"', '"a"b"'),
        ("<think>`a`</think>`b`", "b"),
        ("", "no_pattern"),
        ("<think>`a`", "no_pattern"),
        ("```\n```", "no_pattern"),
        ("I cannot answer this.", "refused"),
    ],
)
def test_the_text_that_counts(text: str, pattern: str | Pattern) -> None:
    found = find_pattern(text)
    expected = pattern if isinstance(pattern, Pattern) or pattern in ("no_pattern", "refused") else Pattern(pattern)
    assert found == expected


MAIL = r"[a-z]+@[a-z]+\.(?:org|net)"


@pytest.mark.parametrize(
    "text",
    [
        f"<answer>{MAIL}</answer>",
        f"<answer>`{MAIL}`</answer>, that is <answer>/{MAIL}/</answer>",
        f"<answer>\n```regex\n{MAIL}\n```\n</answer>",
        f"The tags are `<answer>` and `</answer>`: <answer>{MAIL}</answer>",
        rf"Hence \boxed{{{MAIL}}}.",
        rf"\boxed{{\texttt{{{MAIL}}}}}",
        f"```regex\n{MAIL}\n```\nIt takes\n```\nbob@lydia.org\n```",
        f"```\n{MAIL}\n```\nIn use:\n```python\nimport re\nprint(re.fullmatch(pattern, 'x'))\n```",
        f"```python\nimport re\nPATTERN = re.compile(r'{MAIL}')\nfor text in [r'bob', r'b@o']:\n    print(text)\n```",
        f"```python\nimport re\nregex: str = r'x'\nregex = r'{MAIL}'\nassert re.fullmatch(regex, r'a@b.org')\n```",
        f"`{MAIL}` matches `bob@lydia.org`.",
        f"Take `{MAIL}`. Here `[a-z]` is a letter and `+` repeats it.",
        f"Take `{MAIL}`, where `@` stands for itself.",
        f"Letters are `[a-z]+`, so we need `{MAIL}`.\n\nFor example, `bob@lydia.org` is found.",
        f"`[a-z]+` matches letters alone; the final regex is `{MAIL}`.",
        f"`.*` matches too much, so instead use `{MAIL}`. It refuses `bob`.",
        f"{MAIL}\n\nThis matches the addresses and nothing else.",
        f"{MAIL}\n\nExplanation:\n- [a-z]+ the name\n- @ the sign",
        f"Here is the expression:\n{MAIL}\nThis takes the addresses only.",
        f"Regex:\n{MAIL}\n\nThat is all there is.",
        f"Answer: {MAIL}\n\nIt finds every address.",
        f"**{MAIL}**",
        f"**Answer:** **{MAIL}**",
        f"The regex is **{MAIL}**.\n\nThat is all there is.",
    ],
)
def test_an_expression_amid_talk(text: str) -> None:
    assert find_pattern(text) == Pattern(MAIL)


@pytest.mark.parametrize(
    "text",
    [
        "<answer>a+</answer> or <answer>b+</answer>",
        r"\boxed{a+} and \boxed{b+}",
        "Either `a+` or `b+`.",
        "`a+`, or alternatively, `b+`",
        "```python\nfirst_pattern = r'a+'\nsecond_pattern = r'b+'\n```",
    ],
)
def test_different_expressions_are_ambiguous(text: str) -> None:
    assert find_pattern(text) == "ambiguous"


@pytest.mark.parametrize("text", ["```\n<answer>\\d</answer>\n```", "`<answer>\\d</answer>`"])
def test_tags_in_code_belong_to_the_expression(text: str) -> None:
    assert find_pattern(text) == Pattern(r"<answer>\d</answer>")


def test_tags_that_the_texts_hold_belong_to_the_expression() -> None:
    lists = {"must_match": ["<answer>4</answer>"], "must_not_match": ["4"]}
    assert judge(r"<answer>\d</answer>", **lists).correct


def test_an_ambiguous_answer_is_no_answer() -> None:
    verdict = judge(r"`[A-Z]{2}-\d{2}` or `.*`")
    assert (verdict.outcome, verdict.reason) == (Outcome.UNPARSEABLE, "ambiguous")


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    find_pattern(text)


@pytest.mark.parametrize(
    ("text", "score", "reason"),
    [
        (r"[A-Z]{2}-\d{2}", 1.0, "correct"),
        (r"^[A-Z]{2}-\d\d$", 1.0, "correct"),
        (r"(?i:[a-z]{2})-\d\d", 0.8, "incorrect"),
        (r"A.*", 0.4, "incorrect"),
        (r".*", 0.4, "matches_everything"),
        (r"[\s\S]*", 0.4, "matches_everything"),
        (r"", 0.0, "no_pattern"),
        (r"(?!)", 0.6, "matches_nothing"),
        (r"x", 0.6, "matches_nothing"),
        (r"[A-Z", 0.0, "bad_pattern"),
        (r"(?<name>a)", 0.0, "bad_pattern"),
        (r"a{1,99999999999}", 0.0, "bad_pattern"),
        ("(" * 2000 + ")" * 2000, 0.0, "bad_pattern"),
        ("a" * 6000, 0.0, "resource"),
    ],
)
def test_the_fraction_that_is_right(text: str, score: float, reason: str) -> None:
    verdict = judge(text)
    assert (verdict.score, verdict.reason) == (score, reason)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+b",
        r"(a|a)*b",
        r"(a|aa)+$b",
        r"(.*)*(.*)*(.*)*(.*)*(.*)*x",
        r"(?:a?){30}a{30}b",
        r"(a*)*\1b",
        "a*" * 100 + "b",
    ],
)
def test_catastrophic_patterns_are_the_candidates_fault(pattern: str) -> None:
    lists = {"must_match": ["b"], "must_not_match": ["a" * 60]}
    verdict = judge(pattern, **lists)
    assert (verdict.outcome, verdict.score, verdict.reason) == (Outcome.INCORRECT, 0.0, "timeout")
    assert judge("b", **lists).correct


def test_huge_repeats_cost_nothing() -> None:
    assert judge("((((a{1,1000}){1,1000}){1,1000}){1,1000}){1,1000}").reason == "matches_nothing"


def test_a_whole_text_or_a_part_of_it() -> None:
    lists = {"must_match": ["see AB-12!"], "must_not_match": ["AB 12"]}
    assert judge(r"[A-Z]+-\d+", mode="search", **lists).correct
    assert judge(r"[A-Z]+-\d+", **lists).reason == "matches_nothing"


def test_a_line_end_is_part_of_a_text() -> None:
    lists = {"must_match": ["a"], "must_not_match": ["a\n"]}
    assert judge("^a$", **lists).correct
    assert judge("^a$", mode="search", **lists).reason == "matches_everything"


def test_flags_of_the_task_and_of_the_candidate() -> None:
    lists = {"must_match": ["AB", "ab"], "must_not_match": ["a\nb"]}
    assert not judge("ab", **lists).correct
    assert judge("ab", flags="i", **lists).correct
    assert judge("/ab/i", **lists).correct
    assert judge("(?i)ab", **lists).correct


def test_parts_name_the_texts_that_went_wrong() -> None:
    verdict = judge(r"(?i:[a-z]{2})-\d\d")
    assert [(part.name, part.reason, part.evidence) for part in verdict.parts if not part.score] == [
        ("n1", "matched", "'ab-12'")
    ]


def test_a_list_of_what_is_shown_fails_on_what_is_hidden() -> None:
    verdict = judge("AB-12", visible=["AB-12", "AB12"])
    assert verdict.outcome is Outcome.PARTIAL
    assert verdict.detail == "visible 2 of 2; hidden 2 of 3; a list of 1 words, 1 of them from must_match"
    assert [part.name for part in verdict.parts] == ["m1 visible", "m2", "n1", "n2", "n3 visible"]


def test_a_list_of_all_texts_is_pointed_out() -> None:
    verdict = judge("^(?:AB-12|XY-07)$")
    assert verdict.correct
    assert verdict.detail == "a list of 2 words, 2 of them from must_match"
    assert judge(r"[A-Z]{2}-\d{2}").detail is None


@given(st.lists(st.text(max_size=6), min_size=1, max_size=5))
def test_an_alternation_of_texts_is_a_list(words: list[str]) -> None:
    pattern = "^(?:" + "|".join(map(re.escape, words)) + ")$"
    assert listed(pattern, 0) == sorted(set(words))


@pytest.mark.parametrize(
    ("pattern", "words"),
    [("colou?r", ["color", "colour"]), ("[ab]{2}", ["aa", "ab", "ba", "bb"]), (r"\d", None), ("a*", None), (".", None)],
)
def test_words_of_an_expression(pattern: str, words: list[str] | None) -> None:
    assert listed(pattern, 0) == words


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"must_match": []}, "must_match"),
        ({"must_not_match": []}, "must_not_match"),
        ({"must_match": "a"}, "must_match"),
        ({"must_match": ["AB12"]}, "must_not_match"),
        ({"must_match": [1]}, "must_match.0"),
        ({"must_match": ["a" * 2_000_000]}, "must_match"),
        ({"mode": "match"}, "mode"),
        ({"flags": "g"}, "flags"),
        ({"visible": ["QQ-00"]}, "visible"),
        ({"match": []}, "match"),
    ],
)
def test_unusable_configuration(config: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        build({"type": "regex", "config": {**PLATES, **config}})
    assert (caught.value.field or "").replace("...", "0") == f"checker.config.{field}"

"""Two attempts beside each other: what differs, what is the same, and what is too long to say."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

import pytest
from attempts_making import NASTY, episodes, hostile
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from server_making import sampled, trained

from lydite.server.app import create_app
from lydite.server.page import textdiff
from lydite.server.page.textdiff import LINES, ROWS, STEPS, WORDS, Diff, Row, diff
from lydite.server.service import Service
from lydite.server.settings import Settings

TEXTS = st.lists(st.sampled_from(["a", "b = 1", "b = 2", "", "  c(x)", "c(y) d"]), max_size=9).map("\n".join)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    home = tmp_path_factory.mktemp("diffs")
    sampled(home)
    trained(home)
    episodes(home)
    hostile(home)
    service = Service(Settings(home=home, poll_seconds=60))
    service.index.refresh()
    yield TestClient(create_app(service), base_url="http://127.0.0.1:7799")
    service.close()


def sides(found: Diff) -> tuple[str, str]:
    """Both texts, put together from what is shown of them; equal lines that are folded count as such."""
    left: list[str] = []
    right: list[str] = []
    for row in found.rows:
        if row.kind == "fold":
            left += ["…"] * row.equal
            right += ["…"] * row.equal
            continue
        if row.left_line is not None:
            left.append("".join(run.text for run in row.left))
        if row.right_line is not None:
            right.append("".join(run.text for run in (row.left if row.kind == "same" else row.right)))
    return "\n".join(left), "\n".join(right)


def common(a: Sequence[str], b: Sequence[str]) -> int:
    """Length of a longest common subsequence, by the book."""
    row = [0] * (len(b) + 1)
    for one in a:
        last = row[:]
        for n, other in enumerate(b, 1):
            row[n] = last[n - 1] + 1 if one == other else max(last[n], row[n - 1])
    return row[-1]


@given(TEXTS, TEXTS)
def test_both_texts_can_be_put_together_again(a: str, b: str) -> None:
    found = diff(a, b)
    if found.how == "equal":
        assert a == b
    elif not any(row.kind == "fold" for row in found.rows):
        assert sides(found) == (a, b)


@given(st.lists(st.sampled_from("abc"), max_size=10), st.lists(st.sampled_from("abc"), max_size=10))
def test_no_script_of_edits_is_shorter(a: list[str], b: list[str]) -> None:
    found = list(textdiff._stretches(a, b, textdiff._Work(STEPS)))
    assert sum(end - start for same, start, end, _, _ in found if same) == common(a, b)
    assert all(a[i:i2] == b[j:j2] for same, i, i2, j, j2 in found if same)


def test_words_are_marked_within_their_line() -> None:
    found = diff("def f(x):\n    return x + 1\n\nprint(f(2))", "def f(x):\n    return x + 2\nprint(f(3))")
    marked = [[run.text for run in row.right if run.changed] for row in found.rows if row.kind == "changed"]
    assert marked == [["2"], ["3"]]
    assert (found.removed, found.added) == (3, 2)


def test_texts_without_anything_in_common_are_replaced_whole() -> None:
    found = diff("one two three four", "five six seven eight")
    assert [(row.kind, [run.changed for run in row.left]) for row in found.rows] == [("changed", [True])]


def test_equal_lines_are_folded_but_for_some_around() -> None:
    lines = [str(number) for number in range(100)]
    found = diff("\n".join(lines), "\n".join([*lines[:50], "new", *lines[50:]]))
    assert [row.kind for row in found.rows] == ["fold", *["same"] * 3, "right", *["same"] * 3, "fold"]
    assert sum(row.equal for row in found.rows) == 94


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("a " * 20_000, "b a " * 10_000),
        ("ab\n" * 20_000, "ba\n" * 20_000),
        ("a\nb\n" * 9_000, "b\na\n" * 9_000 + "c"),
        ("x" * WORDS, "x" * (WORDS - 1) + "y"),
    ],
)
def test_texts_that_repeat_themselves_cost_no_more(a: str, b: str, monkeypatch: pytest.MonkeyPatch) -> None:
    works: list[textdiff._Work] = []

    class Counted(textdiff._Work):
        def __init__(self, steps: int) -> None:
            super().__init__(steps)
            works.append(self)

    monkeypatch.setattr(textdiff, "_Work", Counted)
    found = diff(a, b)
    assert len(found.rows) <= ROWS
    assert all(STEPS - work.left <= STEPS + textdiff.EDITS * max(len(a), len(b)) for work in works)


@pytest.mark.parametrize(
    ("length", "how"), [(WORDS, "words"), (WORDS + 1, "lines"), (LINES, "lines"), (LINES + 1, "none")]
)
def test_longer_texts_are_compared_more_coarsely(length: int, how: str) -> None:
    assert diff("x" * length, "y").how == how


def test_long_lines_are_cut() -> None:
    (row,) = diff("x" * 50_000, "y z").rows
    assert isinstance(row, Row)
    assert len("".join(run.text for run in row.left)) < 5000


# the view


def text_of(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


def test_one_prompt_is_shown_once_and_what_differs_is_marked(site: TestClient) -> None:
    page = site.get("/diff?a=sampled:1&b=sampled:3").text
    assert page.count("What is 0 + 2?") == 1
    assert re.search(r'<tr class="differs"><th scope="row">outcome', page)
    assert re.search(r'<tr><th scope="row">verifier', page)
    assert re.search(r"<del>2</del>", page)
    assert re.search(r"<ins>3</ins>", page)


def test_attempts_of_two_runs_and_two_tasks(site: TestClient) -> None:
    page = site.get("/diff?a=sampled:1&b=trained:9").text
    assert "the same for both" not in page
    assert "What is " in page
    assert "trained 9" in page


def test_parts_are_compared_one_by_one(site: TestClient) -> None:
    page = site.get("/diff?a=episodes:1&b=episodes:2").text
    assert re.search(r'<tr class="differs"><th scope="row"><bdi class="mono">b.txt', page)
    assert re.search(r'<tr><th scope="row"><bdi class="mono">a.txt', page)
    assert "→ run_command" in text_of(page)


def test_two_megabytes_are_told_not_compared(site: TestClient) -> None:
    answer = site.get("/diff?a=hostile:3&b=hostile:4")
    assert "Too long to be compared" in answer.text
    assert len(answer.content) < 100_000


@pytest.mark.parametrize("other", [1, 2, 4])
def test_hostile_words_are_text(site: TestClient, other: int) -> None:
    body = site.get(f"/diff?a=hostile:{other}&b=sampled:1").content.decode()
    assert NASTY not in body
    assert "<img src=x" not in body
    assert "\u202e" not in body
    assert "\x00" not in body


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("a=sampled:1", 200),
        ("", 200),
        ("a=&b=sampled:2", 200),
        ("a=sampled&b=sampled:2", 400),
        ("a=sampled:x&b=sampled:2", 400),
        ("a=sampled:0&b=sampled:2", 400),
        ("a=:1&b=sampled:2", 400),
        ("a=sampled:99&b=sampled:2", 404),
        ("a=none:1&b=sampled:2", 404),
        ("a=sampled:" + "9" * 400 + "&b=sampled:2", 400),
        ("a=../../etc:1&b=sampled:2", 404),
    ],
)
def test_names_of_attempts(site: TestClient, query: str, status: int) -> None:
    answer = site.get(f"/diff?{query}")
    assert answer.status_code == status
    assert "text/html" in answer.headers["content-type"]

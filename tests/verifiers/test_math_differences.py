"""The tables of docs/math-verify.md say what happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from lydite.verifiers import verify

PAGE = Path(__file__).parents[2] / "docs" / "math-verify.md"


def rows() -> list[tuple[str, str, str, str]]:
    found = []
    whole = False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")] if line.startswith("| ") else []
        if len(cells) == 5 and cells[0] == "gold":
            whole = cells[1] == "completion"
        elif len(cells) == 5:
            gold, said = cells[0].strip("`"), cells[1].strip("`")
            found.append((gold, said if whole else f"So the answer is $\\boxed{{{said}}}$.", cells[2], cells[3]))
    return found


@pytest.mark.parametrize(("gold", "text", "ours", "theirs"), rows())
def test_lydite_says_what_the_page_says(gold: str, text: str, ours: str, theirs: str) -> None:
    assert verify({"type": "math", "config": {"answer": gold}}, text).correct is (ours == "correct")
    assert ours != theirs


@pytest.mark.parametrize(("gold", "text", "ours", "theirs"), rows())
def test_math_verify_says_what_the_page_says(gold: str, text: str, ours: str, theirs: str) -> None:
    peer = pytest.importorskip("math_verify", reason="needs the bench extra")
    assert bool(peer.verify(peer.parse(f"${gold}$"), peer.parse(text))) is (theirs == "correct")


def test_the_page_has_rows_of_both_kinds() -> None:
    assert {ours for _, _, ours, _ in rows()} == {"correct", "incorrect"}
    assert len(rows()) > 40

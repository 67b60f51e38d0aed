"""Lines of older layouts are read, lines of newer ones are refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.ledger.files import Lines
from lydite.ledger.reading import Reader, read_record


class Third(msgspec.Struct, frozen=True):
    """A record in the third version of its layout: ``name`` was renamed, then ``kind`` was added."""

    title: str
    kind: str
    schema: int = 1


def to_2(document: dict[str, Any]) -> dict[str, Any]:
    return {"title": document["name"]}


def to_3(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "kind": "plain"}


READ = Reader(Third, version=3, upgrades={1: to_2, 2: to_3})
PATH = Path("x.jsonl")


@pytest.mark.parametrize(
    "line", [b'{"name":"a"}', b'{"title":"a","schema":2}', b'{"title":"a","kind":"plain","schema":3}']
)
def test_every_older_layout_is_brought_up_to_date(line: bytes) -> None:
    assert READ(line, PATH, 1) == Third("a", "plain", 3)


@pytest.mark.parametrize("line", [b'{"title":"a","kind":"plain","schema":4}', b'{"label":"a","schema":9}'])
def test_a_newer_layout_is_refused_by_name(line: bytes) -> None:
    with pytest.raises(InputError, match=r"x\.jsonl:7: schema: written by a newer Lydite"):
        READ(line, PATH, 7)


@pytest.mark.parametrize(
    "line", [b"", b"{", b"[]", b"null", b'{"title":1}', b'{"schema":0}', b'{"schema":"x"}', b"\xff"]
)
def test_damage_is_an_error_with_file_and_line(line: bytes) -> None:
    with pytest.raises(InputError, match=r"x\.jsonl:3"):
        READ(line, PATH, 3)


@given(st.binary(max_size=60))
def test_no_bytes_break_the_reader(line: bytes) -> None:
    with pytest.raises(InputError):
        read_record(line, PATH, 1)


@given(
    st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b""))),
    st.binary(max_size=9),
    st.integers(1, 40),
)
def test_lines_are_those_between_newlines(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], tail: bytes, block: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "lines"
    tail = tail.replace(b"\n", b"")
    path.write_bytes(b"".join(line + b"\n" for line in lines) + tail)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lydite.ledger.files.BLOCK", block)
        found = Lines(path)
        assert list(found) == lines
    assert found.tail == tail
    assert found.size == path.stat().st_size

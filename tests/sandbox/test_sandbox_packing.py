"""Names in a tree, the archive of one, and links that lead out of it."""

from __future__ import annotations

import os
import random
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lydite.sandbox.jail import packing
from lydite.sandbox.jail.packing import Entry, Kind, check_path

# Paths


@pytest.mark.parametrize(
    ("path", "normal"),
    [("a", "a"), ("a//b/./c", "a/b/c"), ("./a/", "a"), ("a/.../b", "a/.../b"), (" ", " "), ("a\nb", "a\nb")],
)
def test_a_path_is_normalised(path: str, normal: str) -> None:
    assert check_path(path) == normal


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "names no file"),
        (".", "names no file"),
        ("././", "names no file"),
        ("/etc/passwd", "relative"),
        ("//x", "relative"),
        ("..", r"'\.\.'"),
        ("a/../b", r"'\.\.'"),
        ("../../evil", r"'\.\.'"),
        ("a\0b", "NUL"),
        ("\ud800", "no file can have this name"),
        ("a" * 5000, "at most"),
        ("a/" * 300, "at most"),
    ],
)
def test_a_path_that_is_none_is_refused_in_clear_words(path: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_path(path)


@given(st.text(st.characters(exclude_categories=())))
@example("\udcc3\udca9")
def test_a_path_is_refused_or_has_one_spelling_and_stays_inside(path: str) -> None:
    try:
        normal = check_path(path)
    except ValueError:
        return
    assert check_path(normal) == normal
    assert os.path.normpath("/root/" + normal) == "/root/" + normal
    assert os.fsdecode(os.fsencode(normal)) == normal


# The format

names = st.binary(min_size=1, max_size=3).filter(lambda raw: not {0, 47} & {*raw} and raw not in (b".", b".."))


@st.composite
def trees(draw: st.DrawFn) -> list[Entry]:
    """Any tree: folders first, then something in each of some folders."""
    found: dict[str, Entry] = {}
    folders = [""]
    for _ in range(draw(st.integers(0, 8))):
        above, name = draw(st.sampled_from(folders)), os.fsdecode(draw(names))
        path = f"{above}/{name}" if above else name
        if path in found:
            continue
        kind = draw(st.sampled_from(list(Kind)))
        text = st.binary(min_size=1, max_size=9).filter(lambda raw: 0 not in raw)
        data = b"" if kind is Kind.FOLDER else draw(text if kind is Kind.LINK else st.binary(max_size=9))
        found[path] = Entry(path, kind, data)
        if kind is Kind.FOLDER:
            folders.append(path)
    return list(found.values())


@given(trees(), st.integers(0, 5), st.randoms())
def test_what_was_encoded_is_parsed_whatever_its_order(
    found: list[Entry], skipped: int, generator: random.Random
) -> None:
    packed = packing.encode(found, skipped)
    generator.shuffle(found)
    assert packing.encode(found, skipped) == packed
    assert packing.parse(packed) == (packing.in_order(found), skipped)
    assert len(packed) == len(packing.encode([])) + sum(map(packing.size_of, found))


@given(st.binary(max_size=200))
def test_any_bytes_parse_or_raise_value_error(data: bytes) -> None:
    with suppress(ValueError):
        packing.parse(data)
    with suppress(ValueError):
        packing.parse(packing.encode([])[:14] + data)


@given(trees(), st.data())
def test_a_changed_byte_parses_to_another_tree_or_raises(found: list[Entry], data: st.DataObject) -> None:
    packed = packing.encode(found)
    at = data.draw(st.integers(0, len(packed) - 1))
    changed = packed[:at] + bytes([packed[at] ^ data.draw(st.integers(1, 255))]) + packed[at + 1 :]
    try:
        parsed, skipped = packing.parse(changed)
    except ValueError:
        return
    assert packing.encode(parsed, skipped) == changed


@given(trees(), st.data())
def test_a_truncated_archive_is_refused(found: list[Entry], data: st.DataObject) -> None:
    packed = packing.encode(found)
    with pytest.raises(ValueError, match=r"cut off|no packed tree"):
        packing.parse(packed[: data.draw(st.integers(0, len(packed) - 1))])


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([Entry("../evil", Kind.FILE, b"x")], "must not hold"),
        ([Entry("/evil", Kind.FILE, b"x")], "relative"),
        ([Entry("a//b", Kind.FILE, b"x")], "spelled"),
        ([Entry("a/b", Kind.FILE, b"x")], "in no folder"),
        ([Entry("a", Kind.LINK, b".."), Entry("a/evil", Kind.FILE, b"x")], "in no folder"),
        ([Entry("a", Kind.FILE, b""), Entry("a/b", Kind.FILE, b"x")], "in no folder"),
        ([Entry("a", Kind.FILE, b"x"), Entry("a", Kind.FILE, b"y")], "twice"),
        ([Entry("a", Kind.FOLDER, b"x")], "has content"),
        ([Entry("a", Kind.LINK, b"")], "link to nothing"),
        ([Entry("a", Kind.LINK, b"a\0b")], "link to nothing"),
    ],
)
def test_an_archive_that_no_tree_makes_is_refused(bad: list[Entry], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        packing.parse(packing.encode(bad))


def test_bytes_behind_the_end_are_refused() -> None:
    with pytest.raises(ValueError, match="behind its end"):
        packing.parse(packing.encode([]) + b"x")


def test_a_size_that_is_not_there_costs_no_memory() -> None:
    head = packing.encode([])[:14] + packing._HEAD.pack(b"f", 1, 1 << 62) + b"a"
    with pytest.raises(ValueError, match="cut off"):
        packing.parse(head)


# Links that lead out


@pytest.mark.parametrize(
    ("links", "out"),
    [
        ({"a": "b"}, []),
        ({"a": "."}, []),
        ({"x/a": ".."}, []),
        ({"x/a": "../y/./z/../w"}, []),
        ({"a": "absent/../b"}, []),
        ({"a": ".."}, ["a"]),
        ({"a": "../home/b"}, ["a"]),
        ({"x/a": "../.."}, ["x/a"]),
        ({"a": "b/../../c"}, ["a"]),
        ({"a": "/"}, ["a"]),
        ({"a": "/etc/passwd"}, ["a"]),
        ({"a": "b", "b": ".."}, ["a", "b"]),
        ({"x/y/up": "../..", "a": "x/y/up/z"}, []),
        ({"x/y/up": "../..", "a": "x/y/up/.."}, ["a"]),
        ({"a": "a"}, ["a"]),
        ({"a": "b", "b": "a"}, ["a", "b"]),
    ],
)
def test_links_that_lead_out_are_told(links: dict[str, str], out: list[str]) -> None:
    assert packing.leading_out(links) == out


def test_a_chain_of_links_is_told_without_following_it_for_ever() -> None:
    links = {f"l{n}": f"l{n + 1}/" * 2 + "x" for n in range(1000)}
    assert len(packing.leading_out(links)) > 900


@given(
    st.dictionaries(
        st.sampled_from(["a", "b", "x/a", "x/b", "x/y/a"]),
        st.lists(st.sampled_from(["a", "b", "x", "y", "..", "."]), min_size=1, max_size=6).map("/".join),
        max_size=5,
    )
)
def test_links_that_are_said_to_stay_inside_do_so_for_the_kernel(
    tmp_path_factory: pytest.TempPathFactory, links: dict[str, str]
) -> None:
    top = tmp_path_factory.mktemp("links") / "1" / "2"
    (top / "x" / "y").mkdir(parents=True)
    for path, text in links.items():
        (top / path).symlink_to(text)
    for path in links.keys() - set(packing.leading_out(links)):
        real = os.path.realpath(top / path)
        assert real == str(top) or real.startswith(f"{top}/")

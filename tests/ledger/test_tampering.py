"""Whatever is changed in ledger, samples or tasks is found, and the first of it is named."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_making import SETTINGS, TASKS, grades, make_run, make_task

from lydite.errors import InputError
from lydite.ledger import Audit, RunFolder, verify_run
from lydite.ledger.chain import link
from lydite.ledger.record import record_of

FILES = ("ledger.jsonl", "rollouts.jsonl", "tasks.jsonl")


def check(pristine: Path, tmp: Path, name: str, data: bytes, **options: str) -> Audit:
    """Verify a copy of a good run in which one file has other content."""
    copy = tmp / "copy"
    if not copy.exists():
        shutil.copytree(pristine, copy)
    (copy / name).write_bytes(data)
    try:
        return verify_run(copy, **options)
    finally:
        shutil.copy(pristine / name, copy / name)


def test_a_good_run_is_in_order(pristine: Path) -> None:
    found = verify_run(pristine)
    assert found.problem is None
    assert found.sealed
    assert (found.records, found.samples) == (8, 8)
    assert found.head == RunFolder.open(pristine).info.head


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=250, deadline=None)
@given(data=st.data())
def test_any_single_byte_that_is_changed_removed_or_put_in_is_found(
    pristine: Path, scratch: Path, name: str, data: st.DataObject
) -> None:
    good = (pristine / name).read_bytes()
    at = data.draw(st.integers(0, len(good) - 1), label="at")
    how = data.draw(st.sampled_from(["flip", "replace", "remove", "insert"]), label="how")
    byte = data.draw(st.sampled_from([*b" \n\r\t\x00", *b'0a{}",']) | st.integers(0, 255), label="byte")
    if how == "flip":
        bad = good[:at] + bytes([good[at] ^ (1 << byte % 8)]) + good[at + 1 :]
    elif how == "replace":
        bad = good[:at] + bytes([byte]) + good[at + 1 :]
    elif how == "remove":
        bad = good[:at] + good[at + 1 :]
    else:
        bad = good[:at] + bytes([byte]) + good[at:]
    if bad != good:
        assert check(pristine, scratch, name, bad).problem is not None


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_any_rearrangement_of_lines_is_found(pristine: Path, scratch: Path, name: str, data: st.DataObject) -> None:
    good = (pristine / name).read_bytes().splitlines(keepends=True)
    bad = data.draw(st.lists(st.sampled_from(good), max_size=len(good) + 2) | st.permutations(good), label="lines")
    if bad != good:
        assert check(pristine, scratch, name, b"".join(bad)).problem is not None


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("tail", [b"\n", b" ", b"\x00" * 512, b"{}\n", b"\r\n", b"trailing"])
def test_anything_behind_the_last_line_of_a_complete_run_is_found(
    pristine: Path, tmp_path: Path, name: str, tail: bytes
) -> None:
    assert check(pristine, tmp_path, name, (pristine / name).read_bytes() + tail).problem is not None


def edit(lines: list[bytes]) -> None:
    lines[3] = lines[3].replace(b'"wrong"', b'"right"').replace(b"no idea", b"an idea")


def remove(lines: list[bytes]) -> None:
    del lines[3]


def swap(lines: list[bytes]) -> None:
    lines[3], lines[4] = lines[4], lines[3]


def repeat(lines: list[bytes]) -> None:
    lines.insert(3, lines[2])


def cut(lines: list[bytes]) -> None:
    del lines[3:]


@pytest.mark.parametrize("name", ["ledger.jsonl", "rollouts.jsonl"])
@pytest.mark.parametrize("change", [edit, remove, swap, repeat, cut])
def test_the_first_line_that_was_touched_is_named(
    pristine: Path, tmp_path: Path, name: str, change: Callable[[list[bytes]], None]
) -> None:
    lines = (pristine / name).read_bytes().splitlines(keepends=True)
    change(lines)
    problem = check(pristine, tmp_path, name, b"".join(lines)).problem
    assert problem is not None
    assert (problem.file, problem.line) == (name, 4)


def test_an_edited_record_names_its_rollout(pristine: Path, tmp_path: Path) -> None:
    good = (pristine / "ledger.jsonl").read_bytes()
    problem = check(pristine, tmp_path, "ledger.jsonl", good.replace(b'"reward":-0.1', b'"reward":1.0', 1)).problem
    assert problem is not None
    assert (problem.line, problem.id) == (2, "sample/t0/1")


def test_an_edited_sample_names_its_rollout(pristine: Path, tmp_path: Path) -> None:
    good = (pristine / "rollouts.jsonl").read_bytes()
    problem = check(pristine, tmp_path, "rollouts.jsonl", good.replace(b"no idea", b"an idea", 1)).problem
    assert problem is not None
    assert (problem.file, problem.line, problem.id) == ("rollouts.jsonl", 2, "sample/t0/1")


def test_an_edited_task_names_itself(pristine: Path, tmp_path: Path) -> None:
    good = (pristine / "tasks.jsonl").read_bytes()
    problem = check(pristine, tmp_path, "tasks.jsonl", good.replace(b'"answer":"3"', b'"answer":"4"')).problem
    assert problem is not None
    assert (problem.file, problem.id) == ("tasks.jsonl", "t2")


def test_a_record_rewritten_with_a_hash_of_its_own_is_found_at_the_next(pristine: Path, tmp_path: Path) -> None:
    lines = (pristine / "ledger.jsonl").read_bytes().splitlines(keepends=True)
    rows = list(RunFolder.open(pristine).rows())
    forged = grades()[1]
    lines[1], _ = link(record_of(forged, rows[1].record.sample, 0.0), 2, _hash(lines[0]))
    problem = check(pristine, tmp_path, "ledger.jsonl", b"".join(lines)).problem
    assert problem is not None
    assert problem.line == 3
    assert "record 2" in problem.message


def test_a_last_record_rewritten_with_a_hash_of_its_own_is_found_by_the_head(pristine: Path, tmp_path: Path) -> None:
    lines = (pristine / "ledger.jsonl").read_bytes().splitlines(keepends=True)
    rows = list(RunFolder.open(pristine).rows())
    lines[-1], _ = link(record_of(grades()[-1], rows[-1].record.sample, 0.0), 8, _hash(lines[-2]))
    problem = check(pristine, tmp_path, "ledger.jsonl", b"".join(lines)).problem
    assert problem is not None
    assert (problem.line, "head" in problem.message) == (8, True)


def test_a_whole_run_rewritten_is_found_by_a_head_noted_elsewhere(pristine: Path, tmp_path: Path) -> None:
    noted = RunFolder.open(pristine).info.head
    assert verify_run(pristine, head=noted).problem is None
    other = make_run(tmp_path / "other")
    assert verify_run(other).problem is None
    assert verify_run(other, head=noted).problem is not None


def test_a_head_that_is_no_hash_is_unusable_input(pristine: Path) -> None:
    with pytest.raises(InputError, match="--head"):
        verify_run(pristine, head="abc")


def test_a_ledger_of_another_run_is_found(pristine: Path, tmp_path: Path) -> None:
    other = make_run(tmp_path / "other")
    for name in ("ledger.jsonl", "rollouts.jsonl"):
        shutil.copy(pristine / name, other / name)
    problem = verify_run(other).problem
    assert problem is not None
    assert "does not belong to this run" in problem.message


@pytest.mark.parametrize("name", [*FILES, "run.json"])
@pytest.mark.parametrize("empty", [True, False])
def test_a_file_that_is_missing_or_empty_is_found(pristine: Path, tmp_path: Path, name: str, empty: bool) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(pristine, copy)
    (copy / name).write_bytes(b"") if empty else (copy / name).unlink()
    problem = verify_run(copy).problem
    assert problem is not None
    assert problem.file == name or name == "tasks.jsonl"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"temperature": 1.0', b'"temperature": 0.0'),
        (b'"kind": "sample"', b'"kind": "sampled"'),
        (b'"records": 8', b'"records": 7'),
        (b'"records": 8', b'"records": 9'),
        (b'"records": 8', b'"records": 0'),
        (b'"created": "2', b'"created": "1'),
        (b'"count": 4', b'"count": 5'),
    ],
)
def test_what_a_run_says_of_itself_is_bound_to_its_ledger(
    pristine: Path, tmp_path: Path, old: bytes, new: bytes
) -> None:
    good = (pristine / "run.json").read_bytes()
    assert old in good
    assert check(pristine, tmp_path, "run.json", good.replace(old, new)).problem is not None


def test_a_folder_without_a_run_is_unusable_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a run folder"):
        verify_run(tmp_path)


def test_what_a_kill_leaves_is_unsealed_and_not_tampering(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run", state="interrupted")
    noted = (path / "run.json").read_bytes()
    with RunFolder.create(path, kind="sample", settings=SETTINGS, tasks=TASKS) as run:
        run.append(grades(phase="more"))
    ledger = path / "ledger.jsonl"
    ledger.write_bytes(b"".join(ledger.read_bytes().splitlines(keepends=True)[:-2]) + b'{"seq":15,"pr')
    (path / "run.json").write_bytes(noted)
    found = verify_run(path)
    assert found.problem is None
    assert (found.records, found.unnoted, found.unrecorded, found.torn) == (14, 6, 2, ("ledger.jsonl",))


def test_an_interrupted_run_cut_below_its_noted_head_is_found(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run", state="interrupted")
    for name in ("ledger.jsonl", "rollouts.jsonl"):
        lines = (path / name).read_bytes().splitlines(keepends=True)
        (path / name).write_bytes(b"".join(lines[:-1]))
    problem = verify_run(path).problem
    assert problem is not None
    assert "cut" in problem.message


def test_a_damaged_run_is_not_resumed(run_path: Path) -> None:
    path = run_path / "ledger.jsonl"
    bad = path.read_bytes().replace(b'"reward":-0.1', b'"reward":1.0', 1)
    path.write_bytes(bad)
    with pytest.raises(InputError, match=r"ledger\.jsonl:2"):
        RunFolder.create(run_path, kind="sample", settings=SETTINGS, tasks=TASKS)
    assert path.read_bytes() == bad


def test_a_task_added_to_a_complete_run_by_hand_is_found(pristine: Path, tmp_path: Path) -> None:
    from lydite.codec import canonical

    good = (pristine / "tasks.jsonl").read_bytes()
    problem = check(pristine, tmp_path, "tasks.jsonl", good + canonical(make_task(7)) + b"\n").problem
    assert problem is not None
    assert problem.id == "t7"


def _hash(line: bytes) -> str:
    return line[-67:-3].decode()

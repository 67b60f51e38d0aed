"""Damage of every kind is told by file and line, never by a traceback; what is not sealed is said."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from ledger_making import SETTINGS, TASKS, grades, make_run

from lydite.errors import InputError
from lydite.ledger import RunFolder, verify_run
from lydite.ledger.chain import link
from lydite.ledger.info import read_info
from lydite.ledger.reading import read_record, read_rollout, read_task
from lydite.ledger.record import record_of

DEEP = [b'{"a":' + b"[" * 100_000, b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", b'{"a":' * 100_000]
BROKEN = [
    *DEEP,
    b'{"id":"\xff\xfe"}',
    b'{"kind":"\xc3"}',
    b'{"\xff":1}',
    b'{"id":"\\ud800"}',
    b'{"schema":1' + b"0" * 5000,
    b'{"schema":{}}',
    b'{"schema":[1]}',
]


@pytest.fixture
def interrupted(tmp_path: Path) -> Path:
    return make_run(tmp_path / "run", state="interrupted")


def behind(path: Path, line: bytes) -> None:
    with open(path, "ab") as file:
        file.write(line + b"\n")


def put(path: Path, field: str, value: object) -> None:
    """Set a field of ``run.json``, dots between names."""
    document = msgspec.json.decode((path / "run.json").read_bytes())
    *parents, last = field.split(".")
    holder = document
    for name in parents:
        holder = holder[name]
    holder[last] = value
    (path / "run.json").write_bytes(msgspec.json.encode(document))


@pytest.mark.parametrize("data", BROKEN)
def test_a_run_json_that_cannot_be_read_is_a_problem_and_clean_bad_input(run_path: Path, data: bytes) -> None:
    (run_path / "run.json").write_bytes(data)
    problem = verify_run(run_path).problem
    assert problem is not None
    assert (problem.file, "not what Lydite wrote" in problem.message) == ("run.json", True)
    with pytest.raises(InputError, match=r"run\.json"):
        RunFolder.open(run_path)


@pytest.mark.parametrize("field", ["settings", "notes"])
@pytest.mark.parametrize("depth", [300, 700, 950, 3000, 100_000])
def test_settings_and_notes_that_nest_deeply_are_damage_at_any_depth(run_path: Path, field: str, depth: int) -> None:
    good = (run_path / "run.json").read_bytes()
    deep = b'"%b": {"deep": %b%b,' % (field.encode(), b"[" * depth, b"]" * depth)
    deep = deep if field == "settings" else deep[:-1] + b"}"
    old = rb'"settings": \{' if field == "settings" else rb'"notes": \{\}'
    bad, count = re.subn(old, lambda _: deep, good)
    assert count == 1
    (run_path / "run.json").write_bytes(bad)
    problem = verify_run(run_path).problem
    assert problem is not None
    assert "nested too deeply" in problem.message


@pytest.mark.parametrize("line", BROKEN)
@pytest.mark.parametrize("read", [read_record, read_rollout, read_task])
def test_no_line_breaks_a_reader(read: object, line: bytes) -> None:
    with pytest.raises(InputError, match=r"x\.jsonl:3"):
        read(line, Path("x.jsonl"), 3)  # type: ignore[operator]


@pytest.mark.parametrize("name", ["rollouts.jsonl", "ledger.jsonl", "tasks.jsonl"])
@pytest.mark.parametrize("line", BROKEN)
def test_a_line_that_cannot_be_read_behind_an_interrupted_run_is_named(
    interrupted: Path, name: str, line: bytes
) -> None:
    behind(interrupted / name, line)
    problem = verify_run(interrupted).problem
    assert problem is not None
    assert (problem.file, problem.line) == (name, 5 if name == "tasks.jsonl" else 9)
    with pytest.raises(InputError, match="damaged"):
        RunFolder.create(interrupted, kind="sample", settings=SETTINGS, tasks=TASKS)


@pytest.mark.parametrize("name", ["rollouts.jsonl", "ledger.jsonl", "tasks.jsonl"])
@pytest.mark.parametrize("line", DEEP)
def test_reading_a_run_with_a_deep_line_is_clean_bad_input(run_path: Path, name: str, line: bytes) -> None:
    lines = (run_path / name).read_bytes().splitlines()
    (run_path / name).write_bytes(b"\n".join([line, *lines[1:], b""]))
    run = RunFolder.open(run_path)
    with pytest.raises(InputError, match=rf"{re.escape(name)}:1"):
        list(run.tasks()) if name == "tasks.jsonl" else list(run.rows())


@pytest.mark.parametrize("line", BROKEN)
def test_names_of_samples_that_cannot_be_read_are_clean_bad_input(run_path: Path, line: bytes) -> None:
    (run_path / "rollouts.jsonl").write_bytes(line + b"\n")
    with pytest.raises(InputError, match=r"rollouts\.jsonl:1"):
        list(RunFolder.open(run_path)._rollouts(10**9))


@pytest.mark.parametrize("field", ["records", "schema", "origin.count", "origin.size", "tasks.count", "tasks.size"])
@pytest.mark.parametrize("value", [-1, -8, -(2**63), -(10**30), 0.5, "8", None])
def test_a_count_that_is_no_count_is_damage(run_path: Path, field: str, value: object) -> None:
    (run_path / "run.json").write_bytes(
        re.sub(b'"@"', str(value).encode(), _with(run_path, field))
        if isinstance(value, int)
        else _plain(run_path, field, value)
    )
    problem = verify_run(run_path).problem
    assert problem is not None
    assert (problem.file, field in problem.message) == ("run.json", True)
    with pytest.raises(InputError, match=r"run\.json"):
        read_info(run_path)


def _with(path: Path, field: str) -> bytes:
    put(path, field, "@")
    return (path / "run.json").read_bytes()


def _plain(path: Path, field: str, value: object) -> bytes:
    put(path, field, value)
    return (path / "run.json").read_bytes()


def relinked(path: Path, at: int, old: bytes, new: bytes) -> None:
    """Edit one record and give it and all that follow good hashes, with the head noted: the chain itself holds."""
    lines = (path / "ledger.jsonl").read_bytes().splitlines()
    assert old in lines[at]
    lines[at] = lines[at].replace(old, new, 1)
    head = read_info(path).genesis
    for number, line in enumerate(lines):
        body = re.sub(rb'"prev":"[0-9a-f]{64}"', b'"prev":"%b"' % head.encode(), line[:-75], count=1)
        head = hashlib.sha256(body).hexdigest()
        lines[number] = body + b',"hash":"%b"}' % head.encode()
    (path / "ledger.jsonl").write_bytes(b"\n".join([*lines, b""]))
    put(path, "head", head)


def test_a_chain_made_again_without_a_change_is_in_order(run_path: Path) -> None:
    relinked(run_path, 0, b"", b"")
    assert verify_run(run_path).problem is None


@pytest.mark.parametrize("kind", [b'"amendment"', b'"Verdict"', b'""', b"null", b"7"])
@pytest.mark.parametrize("at", [0, 3, 7])
def test_a_record_of_an_unknown_kind_is_named_with_line_and_id(run_path: Path, at: int, kind: bytes) -> None:
    relinked(run_path, at, b'"kind":"verdict"', b'"kind":' + kind)
    problem = verify_run(run_path).problem
    assert problem is not None
    assert (problem.file, problem.line, problem.id) == ("ledger.jsonl", at + 1, grades()[at].rollout.id)


@pytest.mark.parametrize("state", ["complete", "interrupted"])
def test_a_record_of_an_unknown_kind_behind_the_last_is_named(tmp_path: Path, state: str) -> None:
    path = make_run(tmp_path / "run", state=state)
    info = read_info(path)
    record = msgspec.structs.replace(record_of(grades()[0], "0" * 64, 0.0), kind="amendment")
    behind(path / "ledger.jsonl", link(record, 9, info.head)[0][:-1])
    problem = verify_run(path).problem
    assert problem is not None
    assert (problem.line, problem.id, "amendment" in problem.message) == (9, "sample/t0/0", True)


@pytest.mark.parametrize("extra", [b'"kind":"x",', b'"x":' + b"[" * 5000 + b"]" * 5000 + b",", b'"x":1,'])
def test_a_good_link_that_lydite_did_not_write_behind_the_noted_head_is_named(tmp_path: Path, extra: bytes) -> None:
    path = make_run(tmp_path / "run", state="interrupted")
    relinked(path, 7, b'"rollout":', extra + b'"rollout":')
    put(path, "records", 7)
    put(path, "head", _hash_of(path, 7))
    problem = verify_run(path).problem
    assert problem is not None
    assert (problem.file, problem.line) == ("ledger.jsonl", 8)


def _hash_of(path: Path, seq: int) -> str:
    return (path / "ledger.jsonl").read_bytes().splitlines()[seq - 1][-66:-2].decode()


@pytest.mark.parametrize("state", ["interrupted", "running"])
def test_a_run_that_is_not_complete_says_so_and_what_is_not_sealed(tmp_path: Path, state: str) -> None:
    path = make_run(tmp_path / "run", state="interrupted")
    noted = _hash_of(path, 5)
    ledger = path / "ledger.jsonl"
    ledger.write_bytes(b"".join(ledger.read_bytes().splitlines(keepends=True)[:6]))
    put(path, "records", 5)
    put(path, "head", noted)
    put(path, "state", state)
    found = verify_run(path)
    assert found.problem is None
    told = " | ".join(found.standing)
    assert f"not complete: its state is {state}" in told
    assert "2 samples without a record" in told
    assert "1 records behind the head" in told
    assert "a head noted elsewhere does not cover samples without a record" in told


def test_a_complete_run_has_nothing_to_say_of_itself(pristine: Path) -> None:
    assert verify_run(pristine).standing == ()


def read_all(run: Path) -> None:
    opened = RunFolder.open(run)
    list(opened.tasks())
    list(opened.rows())


@pytest.mark.parametrize("name", ["run.json", "ledger.jsonl", "rollouts.jsonl", "tasks.jsonl"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_what_is_no_file_is_named_and_holds_nobody_up(tmp_path: Path, name: str, make: Callable[[Path], None]) -> None:
    run = make_run(tmp_path / "run")
    (run / name).unlink()
    make(run / name)
    with pytest.raises(InputError, match=re.escape(name)):
        read_all(run)
    with pytest.raises(InputError, match=re.escape(name)):
        RunFolder.reopen(run)

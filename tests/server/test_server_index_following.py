"""Folders that grow, shrink, are damaged and replaced while they are followed: the index says what they hold."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import server_making as making
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from server_index_contract import graded, made_up, opened, various
from sqlalchemy import select

from lydite.errors import InputError
from lydite.flag import Flag
from lydite.ledger import RunFolder
from lydite.ledger.changes import as_they_are
from lydite.ledger.reviews import Decision, Reviews
from lydite.sampling import Judge, rescore
from lydite.server.database import tables
from lydite.server.errors import RefusedError
from lydite.server.index import following, slices, storing
from lydite.server.index.index import Index
from lydite.server.index.rows import FlagFilter, GroupFilter, RolloutFilter
from lydite.task import Checker, Task

FORK = multiprocessing.get_context("fork")
GROWING = ("tasks.jsonl", "rollouts.jsonl", "ledger.jsonl", "metrics.jsonl", "flags-review.jsonl")


@pytest.fixture
def index(home: Path) -> Iterator[Index]:
    (home / "runs").mkdir(parents=True)
    made = opened(home)
    yield made
    made.engine.dispose()


def contents(index: Index) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Everything that the tables say of each run, whatever number it has."""
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    with index.engine.connect() as connection:
        for run in connection.execute(select(tables.runs)).mappings().all():
            mine = found[run["id"]] = {"runs": [{**run, "number": 0, "updated": 0}]}
            for table in storing.OF_RUN:
                query = select(table).where(table.c.run == run["number"]).order_by(*table.primary_key.columns)
                mine[table.name] = [{**row, "run": 0} for row in connection.execute(query).mappings()]
    return found


def at_once(home: Path) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """What an index says that takes in a home from nothing."""
    with tempfile.TemporaryDirectory() as place:
        os.symlink(home / "runs", Path(place) / "runs")
        fresh = opened(Path(place))
        fresh.refresh()
        found = contents(fresh)
        fresh.engine.dispose()
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with everything: training, a group in two places, a rescoring, decisions on flags."""
    home = tmp_path_factory.mktemp("whole")
    path = making.trained(home, "whole", steps=3)
    with RunFolder.reopen(path) as run:
        run.add_tasks(made_up("u"))
        run.append([graded(at, task=f"u{at % 5}", index=at // 5) for at in range(20)])
    rescore_all(path, "first")
    with RunFolder.reopen(path) as run:
        run.append([graded(at, task=f"u{at % 5}", index=at // 5) for at in range(20, 40)])
        making.train_step(run, Judge(), 4, making.make_task(1))
    rescore_all(path, "second")
    review(path, 12)
    return path


def rescore_all(path: Path, name: str) -> None:
    """Judge a run again."""
    rescore(path, as_they_are, {"again": name}, name=name)


def review(path: Path, count: int) -> None:
    """Decide on flags of a run, on some of them twice."""
    choose, reviews = random.Random(0), Reviews(path)
    flags = [(row.rollout.id, flag) for row in RunFolder.open(path).rows() for flag in row.record.flags]
    for _ in range(count):
        rollout, flag = choose.choice(flags)
        reviews.add([(rollout, flag, choose.choice(list(Decision)))], "so")
    reviews.add([("nobody/knows/0", flags[0][1], Decision.CONFIRMED)])


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_run_taken_in_piece_by_piece_is_the_run_taken_in_at_once(whole: Path, data: st.DataObject) -> None:
    texts = {name: (whole / name).read_bytes() for name in GROWING}
    cuts = {
        name: [*sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=3, max_size=3), label=name)), len(text)]
        for name, text in texts.items()
    }
    rows = data.draw(st.sampled_from([7, 5000]), label="rows of a slice")
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(slices, "ROWS", rows)
        path = Path(place) / "runs" / "whole"
        path.mkdir(parents=True)
        shutil.copy(whole / "run.json", path)
        index = opened(Path(place))
        for step in range(4):
            for name, text in texts.items():
                (path / name).write_bytes(text[: cuts[name][step]])
            index.refresh()
        assert index.run("whole").state == "interrupted"
        assert contents(index) == at_once(Path(place))
        index.engine.dispose()


def test_what_is_indexed_is_what_the_folder_says(home: Path, index: Index, whole: Path) -> None:
    shutil.copytree(whole, home / "runs" / "whole")
    index.refresh()
    run = RunFolder.open(whole)
    assert [index.row("whole", row.seq) for row in run.rows()] == list(run.rows())
    for name in ("first", "second"):
        for old, new in run.rescored(name):
            (other,) = (one for one in index.others("whole", old.seq) if one.name == name)
            verdict = new.record.verdict
            assert (other.seq, other.outcome, other.score) == (new.seq, verdict.outcome, verdict.score)
            assert (other.reason, other.verifier) == (verdict.reason, verdict.verifier)
    names = [{one.name for one in index.others("whole", row.seq)} for row in run.rows()]
    assert {"first", "second"} in names
    assert {"second"} in names


def test_a_run_that_is_written_is_followed(home: Path, index: Index) -> None:
    path = home / "runs" / "live"
    task = making.make_task(1)
    with RunFolder.create(path, kind="train", settings={}, tasks=[task]) as run:
        assert index.refresh() == ["live"]
        assert (index.run("live").state, index.run("live").rollouts) == ("running", 0)
        for step in range(1, 4):
            run.append([graded(at, f"train-0-{step}", index=at) for at in range(8)])
            run.metric({"step": step, "stage": 0, "kind": "grpo", "reward": 0.1 * step})
            run.add_tasks([making.make_task(step + 1)])
            assert index.refresh() == ["live"]
            found = index.run("live")
            assert (found.rollouts, found.steps, found.tasks) == (8 * step, step, step + 1)
            assert index.refresh() == []
        run.finish("complete")
    index.refresh()
    assert index.run("live").state == "complete"
    assert contents(index) == at_once(home)


def test_an_idle_refresh_opens_no_file(home: Path, index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        various(home, name)
    index.refresh()
    monkeypatch.setattr(following, "take", None)
    assert index.refresh() == []


def test_folders_below_folders_are_runs_and_links_are_none(home: Path, index: Index, tmp_path: Path) -> None:
    deep = various(home, "one/two/three")
    various(home, "one/two/three/four")
    various(home, "one/two/.hidden")
    various(tmp_path, "elsewhere")
    os.symlink(tmp_path / "runs" / "elsewhere", home / "runs" / "link")
    (home / "runs" / "loose.txt").touch()
    index.refresh()
    assert [run.id for run in index.runs().items] == ["one~two~three"]
    assert [slug for slug, _ in index.home.run_folders()] == ["one~two~three"]
    assert index.row("one~two~three", 1) == next(iter(RunFolder.open(deep).rows()))


def test_a_run_that_is_gone_is_dropped(home: Path, index: Index) -> None:
    for name in ("a", "b"):
        various(home, name)
    index.refresh()
    shutil.rmtree(home / "runs" / "a")
    assert index.refresh() == ["a"]
    assert contents(index).keys() == {"b"}
    shutil.rmtree(home / "runs" / "b")
    again = opened(home)  # one that has seen no folder yet
    assert again.refresh() == ["b"]
    assert not contents(again)
    with again.engine.connect() as connection:
        assert all(not connection.execute(select(table)).all() for table in storing.OF_RUN)
    again.engine.dispose()


def test_a_run_in_the_place_of_another_is_taken_anew(home: Path, index: Index) -> None:
    path = various(home, "x")
    index.refresh()
    Reviews(path).add([("sample/t0/0", _flag(), Decision.CONFIRMED)])
    index.refresh()
    shutil.rmtree(path)
    various(home, "x")  # of the same size, but for its times
    assert index.refresh() == ["x"]
    assert contents(index) == at_once(home)
    assert not index.flags(FlagFilter(decision="confirmed")).items


def _flag() -> Flag:
    return Flag(detector="no_visible_work", version=3, bars=True)


def test_an_earlier_state_of_a_run_is_taken_anew(home: Path, index: Index) -> None:
    path = various(home, "x")
    before = home / "before"
    shutil.copytree(path, before)
    with RunFolder.reopen(path) as run:
        run.append([graded(at, "more") for at in range(10)])
    index.refresh()
    assert index.run("x").rollouts == 85
    shutil.rmtree(path)
    shutil.copytree(before, path)
    with RunFolder.reopen(path) as run:  # longer than what was indexed, and other from a line on
        run.append([graded(at, "other") for at in range(20)])
    index.refresh()
    assert index.run("x").rollouts == 95
    assert contents(index) == at_once(home)


@pytest.mark.parametrize("name", GROWING)
def test_a_file_that_shrinks_is_taken_anew(home: Path, index: Index, whole: Path, name: str) -> None:
    path = home / "runs" / "whole"
    shutil.copytree(whole, path)
    index.refresh()
    os.truncate(path / name, (path / name).stat().st_size * 2 // 3)
    index.refresh()
    assert contents(index) == at_once(home)
    shutil.copy(whole / name, path / name)
    index.refresh()
    assert contents(index) == at_once(home)
    assert index.run("whole").state == "interrupted"


@pytest.mark.parametrize("cut", [100, 0, None])
def test_a_run_that_lost_its_end_is_not_complete(home: Path, index: Index, cut: int | None) -> None:
    path = various(home, "cut")
    for name in ("ledger.jsonl", "rollouts.jsonl"):
        if cut is None:
            (path / name).write_bytes(b"".join((path / name).read_bytes().splitlines(keepends=True)[:20]))
        else:
            os.truncate(path / name, cut)
    index.refresh()
    found = index.run("cut")
    assert found.state == "unreadable"
    assert found.error is not None
    assert found.error.startswith(f"ledger.jsonl: ends after {0 if cut is not None else 20} of ")


def test_a_sample_that_is_not_the_one_that_was_judged_makes_a_run_unreadable(home: Path, index: Index) -> None:
    path = various(home, "bad")
    various(home, "good")
    rollouts = path / "rollouts.jsonl"
    kept = rollouts.read_bytes()
    rollouts.write_bytes(kept.replace(b"Attempt 29.", b"Attempt 28."))
    index.refresh()
    bad = index.run("bad")
    assert bad.state == "unreadable"
    assert bad.error == "rollouts.jsonl line 30: not the sample that was judged (sample/t4/5)"
    assert bad.rollouts == len(index.rollouts("bad", RolloutFilter(), limit=100).items) == 29
    assert index.run("good").rollouts == 75
    assert index.bus.past(["run:bad"])[-1].data["state"] == "unreadable"
    rollouts.write_bytes(kept)
    index.refresh()
    assert (index.run("bad").state, index.run("bad").error) == ("complete", None)
    assert contents(index) == at_once(home)


@pytest.mark.parametrize("name", ["rollouts.jsonl", "ledger.jsonl"])
@pytest.mark.parametrize("how", ["in its place", "by another file"])
def test_what_is_edited_is_taken_anew(home: Path, index: Index, name: str, how: str) -> None:
    path = various(home, "x") / name
    index.refresh()
    text = path.read_bytes().replace(b"Attempt 29.", b"Attempt 28.").replace(b'"reward":1.0', b'"reward":0.5')
    place = path if how == "in its place" else home / "draft"
    place.write_bytes(text)
    os.replace(place, path)
    index.refresh()
    if how == "in its place":  # it might be written at this very moment
        assert index.run("x").state == "complete"
    os.utime(path, (0, 10**9))
    assert index.refresh() == ["x"]
    assert contents(index) == at_once(home)
    assert index.refresh() == []
    if name == "rollouts.jsonl":
        assert index.run("x").state == "unreadable"
    else:
        assert {row.reward for row in index.rollouts("x", RolloutFilter(outcomes=("correct",))).items} >= {0.5}


DAMAGES = {
    "no json": b"not json\n",
    "empty line": b"\n",
    "an array": b"[]\n",
    "no record": b'{"seq":76,"kind":"verdict"}\n',
    "too deep": b'{"a":' + b"[" * 100_000 + b"\n",
    "no utf-8": b'{"kind":"verdict","sample":"\xff\xfe"}\n',
    "a number too large": b'{"seq":76,"prev":"","kind":"rescore","rescoring":"x","of":{"seq":1e999},"verdict":{}}\n',
    "a version too large": b'{"rollout":"sample/t0/0","detector":"no_visible_work","decision":"confirmed","time":1.0,'
    b'"version":9%0200d}\n' % 0,
    "nul": b"\0" * 5000 + b"\n",
}


def test_damaged_folders_never_stop_the_others(home: Path, index: Index) -> None:
    kept = various(home, "good")
    cases = {f"{name[:-6]}-{at}": (name, damage) for name in GROWING for at, damage in enumerate(DAMAGES)}
    for run in cases:
        shutil.copytree(kept, home / "runs" / run)
    index.refresh()
    for run, (name, damage) in cases.items():
        with open(home / "runs" / run / name, "ab") as file:
            file.write(DAMAGES[damage])
    with RunFolder.reopen(kept) as run_folder:
        run_folder.append([graded(1, "late")])
    index.refresh()
    assert index.run("good").rollouts == 76
    for run, (name, _) in cases.items():
        found = index.run(run)
        assert found.rollouts == 75
        if name in ("ledger.jsonl", "tasks.jsonl"):
            assert found.state == "unreadable"
            assert found.error
            assert found.error.startswith(name)
        else:
            assert found.state == "complete"
    assert contents(index) == at_once(home)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"kind": 3}', b"\xff", b'{"a":' * 5000])
def test_a_run_that_does_not_say_what_it_is_is_unreadable(home: Path, index: Index, content: bytes) -> None:
    path = various(home, "bad")
    (path / "run.json").write_bytes(content)
    various(home, "good")
    index.refresh()
    bad = index.run("bad")
    assert (bad.state, bad.rollouts) == ("unreadable", 0)
    assert bad.error is not None
    assert bad.error.startswith("run.json: ")
    assert bad.created[:4].isdigit()
    assert index.runs(state="unreadable").total == 1


def test_what_is_no_regular_file_is_not_opened(home: Path, index: Index) -> None:
    kept = various(home, "good")
    cases = {f"{kind}-{name[:-6]}": (kind, name) for kind in ("fifo", "link", "folder", "socket") for name in GROWING}
    for run, (kind, name) in cases.items():
        path = home / "runs" / run / name
        shutil.copytree(kept, path.parent)
        path.unlink(missing_ok=True)
        if kind == "fifo":
            os.mkfifo(path)
        elif kind == "link":
            path.symlink_to(kept / name)
        elif kind == "folder":
            path.mkdir()
        else:
            os.mknod(path, stat.S_IFSOCK | 0o600)
    index.refresh()
    for run, (_, name) in cases.items():
        assert index.run(run).state == "unreadable"
        assert index.run(run).error == f"{name}: is no regular file"
    assert index.run("good").state == "complete"


def test_words_of_a_folder_that_changed_are_refused(home: Path, index: Index) -> None:
    path = various(home, "x")
    index.refresh()
    for name in ("rollouts.jsonl", "ledger.jsonl"):
        kept = (path / name).read_bytes()
        for other in (kept[: len(kept) // 2], kept.replace(b"t4", b"t5"), b"\0" * len(kept)):
            (path / name).write_bytes(other)
            with pytest.raises(InputError):
                index.row("x", 75)
            index.rollouts("x", RolloutFilter(q="attempt"), limit=3)
            assert index.flags(FlagFilter(run="x")).items
        (path / name).unlink()
        os.mkfifo(path / name)
        with pytest.raises(InputError):
            index.row("x", 75)
        (path / name).unlink()
        (path / name).write_bytes(kept)
    assert index.row("x", 75).seq == 75


def test_decisions_go_into_a_regular_file_only(home: Path, index: Index) -> None:
    path = various(home, "x")
    index.refresh()
    flag = index.flags(FlagFilter()).items[0]
    os.mkfifo(path / "flags-review.jsonl")
    with pytest.raises(RefusedError):
        index.decide("x", flag.seq, flag.detector, flag.version, Decision.CONFIRMED)


def test_a_task_with_an_endless_name_makes_a_run_unreadable(home: Path, index: Index) -> None:
    task = Task(id="x" * 5000, prompt=(), checker=Checker(type="math"))
    with RunFolder.create(home / "runs" / "long", kind="sample", settings={}, tasks=[task]):
        pass
    index.refresh()
    assert index.run("long").state == "unreadable"


def test_a_line_that_does_not_follow_the_one_before_is_no_endless_loop(
    home: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "ROWS", 10)
    path = various(home, "x")
    ledger = path / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes().replace(b'{"seq":41,"prev":"', b'{"seq":41,"prev":"0'))
    index.refresh()
    assert (index.run("x").state, index.run("x").rollouts) == ("unreadable", 40)
    assert "do not follow each other" in (index.run("x").error or "")
    assert index.refresh() == []


def test_slices_are_seen_one_by_one(home: Path, index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "ROWS", 10)
    various(home, "x")
    seen: list[tuple[int, int]] = []
    index.follower.refresh(progress=lambda run, rollouts: seen.append((rollouts, index.run(run).rollouts)))
    assert seen[:3] == [(10, 10), (20, 20), (30, 30)]
    assert seen[-1] == (75, 75)


def test_a_long_take_in_can_be_ended(home: Path, index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "ROWS", 10)
    various(home, "x")
    index.follower.refresh(progress=lambda run, rollouts: index.stop())
    assert index.run("x").rollouts == 10


def test_a_surprise_in_one_run_is_told_and_the_others_are_followed(
    home: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = following.take

    def take(folder: Path, known: dict[str, Any]) -> slices.Slice:
        if folder.name == "bad":
            raise ZeroDivisionError
        return real(folder, known)

    monkeypatch.setattr(following, "take", take)
    various(home, "bad")
    various(home, "good")
    index.refresh()
    assert index.run("bad").error == "cannot be indexed: ZeroDivisionError"
    assert index.run("good").rollouts == 75
    assert index.refresh() == []


def _refresh(home: Path, rows: int, begin: Any) -> None:
    slices.ROWS = rows
    index = opened(home)
    begin.wait()
    index.refresh()


def follower(home: Path, rows: int, begin: Any) -> Any:
    """Another process that takes in a home when it is told to."""
    process = FORK.Process(target=_refresh, args=(home, rows, begin), daemon=True)
    process.start()
    return process


def large(home: Path) -> None:
    """A run of 3,000 attempts, in groups of 5, each half of them in another place."""
    with RunFolder.create(home / "runs" / "large", kind="sample", settings={}) as run:
        for part in range(2):
            run.append([graded(at, task=f"task-{at // 5}", index=part * 5 + at % 5) for at in range(1500)])


def test_a_refresh_that_is_killed_loses_nothing_and_doubles_nothing(home: Path, index: Index) -> None:
    large(home)
    expected = at_once(home)
    begin = FORK.Event()
    begin.set()
    for _ in range(3):
        before = index.run("large").rollouts if index.runs().items else 0
        child = follower(home, 40, begin)
        while not index.runs().items or index.run("large").rollouts <= before:
            assert child.is_alive()
        child.kill()
        child.join()
        done = index.run("large").rollouts
        assert before < done < 3000
        groups = index.groups("large", GroupFilter(), limit=10_000).items
        assert sum(group.n for group in groups) == done
    index.refresh()
    assert contents(index) == expected


def test_two_processes_take_in_everything_once(home: Path, index: Index) -> None:
    large(home)
    various(home, "other")
    begin = FORK.Event()
    children = [follower(home, 50, begin) for _ in range(2)]
    begin.set()
    for child in children:
        child.join()
        assert child.exitcode == 0
    assert contents(index) == at_once(home)
    assert index.bus.past(["run:other"])[0].kind == "run"


def test_an_index_that_is_made_again_says_the_same(home: Path, index: Index, whole: Path) -> None:
    shutil.copytree(whole, home / "runs" / "whole")
    various(home, "x")
    index.refresh()
    before = contents(index)
    server = opened(home)  # it runs meanwhile
    server.refresh()
    seen: list[str] = []
    found = index.rebuild(lambda run, rollouts: seen.append(run))
    rollouts = sum(len(run["rollouts"]) for run in before.values())
    assert found == {"runs": 2, "rollouts": rollouts, "unreadable": 0}
    assert set(seen) == {"whole", "x"}
    assert contents(index) == before
    assert server.refresh() == []
    with RunFolder.reopen(home / "runs" / "x") as run:
        run.append([graded(1, "late")])
    assert server.refresh() == ["x"]
    assert contents(server) == at_once(home)
    server.engine.dispose()


def test_a_service_fills_what_another_process_emptied_and_left(home: Path, index: Index) -> None:
    various(home, "x")
    index.refresh()
    other = opened(home)
    other.stop()  # killed before it has taken in anything
    other.rebuild()
    other.engine.dispose()
    assert index.run("x").rollouts == 0
    assert index.refresh() == ["x"]
    assert contents(index) == at_once(home)

"""What a run folder promises to those who write and read it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from ledger_making import SETTINGS, TASKS, grade, grades, make_run, make_task

from lydite.errors import InputError, LyditeError
from lydite.ledger import RunFolder, verify_run
from lydite.rollout import Message


def resume(path: Path, **changes: object) -> RunFolder:
    return RunFolder.create(path, **{"kind": "sample", "settings": SETTINGS, "tasks": TASKS, **changes})  # type: ignore[arg-type]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_rows_come_back_as_they_were_written(run_path: Path) -> None:
    rows = list(RunFolder.open(run_path).rows())
    assert [row.rollout for row in rows] == [item.rollout for item in grades()]
    assert [row.record.verdict for row in rows] == [item.verdict for item in grades()]
    assert [row.seq for row in rows] == list(range(1, 9))


def test_rows_of_one_phase_only(tmp_path: Path) -> None:
    with resume(tmp_path / "run") as run:
        run.append(grades(phase="before"))
        run.append(grades(phase="after", n=1))
        assert {row.rollout.id for row in run.rows("after")} == {f"after/{task.id}/0" for task in TASKS}


def test_tasks_come_back_as_they_were_given(run_path: Path) -> None:
    assert tuple(RunFolder.open(run_path).tasks()) == TASKS


def test_every_line_is_chained_to_the_one_before(run_path: Path) -> None:
    lines = [json.loads(line) for line in (run_path / "ledger.jsonl").read_text().splitlines()]
    info = RunFolder.open(run_path).info
    assert [line["prev"] for line in lines] == [info.genesis, *(line["hash"] for line in lines[:-1])]
    assert info.head == lines[-1]["hash"]


def test_a_finished_run_is_resumed_and_stays_finished(run_path: Path) -> None:
    before = contents(run_path)
    with resume(run_path) as run:
        assert run.resumed
        assert len(run.done("sample")) == 8
    assert contents(run_path) == before


def test_records_go_on_in_the_same_chain_after_a_resume(run_path: Path) -> None:
    with resume(run_path) as run:
        run.append(grades(phase="after"))
        assert run.info.state == "running"
        run.finish()
    assert verify_run(run_path).problem is None
    assert RunFolder.open(run_path).info.records == 16


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"settings": {**SETTINGS, "n": 3}}, "settings (n)"),
        ({"kind": "train"}, "kind of run"),
        ({"tasks": TASKS[:2]}, "other tasks"),
    ],
)
def test_another_run_is_refused_and_nothing_is_touched(run_path: Path, changes: dict[str, object], named: str) -> None:
    before = contents(run_path)
    with pytest.raises(InputError) as caught:
        resume(run_path, **changes)
    assert named in str(caught.value)
    assert contents(run_path) == before


def test_a_folder_with_other_things_is_refused_and_untouched(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match=r"thesis\.tex"):
        resume(tmp_path)
    assert contents(tmp_path) == {"thesis.tex": b"years of work"}


def test_a_run_whose_tasks_cannot_be_read_leaves_nothing(tmp_path: Path) -> None:
    def broken():  # type: ignore[no-untyped-def]
        yield TASKS[0]
        raise InputError("malformed", path="tasks.jsonl", line=2)

    with pytest.raises(InputError, match=r"tasks\.jsonl:2"):
        resume(tmp_path / "run", tasks=broken())
    assert not (tmp_path / "run").exists()


def test_two_tasks_with_one_id_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'t1'"):
        resume(tmp_path / "run", tasks=[*TASKS, make_task(1)])
    assert not (tmp_path / "run").exists()


def test_what_a_run_killed_while_being_made_leaves_is_taken_over(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for name, data in ((".lock", b""), ("tasks.jsonl", b'{"id":"ha'), ("rollouts.jsonl", b""), (".run.json.tmp", b"{")):
        (folder / name).write_bytes(data)
    with resume(folder) as run:
        run.append(grades())
        run.finish()
    assert verify_run(folder).problem is None


def test_a_second_writer_is_turned_away(tmp_path: Path) -> None:
    with resume(tmp_path / "run"), pytest.raises(InputError, match="in use by another process"):
        resume(tmp_path / "run")


def test_a_second_process_is_turned_away_until_the_first_is_gone(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom lydite.ledger import RunFolder\n"
        "run = RunFolder.create(sys.argv[1], kind='k', settings={})\nprint('open', flush=True)\nsys.stdin.read()"
    )
    path = tmp_path / "run"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        with pytest.raises(InputError, match="in use"):
            RunFolder.create(path, kind="k", settings={})
        other.kill()
    RunFolder.create(path, kind="k", settings={}).close()


def test_done_knows_what_was_recorded(run_path: Path) -> None:
    done = RunFolder.open(run_path).done("sample")
    assert set(done) == {item.rollout.id for item in grades()}
    assert all(item.rollout.id in done for item in grades())
    assert "sample/t0/2" not in done
    assert len(RunFolder.open(run_path).done("after")) == 0


def test_done_of_an_open_run_follows_what_is_appended(tmp_path: Path) -> None:
    with resume(tmp_path / "run") as run:
        assert not run.done("sample")
        run.append([grade(TASKS[0], 0)])
        assert list(run.done("sample")) == ["sample/t0/0"]


def test_added_tasks_are_kept_once(run_path: Path) -> None:
    with resume(run_path) as run:
        run.add_tasks([TASKS[0], make_task(9), make_task(9)])
        assert [task.id for task in run.tasks()] == ["t0", "t1", "t2", "t3", "t9"]
        run.append(grades([make_task(9)]))
        run.finish()
    assert verify_run(run_path).problem is None
    resume(run_path).close()


def test_an_added_task_may_not_take_the_id_of_another(run_path: Path) -> None:
    before = (run_path / "tasks.jsonl").read_bytes()
    with resume(run_path) as run, pytest.raises(InputError, match="'t1'"):
        run.add_tasks([make_task(9), msgspec.structs.replace(make_task(1), max_steps=3)])
    assert (run_path / "tasks.jsonl").read_bytes() == before


def test_notes_are_merged_and_survive(tmp_path: Path) -> None:
    with resume(tmp_path / "run") as run:
        run.note(step=1, best={"step": 1})
        run.note(step=2)
        run.note(best=None)
    assert RunFolder.open(tmp_path / "run").info.notes == {"step": 2}


def test_metrics_are_readable_at_once(tmp_path: Path) -> None:
    with resume(tmp_path / "run") as run:
        run.metric({"step": 1, "loss": float("nan")})
        assert json.loads((run.path / "metrics.jsonl").read_text()) == {"step": 1, "loss": None}


def test_a_run_that_is_closed_unfinished_is_interrupted(tmp_path: Path) -> None:
    with resume(tmp_path / "run") as run:
        run.append(grades())
    info = RunFolder.open(tmp_path / "run").info
    assert (info.state, info.records) == ("interrupted", 8)


def test_a_run_opened_to_read_cannot_be_written(run_path: Path) -> None:
    with pytest.raises(LyditeError, match="read only"):
        RunFolder.open(run_path).append(grades())


def test_nothing_of_the_environment_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-value")
    path = make_run(tmp_path / "run")
    assert not [name for name, data in contents(path).items() if b"very-secret" in data]
    for value in (value for name, value in os.environ.items() if len(value) > 24 and "PATH" not in name):
        assert value.encode() not in (path / "run.json").read_bytes()


def test_a_lone_surrogate_does_not_stop_a_run(tmp_path: Path) -> None:
    item = grade(TASKS[0], 0)
    message = Message(role="assistant", content="half \ud83d a pair")
    odd = msgspec.structs.replace(item, rollout=msgspec.structs.replace(item.rollout, completion=(message,)))
    with resume(tmp_path / "run") as run:
        run.append([odd])
        run.finish()
    assert verify_run(tmp_path / "run").problem is None


def test_rows_refuse_a_sample_that_is_not_the_judged_one(run_path: Path) -> None:
    path = run_path / "rollouts.jsonl"
    path.write_bytes(path.read_bytes().replace(b"no idea", b"an idea", 1))
    with pytest.raises(InputError, match=r"rollouts\.jsonl:2"):
        list(RunFolder.open(run_path).rows())

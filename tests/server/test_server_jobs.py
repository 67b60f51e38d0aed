"""Jobs are made, watched, stopped and found again; a quick process stands in for training here."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jobs_making import jsonl, plan, standing_in, until
from sqlalchemy import delete

from lydite.server.database import tables
from lydite.server.errors import NotFoundError, RefusedError
from lydite.server.jobs import process
from lydite.server.jobs.jobs import Jobs
from lydite.server.jobs.status import Status
from lydite.server.jobs.store import JobFolder
from lydite.server.service import Service
from lydite.server.settings import Settings


@pytest.fixture
def jobs(service: Service) -> Iterator[Jobs]:
    found = standing_in(service)
    found.start()
    yield found
    for row in found.page(limit=100).items:
        if not row.status.over:
            service.jobs.keeper.grace = 0
            with contextlib.suppress(RefusedError):  # it is over by now
                found.cancel(row.id)
    found.stop()


def pid(jobs: Jobs, job: str) -> int:
    until(jobs, job, Status.RUNNING)
    found = jobs.state(job)
    assert found is not None
    return found.pid


def gone(number: int) -> bool:
    end = time.monotonic() + 10
    while process.began(number) is not None and time.monotonic() < end:
        time.sleep(0.02)
    return process.began(number) is None


def messages(jobs: Jobs, job: str) -> list[str]:
    return [event.message for event in jobs.events(job, limit=100).items][::-1]


def test_a_job_runs_to_its_end(jobs: Jobs, service: Service) -> None:
    made = jobs.create(plan("done"))
    assert made.status in (Status.QUEUED, Status.VALIDATING)
    row = until(jobs, made.id, Status.SUCCEEDED)
    assert row.finished is not None
    assert row.document["result"]["trained_tokens"] == 70
    (file,) = row.document["result"]["files"]
    header, line = service.files.path(file).read_text().split()
    assert dict(zip(header.split(","), line.split(","), strict=True))["train_mean_reward"] == "0.25"
    assert messages(jobs, made.id)[0] == f"Created fine-tuning job: {made.id}"
    assert f"run:{made.id}" in messages(jobs, made.id)[-1]
    assert jobs.of_run(made.run) == row


def test_a_killed_job_says_by_what_and_its_last_lines_without_places_of_this_machine(jobs: Jobs, home: Path) -> None:
    row = until(jobs, jobs.create(plan("crash")).id, lambda row: row.status.over)
    assert row.status is Status.FAILED
    assert row.error is not None
    assert "killed by signal 9 (SIGKILL)" in row.error
    assert "session 1: crash, in HOME/" in row.error
    assert str(home) not in row.error + jobs.log(row.id)


def test_an_error_that_the_process_told_is_the_jobs(jobs: Jobs) -> None:
    row = until(jobs, jobs.create(plan("unusable")).id, lambda row: row.status.over)
    assert row.error == "tasks.train: no such file"
    assert row.document["result"]["error_code"] == "invalid_job"
    assert row.document["result"]["error_param"] == "x"


def test_what_a_job_began_ends_with_it(jobs: Jobs, home: Path) -> None:
    row = until(jobs, jobs.create(plan("family")).id, lambda row: row.status.over)
    assert row.status is Status.FAILED
    assert gone(int((home / ".lydite/jobs" / row.id / "grandchild").read_text()))


def test_no_zombies(jobs: Jobs) -> None:
    made = jobs.create(plan("wait"))
    number = pid(jobs, made.id)
    jobs.cancel(made.id)
    with pytest.raises(ChildProcessError):
        os.waitpid(number, os.WNOHANG)


def test_cancel(jobs: Jobs) -> None:
    made = jobs.create(plan("wait"))
    number = pid(jobs, made.id)
    assert jobs.cancel(made.id).status is Status.CANCELLED
    assert process.began(number) is None
    with pytest.raises(RefusedError, match="cancelled"):
        jobs.cancel(made.id)


def test_a_job_that_does_not_listen_is_killed_after_its_grace(jobs: Jobs) -> None:
    made = jobs.create(plan("stubborn"))
    number = pid(jobs, made.id)
    jobs.keeper.grace = 0.3
    assert jobs.cancel(made.id).status is Status.CANCELLED
    assert process.began(number) is None


def test_pause_and_resume(jobs: Jobs) -> None:
    made = jobs.create(plan("wait,done"))
    pid(jobs, made.id)
    assert jobs.pause(made.id).status is Status.PAUSING
    until(jobs, made.id, Status.PAUSED)
    assert jobs.pause(made.id).status is Status.PAUSED
    jobs.resume(made.id)
    until(jobs, made.id, Status.SUCCEEDED)


def test_a_killed_job_is_gone_on_with(jobs: Jobs) -> None:
    made = jobs.create(plan("crash,done"))
    until(jobs, made.id, lambda row: row.status is Status.FAILED)
    assert jobs.resume(made.id).error is None
    assert until(jobs, made.id, Status.SUCCEEDED).error is None


def test_states_that_do_not_allow_it(jobs: Jobs) -> None:
    made = until(jobs, jobs.create(plan("done")).id, Status.SUCCEEDED)
    for ask in (jobs.cancel, jobs.pause, jobs.resume):
        with pytest.raises(RefusedError, match="is succeeded"):
            ask(made.id)
        with pytest.raises(NotFoundError):
            ask("ftjob-nothing")


def test_only_as_many_as_there_is_room_for_the_oldest_first(jobs: Jobs) -> None:
    first, second = jobs.create(plan("wait")), jobs.create(plan("done"))
    pid(jobs, first.id)
    time.sleep(0.2)
    assert jobs.get(second.id).status is Status.QUEUED
    jobs.cancel(first.id)
    until(jobs, second.id, Status.SUCCEEDED)


def test_no_room_at_all(home: Path) -> None:
    service = Service(Settings(home=home, jobs=0, poll_seconds=0.02))
    jobs = standing_in(service)
    jobs.start()
    made = jobs.create(plan("done"))
    time.sleep(0.2)
    assert jobs.get(made.id).status is Status.QUEUED
    assert jobs.pause(made.id).status is Status.PAUSED
    assert jobs.resume(made.id).status is Status.QUEUED
    assert jobs.cancel(made.id).status is Status.CANCELLED
    jobs.stop()
    service.close()


def another(home: Path, **settings: Any) -> Service:
    service = Service(Settings(home=home, poll_seconds=0.05, **settings))
    standing_in(service)
    return service


def test_a_new_service_finds_a_job_that_runs_and_sees_its_end(jobs: Jobs, home: Path) -> None:
    made = jobs.create(plan("wait"))
    number = pid(jobs, made.id)
    jobs.stop()
    later = another(home)
    later.jobs.start()
    try:
        assert later.jobs.get(made.id).status is Status.RUNNING
        assert later.jobs.pause(made.id).status is Status.PAUSING
        os.waitpid(number, 0)  # in truth nobody's child by then, and reaped by the system
        until(later.jobs, made.id, Status.PAUSED)
    finally:
        later.jobs.stop()
        later.close()


@pytest.mark.parametrize("resume", [False, True])
def test_a_new_service_finds_a_job_whose_process_is_gone(jobs: Jobs, home: Path, resume: bool) -> None:
    made = jobs.create(plan("wait,done"))
    number = pid(jobs, made.id)
    jobs.stop()
    os.kill(number, signal.SIGKILL)
    os.waitpid(number, 0)
    later = another(home, resume_jobs=resume)
    later.jobs.start()
    try:
        row = until(later.jobs, made.id, lambda row: row.status.over)
        if resume:
            assert row.status is Status.SUCCEEDED
        else:
            assert row.status is Status.FAILED
            assert "gone" in str(row.error)
            assert "session 1: wait" in str(row.error)
    finally:
        later.jobs.stop()
        later.close()


def test_another_process_with_the_same_number_is_not_taken_for_the_job(jobs: Jobs, home: Path) -> None:
    made = jobs.create(plan("wait"))
    number = pid(jobs, made.id)
    jobs.stop()
    folder = JobFolder(home / ".lydite/jobs" / made.id)
    folder.stand(msgspec.structs.replace(folder.standing(), pid=os.getpid()))
    later = another(home)
    later.jobs.start()
    try:
        assert later.jobs.get(made.id).status is Status.FAILED  # and this process goes on
    finally:
        later.jobs.stop()
        later.close()
        os.kill(number, signal.SIGKILL)
        os.waitpid(number, 0)


def test_two_services_over_one_home_do_not_both_look_after_its_jobs(jobs: Jobs, home: Path) -> None:
    other = another(home)
    other.jobs.start()
    made = other.jobs.create(plan("wait"))
    number = pid(other.jobs, made.id)
    assert other.jobs.keeper._children == {}
    assert other.jobs.cancel(made.id).status is Status.RUNNING or gone(number)
    until(jobs, made.id, Status.CANCELLED)
    other.jobs.stop()
    other.close()


def test_the_table_is_made_again_from_folders(jobs: Jobs, service: Service) -> None:
    made = until(jobs, jobs.create(plan("done")).id, Status.SUCCEEDED)
    with service.engine.begin() as connection:
        connection.execute(delete(tables.jobs))
    with pytest.raises(NotFoundError):
        jobs.get(made.id)
    assert jobs.reload() == 1
    assert jobs.get(made.id) == made


def test_pages_and_metadata(jobs: Jobs) -> None:
    made = [
        jobs.create(msgspec.structs.replace(plan("done"), metadata={"team": "ab"[n % 2]} if n else {}))
        for n in range(5)
    ]
    ids = [row.id for row in made][::-1]
    first = jobs.page(limit=2)
    assert [row.id for row in first.items] == ids[:2]
    assert [row.id for row in jobs.page(limit=5, after=first.next).items] == ids[2:]
    assert [row.id for row in jobs.page(metadata={"team": "b"}).items] == [ids[1], ids[3]]
    assert [row.id for row in jobs.page(bare=True).items] == [ids[4]]
    assert jobs.page(kinds=["dpo"]).items == ()
    with pytest.raises(RefusedError):
        jobs.page(after="ftjob-nothing")


def test_watchers_are_told_each_event_once_whatever_happens_to_the_service(jobs: Jobs, home: Path) -> None:
    made = jobs.create(plan("wait,done"))
    pid(jobs, made.id)
    jobs.pause(made.id)
    until(jobs, made.id, Status.PAUSED)
    jobs.stop()
    later = another(home)
    later.jobs.start()
    later.jobs.resume(made.id)
    until(later.jobs, made.id, Status.SUCCEEDED)
    told = later.bus.past([f"job:{made.id}"])
    later.jobs.stop()
    later.close()
    ids = [event.data["id"] for event in told if event.kind == "event"]
    assert ids == [event.id for event in jobs.events(made.id, limit=100).items][::-1]
    statuses = [event.data["status"] for event in told if event.kind == "status"]
    changes = [one for one, before in zip(statuses, ["", *statuses], strict=False) if one != before]
    assert changes[:6] == ["queued", "validating_files", "running", "pausing", "paused", "queued"]
    assert changes[-1] == "succeeded"


BAD: list[tuple[dict[str, Any], str]] = [
    ({"stages": [{"kind": "sft", "rows": "/etc/passwd", "steps": 1}]}, "no files but its own"),
    ({"stages": [{"kind": "dpo", "pairs": "../job.json", "steps": 1}]}, "no files but its own"),
    ({"tasks": {"train": {"files": ["tasks.jsonl"]}, "eval": {"files": ["/etc/hosts"]}}}, "no files but its own"),
    ({"stages": [{"kind": "grpo", "env": "/tmp/x.py:env"}]}, "cannot be named here"),
    ({"stages": [{"kind": "grpo", "trl": {"logging_dir": "/tmp/x"}}]}, "cannot be set"),
    ({"stages": [{"kind": "grpo", "trl": {"push_to_hub": True}}]}, "cannot be set"),
    ({"stages": [{"kind": "grpo", "trl": {"log_completions_hub_repo": "x"}}]}, "cannot be set"),
    ({"stages": [{"kind": "grpo", "trl": {"torch_compile_backend": "inductor"}}]}, "cannot be set"),
    ({"stages": [{"kind": "grpo", "trl": {"report_to": "all"}}]}, "cannot be set"),
    ({"stages": [{"kind": "grpo", "trl": {"optim": "/tmp/x"}}]}, "cannot be set"),
    ({"report_to": ["nothing"]}, "not installed"),
    ({"stages": [{"kind": "grpo", "num_generation": 8}]}, "did you mean num_generations"),
    ({"stages": []}, "at least 1"),
    ({"policy": "builtin:tiny", "control": "wrong"}, "control"),
]


@pytest.mark.parametrize(("changes", "why"), BAD)
def test_a_recipe_that_reaches_for_this_machine_is_refused(
    service: Service, home: Path, changes: dict[str, Any], why: str
) -> None:
    with pytest.raises(RefusedError, match=why):
        service.jobs.create(plan(**changes))
    assert list((home / ".lydite/jobs").iterdir()) == []


def test_tasks_are_looked_at_before_there_is_a_job(service: Service, home: Path) -> None:
    asked = plan()
    task = {"prompt": "?", "checker": {"type": "/tmp/x.py:check", "config": {}}}
    for documents, why in (
        ([task], "cannot be named here"),
        ([{"prompt": "?", "checker": {"type": "maths", "config": {"answer": "1"}}}], "did you mean 'math'"),
        ([{"prompt": "?", "checker": {"type": "math", "config": {}}}], "line 1: is missing"),
        ([{"prompt": "?", "checker": {"type": "math", "config": {"answer": "1"}}}] * 2, "stands at tasks.jsonl:1"),
    ):
        with pytest.raises(RefusedError, match=why) as refused:
            service.jobs.create(msgspec.structs.replace(asked, files={"tasks.jsonl": jsonl(documents)}))
        assert str(home) not in str(refused.value)
    for name in ("../tasks.jsonl", "job.json", "a/b", ""):
        with pytest.raises(RefusedError, match="no name for a file"):
            service.jobs.create(msgspec.structs.replace(asked, files={**asked.files, name: b""}))
    assert list((home / ".lydite/jobs").iterdir()) == []


def test_many_tasks_are_looked_at_by_the_job_itself(service: Service, home: Path) -> None:
    asked = plan()
    fine = {"prompt": "?" * 1000, "checker": {"type": "math", "config": {"answer": "1"}}}
    documents = [{**fine, "id": str(number)} for number in range(4500)]
    documents[4321]["checker"] = {"type": "maths", "config": {}}
    service.jobs.start()
    made = service.jobs.create(msgspec.structs.replace(asked, files={"tasks.jsonl": jsonl(documents)}))
    row = until(service.jobs, made.id, lambda row: row.status.over)
    service.jobs.stop()
    assert row.status is Status.FAILED
    assert "line 4322" in str(row.error)
    assert "did you mean 'math'" in str(row.error)
    assert str(home) not in str(row.error)
    assert row.document["result"]["error_code"] == "invalid_job"
    assert row.document["result"]["error_param"] == "checker.type"


def test_a_job_that_has_hardly_begun_is_paused(service: Service, home: Path) -> None:
    service.jobs.start()
    made = service.jobs.create(plan())
    until(service.jobs, made.id, lambda _: service.jobs.state(made.id) is not None)
    service.jobs.pause(made.id)
    until(service.jobs, made.id, Status.PAUSED)
    assert service.jobs.cancel(made.id).status is Status.CANCELLED
    service.jobs.stop()


def test_a_process_that_no_service_knows_ends(service: Service, home: Path) -> None:
    made = service.jobs.create(plan())
    folder = JobFolder(home / ".lydite/jobs" / made.id)
    folder.stand(msgspec.structs.replace(folder.standing(), status=Status.VALIDATING, launches=2, pid=1))
    command = [sys.executable, "-m", "lydite.server.jobs.child", str(folder.path)]
    assert subprocess.run(command, capture_output=True, timeout=60).returncode == 3
    assert not (home / "runs").exists()


def test_pages_of_events_go_backwards_through_a_long_file_with_torn_lines(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path / "ftjob-0123456789abcdef01234567")
    folder.path.mkdir()
    for number in range(300):
        folder.append(f"event {number}", data={"fill": "x" * (number * 7 % 1500)})
        if number == 150:
            with open(folder.path / "events.jsonl", "ab") as file:
                file.write(b'{"time": 1, "mess')
    seen: list[str] = []
    after, more = None, True
    while more:
        page, more = folder.latest(37, after)
        seen += [event.message for event in page]
        after = page[-1].id
    assert seen == [f"event {number}" for number in reversed(range(300))]
    forwards = list(folder.events(0))
    assert [event.message for _, event in forwards] == seen[::-1]
    assert folder.offset_behind(forwards[7][1].id) == forwards[7][0]
    for wrong in ("", "ftevent-0", forwards[0][1].id[:-12] + "-00000000001", forwards[0][1].id + "0"):
        with pytest.raises(RefusedError):
            folder.latest(1, wrong)

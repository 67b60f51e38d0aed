"""The list of runs, in a real browser."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from jobs_making import plan as job_plan
from page_making import Site, serving
from server_making import sampled, trained

from lydite.ledger import RunFolder
from lydite.server.app import create_app
from lydite.server.errors import RefusedError
from lydite.server.index.rows import RunRow
from lydite.server.jobs import making
from lydite.server.jobs.status import Plan, Status
from lydite.server.jobs.store import Standing
from lydite.server.page import progress, runs_view, standing
from lydite.server.service import Service
from lydite.server.settings import Settings


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    sampled(home, "sampled")
    trained(home, "group/trained")
    broken = sampled(home, "broken", tasks=1)
    (broken / "run.json").write_text("{")
    with serving(home) as site:
        yield site


def test_runs_are_shown_in_any_window(site: Site) -> None:
    def check(page: Any) -> None:
        row = page.locator("[data-run='group~trained']")
        assert "group / trained" in row.inner_text()
        assert row.locator("svg.spark").is_visible()
        assert "unreadable" in page.locator("[data-run=broken]").inner_text()

    site.looks("/", check)


def test_runs_are_shown_without_script(site: Site) -> None:
    page = site.open("/?kind=train", script=False)
    assert page.locator("tr[data-run]").count() == 1
    page.locator("select[name=kind]").select_option("sample")
    page.locator("form.filters button").click()
    page.wait_for_url("**kind=sample**")
    assert page.locator("tr[data-run]").all_inner_texts()
    assert page.locator("[data-run='group~trained']").count() == 0
    page.locator("[data-run=sampled] a").first.click()
    page.wait_for_url("**/runs/sampled")


def test_filters_live_in_the_address(site: Site) -> None:
    page = site.open("/")
    page.locator("input[name=q]").fill("trained")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?q=trained")
    assert page.locator("tr[data-run]").count() == 1
    assert "1 found" in page.locator("#runs-count").inner_text()
    page.locator("input[name=q]").fill("nothing like it")
    page.keyboard.press("Enter")
    page.get_by_text("No run is like that").wait_for()
    site.check(page)


def test_a_search_is_text_wherever_it_is_shown(site: Site) -> None:
    page = site.open('/?q="><script>window.pwned=1</script>&state=<b>')
    assert page.locator("input[name=q]").input_value() == '"><script>window.pwned=1</script>'
    site.check(page)


def test_a_new_run_comes_in_and_its_line_follows_it(site: Site) -> None:
    page = site.open("/")
    page.locator("#live[data-state=on]").wait_for()
    page.evaluate("window.stayed = true")
    trained(site.home, "fresh", steps=2, finish=False)
    page.locator("[data-run=fresh]", has_text="2 steps").wait_for()
    with RunFolder.reopen(site.home / "runs" / "fresh") as run:
        run.metric({"kind": "grpo", "stage": 0, "step": 3, "reward": 0.9})
        page.locator("[data-run=fresh]", has_text="3 steps").wait_for()
        run.finish("complete")
    page.locator("[data-run=fresh] .state.complete").wait_for()
    assert page.locator("#runs-count").inner_text() == "4 in all"
    with RunFolder.reopen(site.home / "runs" / "sampled") as run:  # one that is further down stays there
        run.note(seen=True)
    shutil.rmtree(site.home / "runs" / "fresh")
    page.locator("[data-run=fresh]").wait_for(state="detached")
    assert page.evaluate("window.stayed")
    site.check(page)


def test_what_no_job_makes_cannot_be_paused(client: TestClient, home: Path, service: Service) -> None:
    sampled(home)
    service.index.refresh()
    for answer in (client.post("/runs/sampled/job/pause"), client.get("/runs/sampled/log")):
        assert answer.status_code == 404
        assert "there is no job" in answer.text


@pytest.mark.slow
def test_a_job_is_watched_and_cancelled(site: Site) -> None:
    page = site.open("/")
    page.locator("#live[data-state=on]").wait_for()
    page.set_default_timeout(90_000)
    stage = {"kind": "grpo", "optimizer_steps": 500, "num_generations": 4, "prompts_per_step": 2}
    recipe = {
        "name": "watched",
        "policy": "builtin:tiny",
        "tasks": {"train": {"family": "arithmetic", "levels": [1], "n": 20}, "eval_fraction": 0.2},
        "evaluation": {"n": 1, "k": [1], "limit": 2, "max_tokens": 16},
        "stages": [{**stage, "max_completion_length": 16}],
    }
    plan = Plan(kind="reinforcement", model="builtin:tiny", model_asked="tiny", recipe=recipe, files={}, name="watched")
    job = site.service.jobs.create(plan)
    page.locator(".waiting", has_text="watched").wait_for()
    line = page.locator(f"[data-run='{job.run}']")
    line.locator("progress[aria-label='0 grpo']").wait_for()
    page.once("dialog", lambda dialog: dialog.accept())
    line.locator("a").first.click()
    page.get_by_role("button", name="Cancel").click()
    page.locator(".state.cancelled").wait_for()
    assert page.get_by_role("button", name="Resume").count() == 0
    page.get_by_role("link", name="Log").click()
    page.locator("pre.words", has_text="Step 1/500").wait_for()
    assert "cancelled" in page.locator(".heading").inner_text()
    site.check(page)


def test_a_job_without_a_run_is_shown_where_its_run_will_be(home: Path) -> None:
    service = Service(Settings(home=home, jobs=0))
    client = TestClient(create_app(service), base_url="http://127.0.0.1:7799")
    job = service.jobs.create(job_plan("sums"))
    shown = client.get(f"/runs/{job.run}").text
    assert "It waits for room" in shown
    assert 'http-equiv="refresh"' in shown
    client.post(f"/runs/{job.run}/job/cancel")
    shown = client.get(f"/runs/{job.run}").text
    assert "cancelled before there was a run" in shown
    assert "Resume" not in shown
    assert 'http-equiv="refresh"' not in shown
    service.close()


def test_jobs_that_wait_say_behind_how_many(home: Path) -> None:
    service = Service(Settings(home=home, jobs=0))
    client = TestClient(create_app(service), base_url="http://127.0.0.1:7799")
    first, second = (service.jobs.create(job_plan(name)) for name in ("sums", "others"))
    assert "2 of 2 in the queue" in client.get(f"/runs/{second.run}").text
    for _ in range(runs_view.LATEST):  # newer ones that are over hide none that waits
        service.jobs.cancel(service.jobs.create(job_plan("more")).id)
    assert "1 of 2 in the queue" in client.get("/").text
    service.jobs.cancel(first.id)
    assert "1 of 1 in the queue" in client.get(f"/runs/{second.run}/standing").text
    assert client.get("/runs/ftjob-none").status_code == 404
    service.close()


@pytest.mark.parametrize("has_run", [False, True])
def test_what_a_state_does_not_allow_is_not_offered_and_comes_back_with_a_sentence(home: Path, has_run: bool) -> None:
    service = Service(Settings(home=home, jobs=0))
    client = TestClient(create_app(service), base_url="http://127.0.0.1:7799")
    job = service.jobs.create(job_plan("sums"))
    if has_run:
        sampled(home, job.run)
        service.index.refresh()
    service.jobs.cancel(job.id)
    shown = client.get(f"/runs/{job.run}").text
    assert 'class="chip state cancelled"' in shown
    assert f"/runs/{job.run}/job/" not in shown
    listed = f'data-run="{job.run}"'
    assert (listed in client.get("/?state=cancelled").text) == has_run
    assert listed not in client.get("/?state=complete").text
    for act, told in (("resume", "resumed"), ("pause", "paused"), ("cancel", "cancelled")):
        answer = client.post(f"/runs/{job.run}/job/{act}")
        assert answer.status_code == 200
        assert answer.url.path == f"/runs/{job.run}"
        assert f"The job is cancelled and cannot be {told}." in answer.text
    came = {"Referer": "http://127.0.0.1:7799/runs/x?a=1"}
    wrong = client.post(f"/runs/{job.run}/job/burn", headers=came)
    assert wrong.status_code == 404
    assert '<a href="/runs/x?a=1">Back</a>' in wrong.text
    service.close()


def test_a_button_of_a_job_that_waits_stands_in_its_line(site: Site) -> None:
    folder = making.make(site.service.home, job_plan("sums"))
    folder.stand(Standing(status=Status.PAUSED))
    site.service.jobs.reload()
    page = site.open("/")
    assert page.locator(".waiting .panel", has_text="sums").get_by_role("button", name="Cancel").count() == 1
    site.check(page)
    site.service.jobs.cancel(folder.id)


def test_each_state_offers_what_jobs_do_in_it(home: Path) -> None:
    service = Service(Settings(home=home, jobs=0))
    made = service.jobs.create(job_plan("sums"))
    folder = service.jobs.keeper.desk.folder(made.id)
    acts = {"pause": service.jobs.pause, "resume": service.jobs.resume, "cancel": service.jobs.cancel}
    for status in (Status.QUEUED, Status.PAUSED, Status.FAILED, Status.SUCCEEDED, Status.CANCELLED):
        for act, do in acts.items():
            service.jobs.keeper.desk.change(folder, folder.standing(), status=status)
            if act in standing.ACTS[status]:
                do(made.id)
            elif (status, act) not in ((Status.QUEUED, "pause"), (Status.PAUSED, "pause")):  # allowed, of no use
                with pytest.raises(RefusedError):
                    do(made.id)
    service.close()


def test_the_page_of_a_job_becomes_that_of_its_run(site: Site) -> None:
    folder = making.make(site.service.home, job_plan("sums"))
    folder.stand(Standing(status=Status.PAUSED))
    site.service.jobs.reload()
    page = site.open(f"/runs/{folder.id}", width=360)
    page.locator("#live[data-state=on]").wait_for()
    page.get_by_text("It is paused").wait_for()
    sampled(site.home, folder.id)
    page.get_by_role("link", name="Groups").first.wait_for()
    page.locator(".state.paused").wait_for()
    site.check(page)
    shutil.rmtree(site.home / "runs" / folder.id)
    site.service.jobs.cancel(folder.id)


def test_planned_steps_are_those_of_the_recipe() -> None:
    settings = json.loads(
        '{"stages": [{"kind": "sample"}, {"kind": "grpo", "optimizer_steps": 40}, {"kind": "sft", "steps": 5}, 7]}'
    )
    assert progress.planned(RunRow(id="x", kind="train", created="", state="running", settings=settings)) == 45
    assert progress.planned(RunRow(id="x", kind="train", created="", state="running", settings={"stages": 3})) == 0


def test_folders_whose_names_cannot_be_shown_are_named(client: TestClient, home: Path) -> None:
    sampled(home, "plain", tasks=1)
    assert "Not shown" not in client.get("/").text
    sampled(home, "my run <b>", tasks=1)
    said = client.get("/").text
    assert "Not shown" in said
    assert "my run &lt;b&gt;" in said

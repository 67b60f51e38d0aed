"""What the engine asks for, keeps and counts."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from sampling_making import N, echo, lines, make_tasks, policy, run_sample

from lydite.errors import InputError, InterruptedRunError, UnavailableError
from lydite.ledger import RunFolder, verify_run
from lydite.policies.protocol import Attempt, Prompt, SamplingParams
from lydite.policies.scripted import ScriptedPolicy
from lydite.rollout import FinishReason, Message
from lydite.sampling import SampleTotals, attempt_seed
from lydite.task import Checker, Task


class Recording(ScriptedPolicy):
    """Remembers what it was asked, and may fail at the n-th call."""

    def __init__(self, *, fail_at: int | None = None, error: Exception | None = None, batch: int = 2) -> None:
        super().__init__(echo, batch=batch, concurrency=1)
        self.calls: list[tuple[list[str], list[list[int]], list[list[int]]]] = []
        self._fail_at, self._error = fail_at, error

    async def generate(
        self,
        prompts: Sequence[Prompt],
        seeds: Sequence[Sequence[int]],
        params: SamplingParams,
        *,
        indices: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Attempt]]:
        assert indices is not None
        self.calls.append(
            ([prompt[0].content for prompt in prompts], [list(row) for row in seeds], [list(row) for row in indices])
        )
        if self._error is not None and len(self.calls) == self._fail_at:
            raise self._error
        return await super().generate(prompts, seeds, params, indices=indices)


def test_every_attempt_has_its_id_and_seed_and_is_recorded_once(tmp_path: Path) -> None:
    run_sample(tmp_path / "run", make_tasks(5))
    rows = list(RunFolder.open(tmp_path / "run").rows())
    wanted = {
        f"sample/t{task}/{index}": attempt_seed(7, "sample", f"t{task}", index)
        for task in range(5)
        for index in range(N)
    }
    assert len(rows) == len(wanted)
    assert {row.rollout.id: row.rollout.seed for row in rows} == wanted


def test_batch_and_concurrency_change_nothing_about_the_attempts(tmp_path: Path) -> None:
    run_sample(tmp_path / "a", make_tasks(9), policy(batch=1, concurrency=1))
    run_sample(tmp_path / "b", make_tasks(9), policy(batch=4, concurrency=8))
    assert lines(tmp_path / "a") == lines(tmp_path / "b")


def test_totals_count_outcomes_and_signals(tmp_path: Path) -> None:
    answers = [["0", "0", "0"], ["1", "x", "1"], ["x", "x", "x"]]
    speaker = ScriptedPolicy(lambda prompt, seed, index: answers[int(prompt[0].content)][index], batch=2)
    totals = run_sample(tmp_path / "run", make_tasks(3), speaker)
    assert (totals.outcomes["correct"], totals.outcomes["incorrect"]) == (5, 4)
    assert totals.groups == {"mixed": 1, "all_correct": 1, "all_wrong": 1, "invalid": 0}
    assert totals.correct_rate == 5 / 9
    assert totals.head == RunFolder.open(tmp_path / "run").info.head


def test_tokens_are_summed_and_unknown_ones_are_told(tmp_path: Path) -> None:
    said = (Message(role="assistant", content="0"),)
    attempts = [
        Attempt(completion=said, prompt_tokens=5, completion_tokens=7),
        Attempt(completion=said, finish=FinishReason.LENGTH, prompt_tokens=5, completion_tokens=9),
        Attempt(completion=said),
    ]
    totals = run_sample(tmp_path / "run", make_tasks(1), ScriptedPolicy(attempts))
    assert (totals.prompt_tokens, totals.completion_tokens, totals.uncounted, totals.truncated) == (10, 16, 1, 1)


def test_a_failing_request_is_invalid_and_never_wrong(tmp_path: Path) -> None:
    speaker = ScriptedPolicy(["0", Attempt(error="http_500", finish=FinishReason.ERROR), "0"])
    totals = run_sample(tmp_path / "run", make_tasks(1), speaker)
    assert (totals.outcomes["invalid"], totals.outcomes["incorrect"]) == (1, 0)
    assert totals.invalid_reasons == {"policy_error:http_500": 1}
    assert totals.correct_rate == 1.0
    row = list(RunFolder.open(tmp_path / "run").rows())[1]
    assert (row.rollout.error, row.record.reward, row.record.verdict.score) == ("http_500", None, None)


def test_a_partly_done_group_is_completed_with_the_seeds_it_would_have_had(tmp_path: Path) -> None:
    tasks = make_tasks(3)
    run_sample(tmp_path / "whole", tasks)
    path = tmp_path / "run"
    with RunFolder.create(path, kind="sample", settings={"n": N}, tasks=tasks):
        pass
    whole = {row.rollout.id: row for row in RunFolder.open(tmp_path / "whole").rows()}
    kept = [(tmp_path / "whole" / "rollouts.jsonl").read_bytes().splitlines()[place] for place in (1, 3, 4, 5)]
    (path / "rollouts.jsonl").write_bytes(b"\n".join([*kept, b""]))
    speaker = Recording()
    totals = run_sample(path, tasks, speaker)
    assert speaker.calls == [
        (
            ["0", "2"],
            [
                [whole["sample/t0/0"].rollout.seed, whole["sample/t0/2"].rollout.seed],
                [whole[f"sample/t2/{index}"].rollout.seed for index in range(N)],
            ],
            [[0, 2], [0, 1, 2]],
        )
    ]
    assert lines(path) == lines(tmp_path / "whole")
    assert (totals.rollouts, totals.resumed, sum(totals.groups.values())) == (9, 4, 3)


def test_a_finished_run_asks_nothing_and_gives_the_same_totals(tmp_path: Path) -> None:
    first = run_sample(tmp_path / "run", make_tasks(4))
    speaker = Recording()
    second = run_sample(tmp_path / "run", make_tasks(4), speaker)
    assert speaker.calls == []
    assert (second.outcomes, second.groups, second.head, second.resumed) == (
        first.outcomes,
        first.groups,
        first.head,
        12,
    )


def test_a_policys_refusal_is_raised_after_what_was_done_is_safe(tmp_path: Path) -> None:
    speaker = Recording(fail_at=3, error=UnavailableError("the server is gone"))
    with pytest.raises(UnavailableError, match="the server is gone"):
        run_sample(tmp_path / "run", make_tasks(8), speaker)
    found = verify_run(tmp_path / "run")
    assert (found.problem, found.records, found.state, found.sealed) == (None, 2 * 2 * N, "interrupted", True)
    assert run_sample(tmp_path / "run", make_tasks(8)).rollouts == 8 * N


def test_a_policy_that_does_not_keep_its_contract_is_caught(tmp_path: Path) -> None:
    class Short(ScriptedPolicy):
        async def generate(self, *args: object, **kwargs: object) -> list[list[Attempt]]:
            return [row[:-1] for row in await super().generate(*args, **kwargs)]  # type: ignore[arg-type]

    with pytest.raises(RuntimeError, match="contract"):
        run_sample(tmp_path / "run", make_tasks(2), Short(echo))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_cleanly_and_the_run_goes_on(tmp_path: Path, number: signal.Signals) -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)

    def interrupting(prompt: Prompt, seed: int, index: int) -> str:
        if prompt[0].content == "20" and index == 0:
            os.kill(os.getpid(), number)
        return echo(prompt, seed, index)

    with pytest.raises(InterruptedRunError, match="the same command goes on") as caught:
        run_sample(tmp_path / "run", make_tasks(200), ScriptedPolicy(interrupting, batch=2, concurrency=1))
    assert caught.value.exit_code == 3
    found = verify_run(tmp_path / "run")
    assert (found.problem, found.state, found.sealed) == (None, "interrupted", True)
    assert 0 < found.records < 600
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
    assert run_sample(tmp_path / "run", make_tasks(200)).rollouts == 600
    assert verify_run(tmp_path / "run").state == "complete"


def test_a_signal_stops_a_policy_that_hangs(tmp_path: Path) -> None:
    class Hanging(Recording):
        async def generate(self, *args: object, **kwargs: object) -> list[list[Attempt]]:
            answers = await super().generate(*args, **kwargs)  # type: ignore[arg-type]
            if len(self.calls) == 2:
                threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
                await asyncio.sleep(3600)
            return answers

    with pytest.raises(InterruptedRunError):
        run_sample(tmp_path / "run", make_tasks(8), Hanging())
    assert verify_run(tmp_path / "run").records == 2 * N


def test_tasks_are_taken_only_as_they_are_needed(tmp_path: Path) -> None:
    tasks, taken, asked = make_tasks(1000), [], []

    def feed():  # type: ignore[no-untyped-def]
        for task in tasks:
            taken.append(task.id)
            yield task

    def counting(prompt: Prompt, seed: int, index: int) -> str:
        asked.append(len(taken))
        return echo(prompt, seed, index)

    with RunFolder.create(tmp_path / "run", kind="sample", settings={}, tasks=tasks) as run:
        from lydite.sampling import Judge, sample

        asyncio.run(
            sample(
                feed(), ScriptedPolicy(counting, batch=2, concurrency=2), run,
                phase="sample", n=1, params=SamplingParams(), seed=0, judge=Judge(),
            )
        )  # fmt: skip
    assert len(asked) == 1000
    assert max(ahead - done for done, ahead in enumerate(asked)) <= 4


def test_progress_is_told_and_ends_at_the_total(tmp_path: Path) -> None:
    told: list[tuple[int, int | None, int]] = []

    def progress(done: int, total: int | None, totals: SampleTotals) -> None:
        told.append((done, total, totals.rollouts))

    run_sample(tmp_path / "run", make_tasks(10), progress=progress)
    assert told[-1] == (30, 30, 30)
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)


def test_phases_of_one_run_are_apart(tmp_path: Path) -> None:
    tasks = make_tasks(2)
    run_sample(tmp_path / "run", tasks, phase="before")
    totals = run_sample(tmp_path / "run", tasks, phase="after")
    assert (totals.rollouts, totals.resumed) == (6, 0)
    assert verify_run(tmp_path / "run").records == 12


def test_what_is_judged_is_what_is_written(tmp_path: Path) -> None:
    run_sample(tmp_path / "run", make_tasks(1), ScriptedPolicy(["0\ud83d", "0", "\udc00"]))
    rows = list(RunFolder.open(tmp_path / "run").rows())
    assert rows[0].rollout.text == "0�"
    from lydite.ledger.replay import replay

    assert {item.match for item in replay(RunFolder.open(tmp_path / "run"))} == {"same"}


@pytest.mark.parametrize(
    ("options", "named"), [({"phase": "a/b"}, "phase"), ({"phase": ""}, "phase"), ({"concurrency": 0}, "concurrency")]
)
def test_unusable_arguments_are_named(tmp_path: Path, options: dict[str, object], named: str) -> None:
    with pytest.raises(InputError, match=named):
        run_sample(tmp_path / "run", make_tasks(1), **options)


def test_a_task_that_needs_an_unknown_environment_is_refused(tmp_path: Path) -> None:
    task = Task(id="w", prompt=(), checker=Checker(type="exact", config={"answer": "1"}), env="moon")
    with pytest.raises(InputError, match=r"no environment is called 'moon' .*workspace"):
        run_sample(tmp_path / "run", [task])

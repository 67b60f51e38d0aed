"""Sampling: groups of attempts at many tasks, concurrently, in bounded memory, resumable at any moment."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Sized
from typing import Any

import msgspec

from lydite.codec import well_formed
from lydite.environments import Environments
from lydite.errors import InputError, InterruptedRunError
from lydite.ledger import Graded, RunFolder
from lydite.policies.protocol import Attempt, Policy, SamplingParams
from lydite.rollout import FinishReason, Message, Rollout
from lydite.sampling.committer import Committer, Item
from lydite.sampling.episodes import Start, roll_out
from lydite.sampling.judge import Judge
from lydite.sampling.seeds import attempt_seed
from lydite.sampling.settle import settle
from lydite.sampling.signals import stop_on_signals
from lydite.sampling.totals import SampleTotals, Tally
from lydite.task import Task

Progress = Callable[[int, int | None, SampleTotals], None]
"""Called after each commit with: attempts that are done, how many there will be (where known), the totals so far."""

_WINDOW = 2048
"""Attempts that may wait to be judged before generation pauses."""

_Part = tuple[Task, Sequence[int]]


async def sample(
    tasks: Iterable[Task],
    policy: Policy,
    run: RunFolder,
    *,
    phase: str,
    n: int,
    params: SamplingParams,
    seed: int,
    judge: Judge,
    concurrency: int | None = None,
    progress: Progress | None = None,
    environments: Environments | None = None,
) -> SampleTotals:
    """Sample ``n`` attempts at each task, judge them, and append them to a run.

    Attempts that the run has already are left out, so a run that was stopped or killed goes on where it was, with the
    same seeds. Memory does not grow with the number of tasks: they are taken one by one, and what is in flight is
    bounded.

    Args:
        tasks: the tasks, all of them in the run's ``tasks.jsonl``, with ids of their own.
        policy: who answers.
        run: where everything goes; open to write. Its state is left ``running`` on success: the caller finishes it.
        phase: part of the run, the first part of each rollout's id.
        n: attempts per task, at least 1.
        params: sampling parameters for the policy.
        seed: the run's seed; see ``attempt_seed``.
        judge: who judges.
        concurrency: calls of the policy under way at once; the policy's own preference when not given.
        progress: told after each commit.
        environments: where the episodes of tasks with an ``env`` take place; those of this call, when not given.

    Raises:
        InputError: unusable arguments or task.
        InterruptedRunError: SIGINT or SIGTERM came (heeded in the main thread). What was done is committed.
        StorageError: the run cannot be written. What was acknowledged is safe.
        LyditeError: what the policy raised, after what was done has been committed.
    """
    _require(phase, n, concurrency)
    began = time.perf_counter()
    await asyncio.to_thread(settle, run, judge)
    tally, done = Tally(n), run.done(phase)
    if done:
        await asyncio.to_thread(_recount, tally, run, phase)
    worlds = environments if environments is not None else Environments()
    session = _Session(
        policy, run, phase=phase, params=params, seed=seed, judge=judge, tally=tally, progress=progress,
        total=len(tasks) * n if isinstance(tasks, Sized) else None, worlds=worlds,
    )  # fmt: skip
    parts = _parts(tasks, phase, n, done)
    try:
        stopped = await session.sample(_batched(parts, max(1, policy.batch)), concurrency or max(1, policy.concurrency))
    finally:
        if environments is None:
            await asyncio.to_thread(worlds.close)
    tally.totals.seconds = time.perf_counter() - began
    tally.totals.head = run.info.head
    if stopped:
        run.finish("interrupted")
        raise InterruptedRunError(
            f"stopped: {tally.totals.rollouts} attempts are safe in {run.path}; the same command goes on from there"
        )
    return tally.totals


def _require(phase: str, n: int, concurrency: int | None) -> None:
    if not phase or "/" in phase:
        raise InputError(f"must be a word without '/', not {phase!r}", field="phase")
    if n < 1:
        raise InputError(f"must be at least 1, not {n}", field="n")
    if concurrency is not None and concurrency < 1:
        raise InputError(f"must be at least 1, not {concurrency}", field="concurrency")


def _recount(tally: Tally, run: RunFolder, phase: str) -> None:
    for row in run.rows(phase):
        tally.add(row.rollout, row.record.verdict, row.record.flags)
    tally.totals.resumed = tally.totals.rollouts


def _parts(tasks: Iterable[Task], phase: str, n: int, done: Collection[str]) -> Iterator[_Part]:
    """Tasks with the attempts that they lack."""
    for task in tasks:
        lacking = range(n) if not done else [i for i in range(n) if f"{phase}/{task.id}/{i}" not in done]
        if lacking:
            yield task, lacking


def _batched(parts: Iterator[_Part], size: int) -> Iterator[list[_Part]]:
    batch: list[_Part] = []
    for part in parts:
        batch.append(part)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


class _Session:
    """One call of ``sample``: workers that ask the policy, and the committer that they feed."""

    def __init__(
        self,
        policy: Policy,
        run: RunFolder,
        *,
        phase: str,
        params: SamplingParams,
        seed: int,
        judge: Judge,
        tally: Tally,
        progress: Progress | None,
        total: int | None,
        worlds: Environments,
    ) -> None:
        self._policy, self._run, self._phase, self._params, self._seed = policy, run, phase, params, seed
        self._judge, self._tally, self._progress, self._total = judge, tally, progress, total
        self._worlds = worlds
        self._waiting = 0
        self._room = asyncio.Event()
        self._room.set()
        self._failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def sample(self, batches: Iterator[list[_Part]], concurrency: int) -> bool:
        """Work through the batches; whether a signal stopped it before the end."""
        loop = asyncio.get_running_loop()
        committer = Committer(
            self._run,
            self._judge,
            lambda graded: _call(loop, self._committed, graded),
            lambda error: _call(loop, self._fail, error),
        )
        with stop_on_signals(loop) as stop:
            stopping = asyncio.ensure_future(stop.wait())
            workers = [asyncio.ensure_future(self._work(batches, committer)) for _ in range(concurrency)]
            everyone = asyncio.gather(*workers)
            try:
                ends: list[asyncio.Future[Any]] = [everyone, stopping, self._failure]
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                finished = everyone.done() and not everyone.cancelled()
            finally:
                # Reached on any way out: what was generated is judged and committed before anything is raised.
                for task in (*workers, stopping):
                    task.cancel()
                await asyncio.gather(*workers, stopping, return_exceptions=True)
                await asyncio.to_thread(committer.close)
                await asyncio.sleep(0)  # lets the committer's last report through
                with contextlib.suppress(BaseException):
                    everyone.exception()
        if self._failure.done():
            self._failure.result()
        if finished:
            everyone.result()
        return not finished

    async def _work(self, batches: Iterator[list[_Part]], committer: Committer) -> None:
        for batch in batches:
            items = await self._answered([part for part in batch if part[0].env == "none"])
            for name in dict.fromkeys(task.env for task, _ in batch if task.env != "none"):
                items += await self._acted(name, [part for part in batch if part[0].env == name])
            self._waiting += len(items)
            committer.put(items)
            if self._waiting >= _WINDOW:
                self._room.clear()
            await asyncio.sleep(0)  # a policy that never waits must not keep signals and reports from being heard
            await self._room.wait()

    def _seeds(self, part: _Part) -> list[int]:
        task, indices = part
        return [attempt_seed(self._seed, self._phase, task.id, index) for index in indices]

    async def _answered(self, batch: Sequence[_Part]) -> list[Item]:
        """Attempts at tasks that are answered in text."""
        if not batch:
            return []
        seeds = [self._seeds(part) for part in batch]
        answers = await self._policy.generate(
            [task.prompt for task, _ in batch], seeds, self._params, indices=[indices for _, indices in batch]
        )
        if [len(row) for row in answers] != [len(row) for row in seeds]:
            raise RuntimeError(f"policy {self._policy.id} broke its contract: not one attempt per seed came back")
        items: list[Item] = []
        for (task, indices), row, attempts in zip(batch, seeds, answers, strict=True):
            digest = task.digest
            items.extend(
                (self._rollout(task, digest, index, number, attempt), task, None)
                for index, number, attempt in zip(indices, row, attempts, strict=True)
            )
        return items

    async def _acted(self, name: str, batch: Sequence[_Part]) -> list[Item]:
        """Attempts at tasks that have an environment: an episode each."""
        environment = self._worlds.find(name)
        starts = [
            Start(task=part[0], seed=seed, index=index)
            for part in batch
            for seed, index in zip(self._seeds(part), part[1], strict=True)
        ]
        episodes = await roll_out(self._policy, environment, starts, self._params)
        items: list[Item] = []
        for start, ended in zip(starts, episodes, strict=True):
            rollout = self._rollout(start.task, start.task.digest, start.index, start.seed, ended.attempt)
            rollout = msgspec.structs.replace(
                rollout,
                calls=ended.calls,
                env=f"{environment.name}@{environment.version}",
                workspace=ended.state.digest if ended.state is not None else None,
            )
            items.append((rollout, start.task, ended.state))
        return items

    def _rollout(self, task: Task, digest: str, index: int, seed: int, attempt: Attempt) -> Rollout:
        return Rollout(
            id=f"{self._phase}/{task.id}/{index}",
            task=task.id,
            task_digest=digest,
            phase=self._phase,
            index=index,
            seed=seed,
            policy=self._policy.id,
            prompt=task.prompt,
            completion=tuple(map(_well_formed, attempt.completion)),
            finish=FinishReason.ERROR if attempt.error is not None else attempt.finish,
            prompt_tokens=attempt.prompt_tokens,
            completion_tokens=attempt.completion_tokens,
            error=attempt.error,
        )

    def _committed(self, graded: Sequence[Graded]) -> None:
        self._waiting -= len(graded)
        if self._waiting < _WINDOW:
            self._room.set()
        for item in graded:
            self._tally.add(item.rollout, item.verdict, item.flags)
            self._tally.totals.verify_seconds += item.seconds
        if self._progress is not None:
            self._progress(self._tally.totals.rollouts, self._total, self._tally.totals)

    def _fail(self, error: BaseException) -> None:
        if not self._failure.done():
            self._failure.set_exception(error)


def _call(loop: asyncio.AbstractEventLoop, function: Callable[[Any], None], value: Any) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is gone: nobody is left to tell
        loop.call_soon_threadsafe(function, value)


def _well_formed(message: Message) -> Message:
    """What is judged must be what is written, and lone surrogates cannot be written."""
    text = well_formed(message.content)
    return message if text is message.content else msgspec.structs.replace(message, content=text)

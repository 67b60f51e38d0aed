"""The one reward column: completions become rollouts, are judged, enter the ledger, and go back to TRL as numbers.

One column only, because TRL sums several with ``nansum``: a sample without a reward in one of them would count as 0
there and bias its group. ``None`` from the only column leaves the group's baseline and gets advantage 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

import msgspec

from lydite.codec import well_formed
from lydite.errors import UnavailableError
from lydite.ledger import Graded, RunFolder
from lydite.rollout import FinishReason, Message, Rollout
from lydite.sampling import Judge
from lydite.task import Task
from lydite.training.controls import Control, exchanged
from lydite.training.presets import has_contrast, overlong_penalty
from lydite.training.recipe import GrpoStage
from lydite.training.trl.reward_metrics import reward_metrics

if TYPE_CHECKING:
    from lydite.sandbox import Snapshot
    from lydite.training.trl.environment import TrlEnvironment


class RewardColumn:
    """What TRL calls with every batch of completions.

    Attributes:
        decode: tokens to text. The text is made here, from the tokens, exactly as when a policy is measured.
        eos: tokens that end a completion.
        contrast: after a call, for each group in order, whether its rewards before any length penalty differ.
        rewards: after a call, what it returned.
        scores: after a call, the verdicts' scores; ``None`` where an attempt could not be judged.
    """

    def __init__(
        self,
        run: RunFolder,
        tasks: Sequence[Task],
        judge: Judge,
        stage: GrpoStage,
        *,
        index: int,
        seed: int,
        policy: str,
        control: Control,
        taken: Collection[str] = (),
        threads: Executor | None = None,
    ) -> None:
        """Prepare the column.

        Args:
            run: where every attempt and verdict is written.
            tasks: the tasks; the data set's column ``task`` holds positions in this sequence.
            judge: verifier, detectors and reward scheme.
            stage: the stage, for group size and overlong shaping.
            index: its number in the recipe.
            seed: the run's seed.
            policy: identity of the policy before the first step; the step is added to it.
            control: what training sees instead of the true reward.
            taken: phases already in the ledger. A step that a crash makes us repeat gets a new name, so that no attempt
                is lost, doubled or overwritten.
            threads: where checks that wait for processes of theirs run; one after another without them.
        """
        self._run, self._tasks, self._judge, self._stage = run, tasks, judge, stage
        self._index, self._seed, self._policy, self._control = index, seed, policy, control
        self._taken = frozenset(taken)
        self._threads = threads
        self._exchanged = exchanged(tasks, seed) if control.kind == "shuffled" else {}
        self._phase, self._count = "", Counter[str]()
        self.eos: frozenset[int] = frozenset()
        self.decode: Callable[[Sequence[int]], str] = str
        self.contrast: list[bool] = []
        self.rewards: list[float | None] = []
        self.scores: list[float | None] = []

    def score(
        self,
        *,
        completion_ids: Sequence[Sequence[int]],
        task: Sequence[int],
        trainer_state: Any,
        log_metric: Callable[[str, float], None],
        environments: Sequence[TrlEnvironment] | None = None,
        **_columns: Any,
    ) -> list[float | None]:
        """TRL's reward function: one number, or ``None``, per completion."""
        step = int(trainer_state.global_step) + 1
        worlds = environments if environments is not None else [None] * len(task)
        attempts = [
            self._attempt(self._tasks[position], ids, step, world)
            for position, ids, world in zip(task, completion_ids, worlds, strict=True)
        ]
        for _, _, state in attempts:
            if state is not None:
                self._run.keep(state)
        mapped = self._threads.map if self._threads is not None else map
        judged = list(mapped(lambda attempt: self._judge.judge(*attempt), attempts))
        regarded = self._judge.regard(judged, [asked for _, asked, _ in attempts])
        graded = [
            controlled(item, self._control, seed=self._seed, judge=self._judge, others=self._exchanged)
            for item in regarded
        ]
        size = self._stage.num_generations
        plain = [item.reward for item in graded]
        self.contrast = [has_contrast(plain[start : start + size]) for start in range(0, len(plain), size)]
        shaped = [overlong_shaped(item, self._stage) for item in graded]
        self._run.append(shaped)
        _require_some(shaped)
        for name, value in reward_metrics(shaped, size).items():
            log_metric(name, value)
        self.scores = [item.verdict.score for item in shaped]
        self.rewards = [item.reward for item in shaped]
        return self.rewards

    def _attempt(
        self, task: Task, ids: Sequence[int], step: int, world: TrlEnvironment | None
    ) -> tuple[Rollout, Task, Snapshot | None]:
        phase = self._phase_of(step)
        number = self._count[task.id]
        self._count[task.id] += 1
        ended = bool(ids) and ids[-1] in self.eos
        rollout = Rollout(
            id=f"{phase}/{task.id}/{number}",
            task=task.id,
            task_digest=task.digest,
            phase=phase,
            index=number,
            seed=self._seed,
            policy=f"{self._policy}@{self._index}.{step - 1}",
            prompt=task.prompt,
            completion=(Message(role="assistant", content=well_formed(self.decode(ids))),),
            finish=FinishReason.STOP if ended else FinishReason.LENGTH,
            completion_tokens=len(ids),
            step=step,
        )
        if world is None or world._environment is None:
            return rollout, task, None
        environment, how = world._environment, world._ended
        assert how is not None
        rollout = msgspec.structs.replace(
            rollout,
            completion=how.attempt.completion,
            finish=how.attempt.finish,
            prompt_tokens=how.attempt.prompt_tokens,
            completion_tokens=how.attempt.completion_tokens,
            error=how.attempt.error,
            calls=how.calls,
            env=f"{environment.name}@{environment.version}",
            workspace=how.state.digest if how.state is not None else None,
        )
        return rollout, task, how.state

    def _phase_of(self, step: int) -> str:
        name = f"train-{self._index}-{step}"
        attempt, phase = 1, name
        while phase in self._taken:
            attempt += 1
            phase = f"{name}.{attempt}"
        if phase != self._phase:
            self._phase = phase
            self._count.clear()
        return phase


def controlled(graded: Graded, control: Control, *, seed: int, judge: Judge, others: Mapping[str, Task]) -> Graded:
    """The sample with the reward that the control shows to training; the verdict stays what it is.

    Args:
        graded: the sample as it is.
        control: what training sees.
        seed: the run's seed.
        judge: what judged it.
        others: tasks with the checkers of other ones, for the control ``shuffled``.
    """
    if control.kind == "none":
        return graded
    elsewhere = None
    if control.kind == "shuffled" and graded.rollout.error is None:
        other = others[graded.rollout.task]
        elsewhere = judge.judge(msgspec.structs.replace(graded.rollout, task_digest=other.digest), other).reward
    reward = control.reward(
        graded.reward,
        seed=seed,
        rollout=graded.rollout.id,
        verdict=graded.verdict,
        flags=graded.flags,
        scheme=judge.scheme,
        elsewhere=elsewhere,
    )
    return msgspec.structs.replace(graded, reward=reward, scheme=f"{graded.scheme}+control={control}")


def overlong_shaped(graded: Graded, stage: GrpoStage) -> Graded:
    """The sample with what its length costs, where the stage says so."""
    length = graded.rollout.completion_tokens
    if stage.overlong is None or graded.reward is None or length is None:
        return graded
    penalty = overlong_penalty(length, stage.overlong, stage.max_completion_length)
    return msgspec.structs.replace(graded, reward=graded.reward + penalty, scheme=f"{graded.scheme}+overlong")


def _require_some(graded: Sequence[Graded]) -> None:
    """A batch in which no attempt at all had a world is no batch of bad luck: go no further."""
    errors = {item.rollout.error for item in graded}
    if None not in errors:
        raise UnavailableError(f"no attempt of this step could be made: {min(str(error) for error in errors)}")

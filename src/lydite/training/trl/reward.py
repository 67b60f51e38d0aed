"""The one reward column: completions become rollouts, are judged, enter the ledger, and go back to TRL as numbers.

One column only, because TRL sums several with ``nansum``: a sample without a reward in one of them would count as 0
there and bias its group. ``None`` from the only column leaves the group's baseline and gets advantage 0.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import Any

import msgspec

from lydite.codec import well_formed
from lydite.ledger import Graded, RunFolder
from lydite.reward import RewardScheme, Signal, signal
from lydite.rollout import FinishReason, Message, Rollout
from lydite.sampling import Judge
from lydite.task import Task
from lydite.training.controls import Control
from lydite.training.presets import has_contrast, overlong_penalty
from lydite.training.recipe import GrpoStage


class RewardColumn:
    """What TRL calls with every batch of completions.

    Attributes:
        decode: tokens to text. The text is made here, from the tokens, exactly as when a policy is measured.
        eos: tokens that end a completion.
        contrast: after a call, for each group in order, whether its rewards before any length penalty differ.
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
        """
        self._run, self._tasks, self._judge, self._stage = run, tasks, judge, stage
        self._index, self._seed, self._policy, self._control = index, seed, policy, control
        self._taken = frozenset(taken)
        self._phase, self._count = "", Counter[str]()
        self.eos: frozenset[int] = frozenset()
        self.decode: Callable[[Sequence[int]], str] = str
        self.contrast: list[bool] = []

    def score(
        self,
        *,
        completion_ids: Sequence[Sequence[int]],
        task: Sequence[int],
        trainer_state: Any,
        log_metric: Callable[[str, float], None],
        **_columns: Any,
    ) -> list[float | None]:
        """TRL's reward function: one number, or ``None``, per completion."""
        step = int(trainer_state.global_step) + 1
        graded = [
            self._grade(self._tasks[position], ids, step) for position, ids in zip(task, completion_ids, strict=True)
        ]
        size = self._stage.num_generations
        plain = [item.reward for item in graded]
        self.contrast = [has_contrast(plain[start : start + size]) for start in range(0, len(plain), size)]
        shaped = [overlong_shaped(item, self._stage) for item in graded]
        self._run.append(shaped)
        for name, value in _metrics(shaped, size).items():
            log_metric(name, value)
        return [item.reward for item in shaped]

    def _grade(self, task: Task, ids: Sequence[int], step: int) -> Graded:
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
        return controlled(self._judge.judge(rollout, task), self._control, seed=self._seed, scheme=self._judge.scheme)

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


def controlled(graded: Graded, control: Control, *, seed: int, scheme: RewardScheme) -> Graded:
    """The sample with the reward that the control shows to training; the verdict stays what it is."""
    if control.kind == "none":
        return graded
    reward = control.reward(
        graded.reward,
        seed=seed,
        rollout=graded.rollout.id,
        verdict=graded.verdict,
        flags=graded.flags,
        scheme=scheme,
    )
    return msgspec.structs.replace(graded, reward=reward, scheme=f"{graded.scheme}+control={control}")


def overlong_shaped(graded: Graded, stage: GrpoStage) -> Graded:
    """The sample with what its length costs, where the stage says so."""
    length = graded.rollout.completion_tokens
    if stage.overlong is None or graded.reward is None or length is None:
        return graded
    penalty = overlong_penalty(length, stage.overlong, stage.max_completion_length)
    return msgspec.structs.replace(graded, reward=graded.reward + penalty, scheme=f"{graded.scheme}+overlong")


def _metrics(graded: Sequence[Graded], size: int) -> dict[str, float]:
    """Shares of samples and of groups. ``pass_rate`` is the verifier's word, whatever control or shaping say."""
    total = len(graded)
    scores = [item.verdict.score for item in graded if item.verdict.score is not None]
    signals = Counter(signal(item.verdict for item in graded[start : start + size]) for start in range(0, total, size))
    reasons: dict[str, float] = defaultdict(float)
    reasons["invalid_rate"] = (total - len(scores)) / total
    reasons["suspected_hack_rate"] = sum(bool(item.flags) for item in graded) / total
    for kind in Signal:
        reasons[f"groups/{kind}"] = signals[kind] / sum(signals.values())
    if scores:
        reasons["pass_rate"] = sum(item.verdict.correct for item in graded) / len(scores)
    return dict(reasons)

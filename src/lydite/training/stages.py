"""One session of a run: the policy in memory, and what is done with it, part by part."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from lydite.codec import canonical
from lydite.environments import Environment, Environments
from lydite.errors import InputError, InterruptedRunError
from lydite.exports import preference_pairs
from lydite.exports.formats import Document, Format, sft_row
from lydite.ledger import Graded, RunFolder
from lydite.policies.hf import HFPolicy
from lydite.policies.protocol import SamplingParams
from lydite.policies.toolcalls import offered
from lydite.rollout import Rollout
from lydite.sampling import Judge, SampleTotals, sample
from lydite.task import Task
from lydite.training.controls import Control, exchanged
from lydite.training.curriculum import Schedule
from lydite.training.data import preference_documents, sft_documents
from lydite.training.demonstrations import demonstrations
from lydite.training.engines import choose_engine
from lydite.training.progress import Progress, Report
from lydite.training.recipe import DpoStage, Evaluation, GrpoStage, Recipe, SampleStage, SftStage
from lydite.training.results import PAIRS
from lydite.training.trl.callbacks import PrinterCallback, Stop, Watch, keep_checkpoints, last_checkpoint
from lydite.training.trl.grpo import grpo_trainer
from lydite.training.trl.model import Learner
from lydite.training.trl.reward import RewardColumn, controlled, overlong_shaped
from lydite.training.trl.rows import dpo_trainer, sft_trainer

FINAL = "final"
"""Folder, below a stage's checkpoints, of the policy as the stage left it."""


class Session:
    """The policy in memory and what is done with it.

    Opening a session loads the policy and, in a run that is resumed, the weights that the last finished stage left.
    """

    def __init__(self, recipe: Recipe, run: RunFolder, train: Sequence[Task], report: Report) -> None:
        self.recipe, self.run, self.train, self.report = recipe, run, train, report
        self.judge = Judge(recipe.reward.scheme())
        self.control = Control.parse(recipe.control)
        self.stop = Stop()
        self.environments = Environments()
        self.threads = ThreadPoolExecutor(2 * (os.cpu_count() or 1), thread_name_prefix="lydite-worlds")
        self.learner = Learner(recipe)
        if any(task.env != "none" for task in run.tasks()):
            self.learner.offer_tools()
            if self.learner.tools_note:
                run.note(chat_template=self.learner.tools_note)
        done = int(run.info.notes.get("stages", 0))
        saved = [folder for index in range(done) if (folder := self._folder(index) / FINAL).is_dir()]
        if saved:
            self.learner.restore(saved[-1])
        self._trained = bool(saved)

    def grade(self, rollout: Rollout, task: Task) -> Graded:
        """Judge a sample that a crash left without a verdict, as it would have been judged then."""
        graded = self.judge.judge(rollout, task, self.run.state(rollout.workspace))
        if not rollout.phase.startswith("train-"):
            return graded
        stage = self.recipe.stages[int(rollout.phase.split("-")[1])]
        assert isinstance(stage, GrpoStage)
        seed = self.recipe.seed
        others = exchanged(self.train, seed) if self.control.kind == "shuffled" else {}
        graded = controlled(graded, self.control, seed=seed, judge=self.judge, others=others)
        return overlong_shaped(graded, stage)

    def sample(self, phase: str, tasks: Sequence[Task], how: Evaluation | SampleStage) -> None:
        """Roll out groups with the policy as it is; attempts that are there already are not made again."""
        identity = self.learner.name + (f"+{self.learner.digest()[:16]}" if self._trained else "")
        learner = self.learner
        policy = HFPolicy(identity, learner.model, learner.tokenizer, plain=learner.plain, batch=64)
        total = len(tasks) * how.n

        def progress(done: int, _total: int | None, totals: SampleTotals) -> None:
            self.report(Progress(part=phase, done=done, total=total))

        asyncio.run(
            sample(
                list(tasks),
                policy,
                self.run,
                phase=phase,
                n=how.n,
                params=SamplingParams(temperature=how.temperature, top_p=how.top_p, max_tokens=how.max_tokens),
                seed=self.recipe.seed,
                judge=self.judge,
                progress=progress,
                environments=self.environments,
            )
        )

    def stage(self, index: int) -> None:
        """Carry out one stage of the recipe.

        Raises:
            InterruptedRunError: stopped on request; a checkpoint is there.
        """
        stage = self.recipe.stages[index]
        if isinstance(stage, SampleStage):
            self.sample(f"sample-{index}", self.train[: stage.limit], stage)
            self._write_pairs(index, stage)
            return
        folder = self._folder(index)
        with self.stop.listening():
            trainer = self._trainer(index, stage, folder)
            trainer.remove_callback(PrinterCallback)
            checkpoint = last_checkpoint(folder)
            if checkpoint is None:
                keep_checkpoints(folder, None)  # of a session that ended before the stage was known to be over
            try:
                trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
            finally:
                if isinstance(stage, GrpoStage):
                    trainer.close_worlds()
            finished = trainer.state.global_step >= trainer.state.max_steps
        self.learner.settle()
        if not finished:
            raise InterruptedRunError(f"stopped at step {trainer.state.global_step} of stage {index} ({stage.kind})")
        self._trained = True
        self.learner.save(folder / FINAL)
        keep_checkpoints(folder, stage.keep_checkpoints)
        if self.stop.requested:
            self.run.note(stages=index + 1)
            raise InterruptedRunError(f"stopped after stage {index} ({stage.kind})")

    def save(self) -> None:
        """Write the result: ``adapter/``, or ``model/`` after full fine-tuning."""
        self.learner.save(self.run.path / ("adapter" if self.learner.adapted else "model"))

    def _trainer(self, index: int, stage: SftStage | GrpoStage | DpoStage, folder: Path) -> Any:
        def report(step: int, total: int, metrics: dict[str, float], warnings: tuple[str, ...]) -> None:
            part = f"{index} {stage.kind}"
            self.report(Progress(part=part, done=step, total=total, metrics=metrics, warnings=warnings))

        callbacks = [Watch(self.run, index, stage.kind, self.stop, report)]
        if isinstance(stage, GrpoStage):
            self.run.note(**{f"engine-{index}": msgspec.to_builtins(choose_engine(stage.generation_engine))})
            column = RewardColumn(
                self.run,
                self.train,
                self.judge,
                stage,
                index=index,
                seed=self.recipe.seed,
                policy=self.learner.name,
                control=self.control,
                taken=_phases(self.run, f"train-{index}-"),
                threads=self.threads if any(self.judge.waits(task) for task in self.train) else None,
            )
            return grpo_trainer(
                self.recipe, index, self.learner, self.train, column, folder, callbacks,
                environments=self._worlds(index, stage), threads=self.threads,
                curriculum=self._curriculum(index, stage, folder),
            )  # fmt: skip
        if isinstance(stage, SftStage):
            rows = sft_documents(self.recipe, index, self.run, self.train, partial(self._demonstrated, index))
            return sft_trainer(self.recipe, index, self.learner, rows, folder, callbacks)
        pairs = self.recipe.resolve(stage.pairs) if stage.pairs else self.run.path / PAIRS
        rows = preference_documents(pairs, index, None if stage.pairs else self.run.info.notes.get("pairs"))
        return dpo_trainer(self.recipe, index, self.learner, rows, folder, callbacks)

    def _curriculum(self, index: int, stage: GrpoStage, folder: Path) -> Schedule | None:
        if stage.curriculum is None:
            return None
        schedule = Schedule(len(self.train), stage.curriculum, f"{self.recipe.seed}/{index}")
        if checkpoint := last_checkpoint(folder):
            schedule.restore(checkpoint)
        else:
            schedule.learn(self.run.rows(), self.train, index)
        return schedule

    def _worlds(self, index: int, stage: GrpoStage) -> dict[str, Environment | None]:
        """The environments of the training tasks; none at all where every task is answered in text."""
        names = dict.fromkeys(task.env for task in self.train)
        if stage.env is not None and (other := [name for name in names if name != stage.env]):
            raise InputError(
                f"asks for {stage.env}, and some training tasks have {other[0]}",
                field=f"stages.{index}.env",
                remedy="leave it out to take each task's own",
            )
        if set(names) == {"none"}:
            return {}
        return {name: None if name == "none" else self.environments.find(name) for name in names}

    def _demonstrated(self, index: int, tasks: Sequence[Task]) -> list[Document]:
        """Rows of reference solutions, carried out; what was left out is noted in the run."""
        rows: list[Document] = []
        refused: Counter[str] = Counter()
        for one in demonstrations(tasks, self.environments.find, self.judge, self.threads):
            if one.correct:
                row = sft_row(one.task.prompt, one.completion, Format.TRL)
                rows.append({**row, "tools": offered(self.environments.find(one.task.env).tools)})
            else:
                refused[one.why] += 1
        if rows or refused:
            self.run.note(**{f"demonstrations-{index}": {"rows": len(rows), "left_out": dict(refused)}})
        return rows

    def close(self) -> None:
        """Leave every world. Idempotent."""
        self.threads.shutdown(cancel_futures=True)
        self.environments.close()

    def _write_pairs(self, index: int, stage: SampleStage) -> None:
        rows, counts = preference_pairs(self.run, phase=f"sample-{index}", cap=stage.pairs_per_group)
        path = self.run.path / PAIRS
        fresh = path.with_suffix(".new")
        with open(fresh, "wb") as file:
            for row in rows:
                file.write(canonical(row) + b"\n")
        os.replace(fresh, path)
        self.run.note(pairs=msgspec.to_builtins(counts))

    def _folder(self, index: int) -> Path:
        return self.run.path / "checkpoints" / f"{index}-{self.recipe.stages[index].kind}"


def _phases(run: RunFolder, prefix: str) -> set[str]:
    """Phases of a stage that the ledger knows already: none in a new run, which is not read for it."""
    if not run.resumed:
        return set()
    return {row.rollout.phase for row in run.rows() if row.rollout.phase.startswith(prefix)}

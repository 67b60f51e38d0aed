"""What judges the attempts of a dump: nobody (the recorded reward stands), tasks of one's own, or one verifier."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec

from lydite.dumps.attempts import Attempt
from lydite.dumps.recorded import Recorded
from lydite.errors import InputError
from lydite.exports.checkers import Checkers, plain
from lydite.ledger.derive import derive
from lydite.ledger.record import Graded
from lydite.rollout import Rollout
from lydite.task import Checker, Task
from lydite.verifiers import CompiledChecker, build, checker_of
from lydite.verifiers.registry import RECORDED

_THREADS = 4


class Judging:
    """Finds the task of an attempt, and judges.

    Args:
        tasks: documents that stand for the dump's prompts: one whose prompt is the dumped one, else the longest whose
            prompt is found in it, as chat templates put words around a prompt.
        checkers: one verifier for all, with the dump's gold as its answer.
    """

    def __init__(self, tasks: Sequence[Task] = (), checkers: Checkers | None = None) -> None:
        for task in tasks:
            if task.env != "none":
                raise InputError(
                    f"task {task.id} is judged by what an episode leaves behind, which no dump holds",
                    field="env",
                    remedy="leave it out of --tasks",
                )
        self._checkers = checkers
        self._exact = {task.prompt_text.strip(): task for task in tasks}
        self._longest = sorted(self._exact, key=len, reverse=True)
        self._found: dict[str, Task | None] = {}

    @property
    def judges(self) -> bool:
        """Whether Lydite's verifiers are asked at all."""
        return self._checkers is not None or bool(self._exact)

    def task(self, attempt: Attempt, column: str) -> Task:
        """The task of an attempt: one of those given, or one that is made of its prompt and gold.

        Args:
            attempt: a row.
            column: the recorded reward's name, for a checker that says where verdicts come from.

        Raises:
            InputError: no task has this prompt, or the gold cannot be used; names file, row and field.
        """
        if self._exact:
            found = self._of_prompt(attempt)
            if found is None:
                raise attempt.wrong("no task has this prompt", "prompt", "give the tasks of the training as --tasks")
            return found
        if self._checkers is not None:
            try:
                checker = self._checkers.of(attempt.gold, "gold")[0]
            except InputError as error:
                raise attempt.wrong(error.message, error.field or "gold", error.remedy) from None
            metadata = {}
        else:
            checker = Checker(type=RECORDED, config={"reward": column})
            metadata = {} if attempt.gold is None else {"gold": plain(attempt.gold)}
        task = Task(id="", prompt=attempt.prompt, checker=checker, metadata=metadata)
        return msgspec.structs.replace(task, id=f"t-{task.digest[:12]}")

    def graded(
        self, attempts: Sequence[Attempt], rollouts: Sequence[Rollout], tasks: Sequence[Task], recorded: Recorded
    ) -> list[Graded]:
        """Attempts with their verdicts; the reward is the recorded one in any case, as it is what training saw.

        Raises:
            InputError: a recorded number cannot be used, or a checker.
        """
        if not self.judges:
            return [
                Graded(
                    rollout=rollout,
                    verdict=recorded.verdict(attempt),
                    reward=recorded.reward(attempt),
                    scheme=recorded.scheme,
                )
                for attempt, rollout in zip(attempts, rollouts, strict=True)
            ]
        checks = [build(checker_of(task)) for task in tasks]

        def judge(attempt: Attempt, rollout: Rollout, check: CompiledChecker) -> Graded:
            begin = time.perf_counter()
            verdict = derive(rollout, check)
            return Graded(
                rollout=rollout,
                verdict=verdict,
                reward=recorded.reward(attempt),
                scheme=recorded.scheme,
                verifier_source=check.source,
                seconds=round(time.perf_counter() - begin, 6),
            )

        if any(check.waits for check in checks):
            with ThreadPoolExecutor(_THREADS, thread_name_prefix="lydite-judge") as threads:
                return list(threads.map(judge, attempts, rollouts, checks))
        return list(map(judge, attempts, rollouts, checks))

    def _of_prompt(self, attempt: Attempt) -> Task | None:
        text = "\n\n".join(message.content for message in attempt.prompt).strip()
        if text not in self._found:
            last = attempt.prompt[-1].content.strip() if attempt.prompt else ""
            exact = self._exact.get(text) or self._exact.get(last)
            within = next((self._exact[words] for words in self._longest if words and words in text), None)
            self._found[text] = exact or within
        return self._found[text]

"""Real runs in a home, small and quick: judged by the real verifiers, written by the real ledger."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lydite.ledger import RunFolder
from lydite.rollout import Message, Rollout
from lydite.sampling import Judge
from lydite.task import Checker, Task

ANSWERS = ("{a} + {b} = {sum}\n\n\\boxed{{{sum}}}", "{sum}", "I think it is {wrong}.\n\n\\boxed{{{wrong}}}", "no idea")
"""Right with work, right without (a detector flags it), wrong, nothing to grade."""
HOSTILE = (
    '<script>window.pwned=1</script><img src=x onerror="window.pwned=1"> [x](javascript:window.pwned=1) \u202e RTL \x07'
    " \x1b[31mred\x1b[0m </textarea></pre> {{{{7*7}}}} \\boxed{{{sum}}}"
)


def make_task(number: int, split: str = "") -> Task:
    """``What is NUMBER + 2?``, judged by ``math``."""
    return Task(
        id=f"t{number}",
        prompt=(Message(role="user", content=f"What is {number} + 2?"),),
        checker=Checker(type="math", config={"answer": str(number + 2)}),
        solution=str(number + 2),
        split=split,
        difficulty="level-1",
    )


def _graded(judge: Judge, task: Task, phase: str, answers: Sequence[str], step: int | None = None) -> list:
    number = int(task.id[1:])
    graded = []
    for index, answer in enumerate(answers):
        words = answer.format(a=number, b=2, sum=number + 2, wrong=number + 3)
        rollout = Rollout(
            id=f"{phase}/{task.id}/{index}",
            task=task.id,
            task_digest=task.digest,
            phase=phase,
            index=index,
            seed=index,
            policy="scripted",
            prompt=task.prompt,
            completion=(Message(role="assistant", content=words),),
            prompt_tokens=9,
            completion_tokens=len(words),
            step=step,
        )
        graded.append(judge.judge(rollout, task))
    return judge.regard(graded, [task] * len(graded))


def sampled(home: Path, name: str = "sampled", *, tasks: int = 3, answers: Sequence[str] = ANSWERS) -> Path:
    """A finished run of kind ``sample``: every task is answered with all of ``answers``."""
    path = home / "runs" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    asked, judge = [make_task(number) for number in range(tasks)], Judge()
    with RunFolder.create(path, kind="sample", settings={"policy": "scripted", "n": len(answers)}, tasks=asked) as run:
        for task in asked:
            run.append(_graded(judge, task, "sample", answers))
        run.finish("complete")
    return path


def trained(home: Path, name: str = "trained", *, steps: int = 4, finish: bool = True) -> Path:
    """A run of kind ``train``: attempts before and after, and ``steps`` steps of one GRPO stage that gets better."""
    path = home / "runs" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    train, held_out = [make_task(number) for number in range(4)], [make_task(number, "eval") for number in range(4, 7)]
    with RunFolder.create(path, kind="train", settings={"policy": "builtin:tiny"}, tasks=[*train, *held_out]) as run:
        judge = Judge()
        for task in held_out:
            run.append(_graded(judge, task, "before", (ANSWERS[2], ANSWERS[0])))
        for step in range(1, steps + 1):
            train_step(run, judge, step, train[step % 4])
        for task in held_out:
            run.append(_graded(judge, task, "after", (ANSWERS[0], ANSWERS[0])))
        if finish:
            run.finish("complete")
    return path


def train_step(run: RunFolder, judge: Judge, step: int, task: Task) -> None:
    """One step of a GRPO stage, its line of metrics included."""
    phase = f"train-0-{step}"
    run.append(_graded(judge, task, phase, (ANSWERS[0], ANSWERS[2], ANSWERS[0] if step > 2 else ANSWERS[3]), step))
    run.metric(
        {
            "kind": "grpo",
            "stage": 0,
            "step": step,
            "reward": round(0.2 + 0.1 * step, 3),
            "reward_std": 0.5,
            "frac_reward_zero_std": 0.25,
            "entropy": 1.0 / step,
            "completions/mean_length": 20.0 + step,
            "completions/clipped_ratio": 0.0,
            "pass_rate": 0.3,
            "invalid_rate": 0.0,
            "suspected_hack_rate": 0.0,
        }
    )

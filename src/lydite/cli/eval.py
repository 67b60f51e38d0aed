"""``lydite eval``: measure a policy on tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from lydite.evaluation import Summary
    from lydite.ledger import RunFolder
    from lydite.policies.protocol import Policy, SamplingParams
    from lydite.sampling import Judge, SampleTotals

app = typer.Typer(add_completion=False)

PHASE = "eval"


@app.command()
def evaluate(
    tasks: Annotated[
        list[Path], typer.Argument(metavar="TASKS...", help="Files of task documents.", show_default=False)
    ],
    policy: Annotated[str, typer.Option(metavar="SPEC", help="builtin:tiny, hf:PATH, openai:MODEL, replay:FILE …")],
    n: Annotated[int, typer.Option("-n", min=1, help="Attempts per task.")] = 4,
    k: Annotated[str, typer.Option("-k", metavar="K,…", help="For which k to estimate pass@k; none above n.")] = "1",
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="RUN", help="The run folder. Default: runs/eval-… by policy and settings."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many tasks.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the attempts and of the bootstrap.")] = 0,
    temperature: Annotated[float, typer.Option(min=0.0, help="0 is greedy.")] = 1.0,
    top_p: Annotated[float, typer.Option("--top-p", min=0.0, max=1.0)] = 1.0,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1, help="Budget of one completion.")] = 512,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Calls of the policy under way at once.")] = None,
    train: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="What the policy was trained on: warn where these tasks stand in it."),
    ] = None,
    verdicts: Annotated[
        str,
        typer.Option(metavar="WHICH", help="Of a run that was rescored: old, rescored (the latest), or a name."),
    ] = "old",
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on standard output.")] = False,
) -> None:
    """Sample attempts at tasks into a run folder and say how often the policy succeeds, with 95 % intervals.

    The same command again goes on where it was, and only prints the summary when nothing is left to do.
    """
    import asyncio
    import time

    from lydite.cli.console import err, print_json
    from lydite.codec import digest
    from lydite.evaluation import plain, summarise
    from lydite.ledger import RunFolder
    from lydite.policies import SamplingParams, open_policy
    from lydite.sampling import Judge
    from lydite.tasksets import iter_tasks

    ks = _ks(k, n)
    judge = Judge()
    params = SamplingParams(temperature=temperature, top_p=top_p, max_tokens=max_tokens)
    digests = [task.digest for task in judge.prepared(iter_tasks(tasks, limit=limit))]
    overlap = _overlap(tasks, limit, train) if train else None
    speaker = open_policy(policy, tasks=iter_tasks(tasks, limit=limit))
    settings = {
        "policy": speaker.id,
        "n": n,
        "seed": seed,
        "temperature": temperature,
        "top_p": top_p,
        "max_tokens": max_tokens,
        "reward": judge.name,
    }
    folder = out or Path("runs") / f"eval-{_slug(policy)}-{digest([settings, digests])[:10]}"
    with RunFolder.create(folder, kind="eval", settings=settings, tasks=iter_tasks(tasks, limit=limit)) as run:
        complete, begin = run.info.state == "complete", time.monotonic()
        try:
            totals = asyncio.run(_sample(run, speaker, judge, params, n=n, seed=seed, concurrency=concurrency))
        finally:
            if not complete:
                run.note(seconds=round(time.monotonic() - begin + float(run.info.notes.get("seconds", 0.0)), 3))
        if run.info.state != "complete":
            run.finish()
        labels = {task.id: task.difficulty for task in run.tasks() if task.difficulty}
        run.choose(verdicts)
        for sentence in run.choice:
            err.print(sentence, markup=False)
        summary = summarise(run.rows(PHASE), ks, difficulty=labels, seed=seed)
        seconds = run.info.notes.get("seconds")
    _tell(folder, summary, seconds, totals.head)
    if as_json:
        print_json(
            {
                "run": str(folder),
                "settings": settings,
                **plain(summary),
                "seconds": seconds,
                "overlap_with_train": overlap,
                "head": totals.head,
            }
        )


def _ks(text: str, n: int) -> list[int]:
    from lydite.errors import InputError

    try:
        ks = sorted({int(part) for part in text.split(",")})
    except ValueError:
        raise InputError(f"not a list of numbers: {text!r}", field="-k", remedy="such as -k 1,4") from None
    if ks[0] < 1:
        raise InputError(f"must be at least 1, not {ks[0]}", field="-k")
    if ks[-1] > n:
        raise InputError(
            f"pass@{ks[-1]} cannot be estimated from {n} attempts a task",
            field="-k",
            remedy=f"-n {ks[-1]} or a smaller k",
        )
    return ks


def _slug(policy: str) -> str:
    import re

    return re.sub(r"[^A-Za-z0-9.]+", "-", policy).strip("-.")[-40:].strip("-.") or "policy"


def _overlap(tasks: list[Path], limit: int | None, train: list[Path]) -> dict[str, Any]:
    """How many of the tasks stand in the training files; says so, since a rate on known tasks is no measurement."""
    from collections import Counter

    from lydite.cli.console import err
    from lydite.tasksets import iter_tasks
    from lydite.tasksets.overlap import find_overlap

    found = find_overlap(iter_tasks(train), iter_tasks(tasks, limit=limit))
    kinds = Counter(entry.kind for entry in found)
    known = [entry for entry in found if entry.kind != "template"]
    if known:
        first = known[0]
        err.print(
            f"warning: {kinds['duplicate']} tasks stand in the training files and {kinds['near']} nearly do,"
            f" the first is {first.eval_id!r} (as {first.train_id!r}): their success may be memory",
            style="yellow",
            markup=False,
        )
    return {
        **{kind: kinds[kind] for kind in ("duplicate", "near", "template")},
        "tasks": [entry.eval_id for entry in known],
    }


async def _sample(
    run: RunFolder, policy: Policy, judge: Judge, params: SamplingParams, *, n: int, seed: int, concurrency: int | None
) -> SampleTotals:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from lydite.cli.console import err
    from lydite.sampling import sample

    columns = (TextColumn("evaluating"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, disable=not err.is_terminal) as bar:
        line = bar.add_task("", total=run.info.tasks.count * n)

        def progress(done: int, _: int | None, totals: SampleTotals) -> None:
            bar.update(line, completed=done)

        try:
            return await sample(
                run.tasks(),
                policy,
                run,
                phase=PHASE,
                n=n,
                params=params,
                seed=seed,
                judge=judge,
                concurrency=concurrency,
                progress=progress,
            )
        finally:
            await policy.aclose()


def _tell(folder: Path, summary: Summary, seconds: Any, head: str) -> None:
    from rich.table import Table

    from lydite.cli.console import err
    from lydite.evaluation.markdown import percent, with_interval

    rates = Table("", "95 % interval over tasks", "invalid as wrong", "tasks")
    for entry in summary.pass_at:
        tasks = entry.excluded.tasks if entry.excluded else 0
        rates.add_row(f"pass@{entry.k}", with_interval(entry.excluded), with_interval(entry.as_wrong), str(tasks))
    for label, part in summary.by_difficulty.items():
        first = part.pass_at[0]
        cells = with_interval(first.excluded), with_interval(first.as_wrong)
        rates.add_row(f"  {label} pass@{first.k}", *cells, str(part.tasks))
    err.print(rates)
    counts = ", ".join(f"{number} {name}" for name, number in summary.outcomes.items() if number)
    err.print(f"{summary.attempts} attempts at {summary.tasks} tasks: {counts}", markup=False)
    groups = summary.groups
    err.print(
        f"groups: {groups.mixed} mixed, {groups.all_correct} all correct, {groups.all_wrong} all wrong,"
        f" {groups.invalid} invalid",
        markup=False,
    )
    tokens = f", {summary.completion_tokens:.1f} tokens a task" if summary.completion_tokens is not None else ""
    wall = f", {seconds / summary.tasks:.2f} s a task" if isinstance(seconds, int | float) else ""
    err.print(
        f"truncated {percent(summary.truncation_rate)}, flagged {percent(summary.flagged_rate)}"
        f" ({summary.suspected_hacks} suspected hacks){tokens}{wall}",
        markup=False,
    )
    err.print(f"run {folder}\nledger head {head}", markup=False)

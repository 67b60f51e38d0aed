"""``lydite sample``: groups of attempts from a policy, judged, in a run folder with a ledger."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lydite.reward import Flagged, Preset

if TYPE_CHECKING:
    from lydite.ledger import RunFolder
    from lydite.policies.protocol import Policy, SamplingParams
    from lydite.sampling import Judge, SampleTotals

app = typer.Typer(add_completion=False)


@app.command()
def sample(
    tasks: Annotated[
        list[Path], typer.Argument(metavar="TASKS...", help="Files of task documents.", show_default=False)
    ],
    policy: Annotated[str, typer.Option(metavar="SPEC", help="builtin:tiny, hf:PATH, openai:MODEL, replay:FILE …")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="RUN", help="The run folder, new or to be resumed.")],
    n: Annotated[int, typer.Option("-n", min=1, help="Attempts per task.")] = 4,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Calls of the policy under way at once.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the run.")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many tasks.")] = None,
    temperature: Annotated[float, typer.Option(min=0.0, help="0 is greedy.")] = 1.0,
    top_p: Annotated[float, typer.Option("--top-p", min=0.0, max=1.0)] = 1.0,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1, help="Budget of one completion.")] = 512,
    reward: Annotated[Preset, typer.Option(help="How verdicts become rewards.")] = Preset.ASYMMETRIC,
    flagged: Annotated[Flagged, typer.Option(help="What a sample with a barring flag earns.")] = Flagged.KEEP,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on standard output.")] = False,
) -> None:
    """Sample attempts at tasks, judge each, and keep samples and verdicts in a run folder.

    A folder that is there already is resumed when tasks and settings are the same; nothing is sampled twice.
    """
    import asyncio

    from lydite.cli.console import print_json
    from lydite.environments import Environments
    from lydite.errors import InterruptedRunError
    from lydite.ledger import RunFolder
    from lydite.policies import SamplingParams, open_policy
    from lydite.reward import RewardScheme
    from lydite.sampling import Judge
    from lydite.tasksets import iter_tasks

    judge = Judge(RewardScheme(preset=reward, flagged=flagged))
    params = SamplingParams(temperature=temperature, top_p=top_p, max_tokens=max_tokens)
    # Whatever is wrong with any task is said before a model is loaded or a token is paid for.
    worlds = Environments()
    try:
        for task in judge.prepared(iter_tasks(tasks, limit=limit)):
            if task.env != "none":
                worlds.try_out(task)
    finally:
        worlds.close()
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
    with RunFolder.create(out, kind="sample", settings=settings, tasks=iter_tasks(tasks, limit=limit)) as run:
        try:
            totals = asyncio.run(_sample(run, speaker, judge, n=n, params=params, seed=seed, concurrency=concurrency))
        except InterruptedRunError as error:
            raise InterruptedRunError(f"{error}:\n  {_command()}") from None
        if run.info.state != "complete":
            run.finish()
        count = run.info.tasks.count
    _tell(out, totals)
    served = getattr(speaker, "totals", None)  # a served policy counts what the server says it used, in this session
    if served is not None and served.requests:
        _tell_served(served)
    if as_json:
        said = {"run": str(out), "policy": speaker.id, "tasks": count, "n": n, **totals.summary()}
        print_json(said if served is None else {**said, "served": served})


async def _sample(
    run: RunFolder,
    policy: Policy,
    judge: Judge,
    *,
    n: int,
    params: SamplingParams,
    seed: int,
    concurrency: int | None,
) -> SampleTotals:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from lydite.cli.console import err
    from lydite.sampling import sample

    columns = (
        TextColumn("sampling"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[said]}"),
    )
    with Progress(*columns, console=err, disable=not err.is_terminal) as bar:
        line = bar.add_task("sampling", total=run.info.tasks.count * n, said="")

        def progress(done: int, _: int | None, totals: SampleTotals) -> None:
            invalid = f", {totals.invalid} invalid" if totals.invalid else ""
            bar.update(line, completed=done, said=f"{totals.correct} correct{invalid}")

        try:
            return await sample(
                run.tasks(),
                policy,
                run,
                phase="sample",
                n=n,
                params=params,
                seed=seed,
                judge=judge,
                concurrency=concurrency,
                progress=progress,
            )
        finally:
            await policy.aclose()


def _tell(out: Path, totals: SampleTotals) -> None:
    from rich.table import Table

    from lydite.cli.console import err

    table = Table(show_header=False)
    for outcome, count in totals.outcomes.items():
        table.add_row(outcome, _share(count, totals.rollouts))
    table.add_section()
    table.add_row("verified correct", _rate(totals))
    groups = sum(totals.groups.values())
    for kind, count in totals.groups.items():
        table.add_row(f"groups {kind.replace('_', ' ')}", _share(count, groups))
    table.add_section()
    table.add_row("flagged", str(totals.flagged))
    table.add_row("truncated", str(totals.truncated))
    unknown = f" ({totals.uncounted} attempts unknown)" if totals.uncounted else ""
    table.add_row("tokens in / out", f"{totals.prompt_tokens} / {totals.completion_tokens}{unknown}")
    table.add_row("seconds", f"{totals.seconds:.1f}")
    err.print(table)
    if totals.resumed == totals.rollouts:
        err.print("nothing was left to do", markup=False)
    elif totals.resumed:
        err.print(f"{totals.resumed} attempts were there already", markup=False)
    for reason, count in totals.invalid_reasons.items():
        err.print(f"invalid ({count}): {reason}", markup=False)
    err.print(f"run {out}", markup=False)
    err.print(f"ledger head {totals.head}", markup=False)


def _tell_served(served: Any) -> None:
    from lydite.cli.console import err

    cost = "" if served.cost is None else f", cost {served.cost:.4f}"
    err.print(
        f"the server was asked {served.requests} times ({served.retries} retries) and counts"
        f" {served.prompt_tokens} tokens in, {served.completion_tokens} out{cost}",
        markup=False,
    )


def _share(count: int, total: int) -> str:
    return f"{count}  ({count / total:.1%})" if total else "0"


def _rate(totals: SampleTotals) -> str:
    if totals.correct_rate is None:
        return "nothing could be judged"
    of_all = f" ({totals.correct / totals.rollouts:.1%} of all)" if totals.invalid else ""
    return f"{totals.correct_rate:.1%} of {totals.rollouts - totals.invalid} judged{of_all}"


def _command() -> str:
    """The command line as it was given."""
    import shlex
    import sys

    given: list[Any] = [Path(sys.argv[0]).name, *sys.argv[1:]]
    return shlex.join(given)

"""``lydite import``: what other trainers dumped of their rollouts, as a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from lydite.dumps import Imported, Judging

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Make a run folder of what another trainer dumped of its rollouts."
)

_SHOWN = 20

_Paths = Annotated[
    list[Path], typer.Argument(metavar="PATH...", help="Dumped files, or folders of them.", show_default=False)
]
_Out = Annotated[Path, typer.Option("-o", "--out", metavar="RUN", help="The run folder, new or to be gone on with.")]
_Reward = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME[=WEIGHT]",
        help="The number that says whether an attempt is correct; others that training added to it follow.",
        show_default=False,
    ),
]
_Range = Annotated[
    str, typer.Option("--range", metavar="LOW..HIGH", help="Rewards of a wrong and of a right attempt; cut to it.")
]
_Tasks = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="Tasks of the training: judge now by their checkers.", show_default=False),
]
_Verifier = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Judge now by this verifier, with the dump's gold.", show_default=False),
]
_Config = Annotated[str | None, typer.Option(metavar="JSON", help="Configuration of --verifier.", show_default=False)]
_Policy = Annotated[str, typer.Option(metavar="NAME", help="What to call the policy; the trainer's name else.")]
_Json = Annotated[bool, typer.Option("--json", help="Print the counts as JSON on standard output.")]


@app.command()
def trl(
    paths: _Paths,
    out: _Out,
    reward: _Reward = None,
    span: _Range = "0..1",
    tasks: _Tasks = None,
    verifier: _Verifier = None,
    config: _Config = None,
    gold: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of the gold, as log_extra wrote it.")
    ] = None,
    policy: _Policy = "",
    as_json: _Json = False,
) -> None:
    """TRL's tables of completions (completions/completions_*.parquet): a training's output folder, or the files.

    Verdicts are what the trainer recorded, unless --tasks or --verifier has Lydite judge now; then attempts of which
    the two say different things are listed.
    """
    from lydite.dumps import TrlDump
    from lydite.errors import InputError

    if verifier is not None and gold is None:
        raise InputError("TRL's tables name no gold", field="--gold", remedy="name the column that log_extra wrote")
    dump = TrlDump(paths, gold)
    _import(dump, out, reward, span, _judging(tasks, verifier, config), tasks, verifier, config, gold, policy, as_json)


@app.command()
def verl(
    paths: _Paths,
    out: _Out,
    reward: _Reward = None,
    span: _Range = "0..1",
    tasks: _Tasks = None,
    verifier: _Verifier = None,
    config: _Config = None,
    gold: Annotated[str, typer.Option(metavar="KEY", help="Key of the gold.")] = "gts",
    policy: _Policy = "",
    as_json: _Json = False,
) -> None:
    """verl's dumps (STEP.jsonl of trainer.rollout_data_dir): the folder, or the files.

    Verdicts are what the trainer recorded, unless --tasks or --verifier has Lydite judge now; then attempts of which
    the two say different things are listed.
    """
    from lydite.dumps import VerlDump

    dump = VerlDump(paths, gold)
    _import(dump, out, reward, span, _judging(tasks, verifier, config), tasks, verifier, config, gold, policy, as_json)


def _import(
    dump: Any,
    out: Path,
    reward: list[str] | None,
    span: str,
    judging: Judging,
    tasks: list[Path] | None,
    verifier: str | None,
    config: str | None,
    gold: str | None,
    policy: str,
    as_json: bool,
) -> None:
    import msgspec

    from lydite.cli.console import err, print_json
    from lydite.codec import sha256
    from lydite.dumps import import_dump

    low, high = _span(span)
    settings = {
        "policy": policy or dump.trainer,
        "tasks": [{"name": path.name, "sha256": sha256(path.read_bytes())} for path in tasks or ()],
        "verifier": verifier,
        "config": config,
        "gold": gold,
    }
    found = import_dump(
        dump, out, judging=judging, rewards=reward or (), low=low, high=high, policy=policy, settings=settings
    )
    _tell(out, found, judging.judges)
    if as_json:
        print_json({"run": str(out), **msgspec.to_builtins(found)})
    elif found.disagreements:
        for one in found.disagreements[:_SHOWN]:
            said = f"{one.outcome} ({one.reason}), extracted {one.extracted!r:.60}"
            err.print(f"  {one.id}: recorded {one.recorded:g}, Lydite says {said}", markup=False)
        if len(found.disagreements) > _SHOWN:
            err.print(f"  … and {len(found.disagreements) - _SHOWN} more (--json lists them)", markup=False)


def _tell(out: Path, found: Imported, judged: bool) -> None:
    from lydite.cli.console import err

    if found.resumed and not found.attempts:
        err.print(f"{out}: nothing was left to do", markup=False)
        return
    err.print(f"{out}: {found.attempts} attempts at {found.tasks} tasks in {found.steps} steps", markup=False)
    if found.again:
        err.print(f"{found.again} steps repeat the table of the step before them and are left out", markup=False)
    counts = ", ".join(f"{outcome} {count}" for outcome, count in found.outcomes.items() if count)
    if not judged:
        err.print(f"as recorded, not judged by Lydite: {counts}", markup=False)
        return
    err.print(f"judged by Lydite: {counts}", markup=False)
    err.print(f"agrees with the recorded reward on {found.agree} of {found.compared}", markup=False)


def _judging(tasks: list[Path] | None, verifier: str | None, config: str | None) -> Judging:
    import msgspec

    from lydite.dumps import Judging
    from lydite.errors import InputError
    from lydite.exports.checkers import Checkers
    from lydite.task import Checker
    from lydite.tasksets import iter_tasks

    if tasks and verifier:
        raise InputError("two judges", field="--verifier", remedy="give --tasks or --verifier")
    if config is not None and verifier is None:
        raise InputError("goes with --verifier", field="--config", remedy="name a verifier")
    if tasks:
        return Judging(tasks=list(iter_tasks(tasks)))
    if verifier is None:
        return Judging()
    if config is None:
        return Judging(checkers=Checkers(verifier))
    try:
        plain = msgspec.json.decode(config, type=dict[str, Any])
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise InputError(f"is no JSON object: {error}", field="--config") from None
    return Judging(checkers=Checkers(Checker(type=verifier, config=plain), fills="answer" not in plain))


def _span(text: str) -> tuple[float, float]:
    from lydite.errors import InputError

    low, dots, high = text.partition("..")
    try:
        if not dots:
            raise ValueError
        return float(low), float(high)
    except ValueError:
        raise InputError(f"{text!r:.60} is no range", field="--range", remedy="LOW..HIGH, such as -1..1") from None

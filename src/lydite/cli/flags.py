"""``lydite flags``: which detectors there are, what they flagged in a run, what people say of it, and how often they
are right."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from lydite.evaluation.suspicions import Suspicion
    from lydite.ledger import RunFolder
    from lydite.ledger.reviews import Decision, Reviews

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Detectors, the flags of a run, and what people say of them."
)

_Run = Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.", show_default=False)]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]


def _decided(word: str) -> Any:
    return typer.Option(f"--{word}", metavar="ID:DETECTOR", help=f"Note a flag as {_WORDS[word]} (repeatable).")


_WORDS = {"confirm": "what it says", "dismiss": "none after all", "withdraw": "not decided any more"}


@app.command("list")
def list_detectors(as_json: _Json = False) -> None:
    """Detectors with version, whether their flags bar, and what they are for."""
    from rich.table import Table

    from lydite.cli.console import err, print_json
    from lydite.detectors import listed

    found = listed()
    if as_json:
        print_json([one._asdict() for one in found])
        return
    table = Table("detector", "version", "bars", "looks at", "what for")
    for one in found:
        table.add_row(one.name, str(one.version), "yes" if one.bars else "no", one.looks_at, one.about)
    err.print(table)


@app.command()
def review(
    run: _Run,
    detector: Annotated[str | None, typer.Option(metavar="NAME", help="Only flags of this detector.")] = None,
    confirm: Annotated[list[str] | None, _decided("confirm")] = None,
    dismiss: Annotated[list[str] | None, _decided("dismiss")] = None,
    withdraw: Annotated[list[str] | None, _decided("withdraw")] = None,
    note: Annotated[str, typer.Option(help="Why, kept with what is decided by this call.")] = "",
    everything: Annotated[bool, typer.Option("--all", help="Ask again about what was decided before.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="List the flags as JSON on standard output, one a line; ask nothing.")
    ] = False,
) -> None:
    """Go through the flags of a run: c confirms, d dismisses, s skips, q ends. Or decide by option, or list.

    Decisions are kept in RUN/flags-review.jsonl. A dismissed flag no longer keeps an attempt out of what is exported, a
    confirmed one does whatever its detector says.
    """
    from lydite.cli.console import err, print_json
    from lydite.cli.flags_review import ask
    from lydite.evaluation.suspicions import open_ones, suspicions
    from lydite.ledger import RunFolder
    from lydite.ledger.reviews import Decision, Reviews

    folder = RunFolder.open(run)
    reviews = Reviews(folder.path)
    if reviews.damaged:
        err.print(f"{reviews.damaged} lines of flags-review.jsonl cannot be read and are left out", markup=False)
    asked = {Decision.CONFIRMED: confirm, Decision.DISMISSED: dismiss, Decision.WITHDRAWN: withdraw}
    if any(asked.values()):
        found = _named(folder, reviews, {decision: names or [] for decision, names in asked.items()})
        made = reviews.add([(one.row.rollout.id, one.flag, decision) for one, decision in found], note)
        for one in made:
            err.print(f"{one.decision}: {one.rollout}:{one.detector}", markup=False)
        if as_json:
            for one in made:
                print_json(one)
        return
    listed = suspicions(folder, reviews, _known(detector))
    if as_json:
        for item in listed:
            print_json(_document(item))
        return
    ask(listed if everything else list(open_ones(listed)), reviews, note)


def _known(detector: str | None) -> str | None:
    from lydite.detectors import listed
    from lydite.errors import InputError

    names = [one.name for one in listed()]
    if detector is not None and detector not in names:
        raise InputError(f"no detector is called {detector!r:.60}", field="--detector", remedy=", ".join(names))
    return detector


def _named(folder: RunFolder, reviews: Reviews, asked: dict[Decision, list[str]]) -> list[tuple[Suspicion, Decision]]:
    """The flags that options name, all or none of them."""
    from lydite.errors import InputError
    from lydite.evaluation.suspicions import suspicions

    by_name = {f"{one.row.rollout.id}:{one.flag.detector}": one for one in suspicions(folder, reviews)}
    found: list[tuple[Suspicion, Decision]] = []
    for decision, names in asked.items():
        for name in names:
            if name not in by_name:
                remedy = f"`lydite flags review {folder.path} --json` lists them; write ID:DETECTOR"
                raise InputError(f"the run has no flag {name!r:.200}", path=folder.path, remedy=remedy)
            found.append((by_name[name], decision))
    if len({id(one) for one, _ in found}) < len(found):
        raise InputError("a flag is named twice", remedy="decide once on each")
    return found


def _document(item: Suspicion) -> dict[str, Any]:
    record, flag, review = item.row.record, item.flag, item.review
    return {
        "id": item.row.rollout.id, "detector": flag.detector, "version": flag.version, "bars": flag.bars,
        "outcome": record.verdict.outcome, "evidence": flag.evidence,
        "review": None if review is None else review.decision,
        "note": review.note if review is not None else "",
    }  # fmt: skip


@app.command()
def summary(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.", show_default=False)],
    as_json: _Json = False,
) -> None:
    """Flags per detector over runs, what people said of them, and how often each detector is right (95 % interval)."""
    from rich.table import Table

    from lydite.cli.console import err, print_json
    from lydite.evaluation.suspicions import summarise_flags
    from lydite.ledger import RunFolder
    from lydite.ledger.reviews import Reviews

    folders = [RunFolder.open(path) for path in {path.resolve(): path for path in runs}.values()]
    found = summarise_flags([(folder, Reviews(folder.path)) for folder in folders])
    if as_json:
        import msgspec

        print_json([{**msgspec.to_builtins(one), "open": one.open} for one in found])
        return
    table = Table("detector", "flags", "correct", "bar", "yes", "no", "open", "precision, 95 %")
    for one in found:
        right = "-" if one.precision is None else f"{one.precision:.0%} [{one.low:.0%}, {one.high:.0%}]"
        counts = (one.flags, one.correct, one.bars, one.confirmed, one.dismissed, one.open)
        table.add_row(f"{one.detector}@{one.version}", *map(str, counts), right)
    err.print(table)
    err.print(
        "correct: flags at correct attempts; yes, no: confirmed, dismissed; precision is of these two", markup=False
    )
    err.print("`lydite flags review RUN` goes on", markup=False)


@app.command()
def curves(
    run: _Run,
    second: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Another verifier's verdicts: JSONL of {id, score}, as `lydite verify` writes."
        ),
    ] = None,
    rescoring: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The second verdicts are those of a rescoring (`lydite ledger rescore`)."),
    ] = None,
    looks: Annotated[int, typer.Option(min=1, help="How often this run is looked at in all; divides the level.")] = 1,
    level: Annotated[float, typer.Option(min=0.0001, max=0.5, help="Chance of a false alarm over all looks.")] = 0.05,
    as_json: _Json = False,
) -> int:
    """Look at the curves of a run's training stages; exit 1 when a detector of runs speaks."""
    from lydite.cli.console import err, print_json
    from lydite.cli.flags_review import read_second
    from lydite.errors import InputError
    from lydite.evaluation.trends import rescored_scores, run_flags, stages
    from lydite.ledger import RunFolder

    if second is not None and rescoring is not None:
        raise InputError("two second verifiers", field="--rescoring", remedy="give --second or --rescoring")
    folder = RunFolder.open(run)
    scores = read_second(second) if second is not None else None
    if rescoring is not None:
        scores = rescored_scores(folder, rescoring)
    found = stages(folder.rows(), scores)
    flags = run_flags(found, looks=looks, level=level)
    if as_json:
        print_json(
            {
                "run": str(run),
                "stages": [{"stage": one.stage, "steps": len(one.steps)} for one in found],
                "flags": [{"stage": stage, "flag": flag} for stage, flag in flags],
            }
        )
    for one in found:
        err.print(f"{one.stage}: {len(one.steps)} steps", markup=False)
    if not found:
        err.print("no training stage with a reward of its own", markup=False)
    elif scores is None:
        err.print(
            "no second verifier: only what the reward is made of was looked at (--second, --rescoring)", markup=False
        )
    for stage, flag in flags:
        err.print(f"{stage}: {flag.detector}@{flag.version}: {flag.evidence}", markup=False)
    if found and not flags:
        err.print("nothing to say", markup=False)
    return 1 if flags else 0

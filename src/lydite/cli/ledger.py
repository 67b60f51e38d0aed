"""``lydite ledger``: verify, replay, rescore and show the ledger of a run, and prove single records of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lydite.cli.ledger_proof import check, keygen, prove
from lydite.cli.ledger_rescore import rescore

if TYPE_CHECKING:
    from lydite.ledger import Audit, RunFolder

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Verify, replay, rescore and prove what a run says.")

Run = Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]


@app.command()
def verify(
    run: Run,
    head: Annotated[str | None, typer.Option(metavar="HASH", help="The head as noted elsewhere.")] = None,
    extends: Annotated[
        str | None, typer.Option(metavar="HASH", help="A head noted earlier, from which the ledger was continued.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Check every byte of ledger, samples and tasks; exit 1 and name the first that was changed.

    Whoever can rewrite every file of a run can make a new chain: note the head elsewhere and give it as --head.
    """
    from lydite.cli.console import err, print_json
    from lydite.ledger import verify_run

    found = verify_run(run, head=head, extends=extends)
    if as_json:
        print_json(_audit_summary(run, found))
    if found.problem is not None:
        err.print(f"broken: {run}/{found.problem}", markup=False)
        err.print(f"{found.records} records before it are in order", markup=False)
        return 1
    err.print(f"in order: {found.records} records, {found.samples} samples, head {found.head}", markup=False)
    err.print(f"root {found.root}", markup=False)
    if found.at is not None and extends is not None:
        err.print(f"the earlier head is that of record {found.at}; {found.records - found.at} follow", markup=False)
    for sentence in found.standing:
        err.print(sentence, markup=False)
    if head is None and extends is None and not as_json:
        err.print("a head noted elsewhere (--head) proves that the whole was not rewritten", markup=False)
    return 0


def _audit_summary(run: Path, found: Audit) -> dict[str, Any]:
    return {
        "run": str(run),
        "ok": found.problem is None,
        "state": found.state,
        "records": found.records,
        "samples": found.samples,
        "head": found.head,
        "root": found.root,
        "rescorings": {
            name: {"records": standing.done, "covers": standing.header.covers}
            for name, standing in found.rescorings.items()
        },
        "unsealed": {"records": found.unnoted, "samples": found.unrecorded, "torn": found.torn},
        "standing": found.standing,
        "problem": found.problem,
    }


@app.command()
def replay(
    run: Run,
    ids: Annotated[list[str] | None, typer.Option("--id", metavar="ID", help="Only this rollout (repeatable).")] = None,
    verdicts: Annotated[str, typer.Option(metavar="WHICH", help="all, old, rescored, or a rescoring's name.")] = "all",
    as_json: Json = False,
) -> int:
    """Derive each verdict again and compare it with the recorded one; exit 1 when any differs, or none can be.

    Verdicts of other versions or sources of a verifier may differ rightly: they are counted as not replayable.
    """
    from collections import Counter

    from lydite.cli.console import err, print_json
    from lydite.ledger.replay import Match

    counts = dict.fromkeys(Match, 0)
    reasons: Counter[str] = Counter()
    told: list[Any] = []
    for item in _replayed(run, ids, verdicts):
        counts[item.match] += 1
        if item.why and item.match is Match.NOT_REPLAYABLE:
            reasons[item.why] += 1
        if item.match is Match.DIFFERS:
            if as_json:
                told.append(item)
            elif counts[Match.DIFFERS] <= _SHOWN:
                what = item.why or _differences(item.recorded, item.derived)
                err.print(f"differs: {item.id} (record {item.seq}): {what}", markup=False)
    if as_json:
        print_json({"run": str(run), **counts, "reasons": reasons, "differing": told})
    if counts[Match.DIFFERS] > _SHOWN and not as_json:
        err.print(f"… and {counts[Match.DIFFERS] - _SHOWN} more differ (--json lists them)", markup=False)
    for reason, count in reasons.most_common(_SHOWN):
        err.print(f"not replayable ({count}): {reason}", markup=False)
    same, differs, other = (counts[match] for match in Match)
    err.print(f"{same} same, {differs} differ, {other} not replayable", markup=False)
    return 1 if differs or (other and not same) else 0


for _command in (rescore, prove, check, keygen):
    app.command()(_command)

_SHOWN = 10


def _replayed(run: Path, ids: list[str] | None, verdicts: str) -> Iterator[Any]:
    """Every verdict again, with the packages that the run had."""
    from lydite.ledger import RunFolder
    from lydite.ledger.replay import replay
    from lydite.training.packages import shown

    opened = RunFolder.open(run)
    with shown(opened.info.notes):
        yield from replay(opened, ids or None, verdicts=verdicts)


def _differences(recorded: Any, derived: Any) -> str:
    import msgspec

    before, after = msgspec.to_builtins(recorded), msgspec.to_builtins(derived)
    return ", ".join(f"{name} {before[name]!r} → {after[name]!r}" for name in before if before[name] != after[name])


@app.command()
def show(run: Run, as_json: Json = False) -> None:
    """What a run's ledger holds: how it was made, counts per phase and outcome, verifiers, head."""
    from rich.table import Table

    from lydite.cli.console import err, print_json
    from lydite.ledger import RunFolder
    from lydite.verdict import Outcome

    folder = RunFolder.open(run)
    summary = _contents(folder)
    if as_json:
        print_json(summary)
        return
    for name in ("run", "kind", "state", "created", "records", "tasks", "head"):
        err.print(f"{name}: {summary[name]}", markup=False)
    for name, value in summary["settings"].items():
        err.print(f"  {name}: {value}", markup=False)
    table = Table("phase", *Outcome, "flagged")
    for phase, counts in summary["phases"].items():
        table.add_row(phase, *(str(counts[outcome]) for outcome in Outcome), str(counts["flagged"]))
    err.print(table)
    for name in ("verifiers", "schemes", "policies"):
        for value, count in summary[name].items():
            err.print(f"{name}: {value or '(none)'} ({count})", markup=False)
    for name, item in summary["rescorings"].items():
        done = "" if item["records"] == item["covers"] else f" of {item['covers']}, not complete"
        err.print(
            f"rescoring {name}: {item['records']} records{done}; {item['gained']} gained, {item['lost']} lost,"
            f" {item['moved']} moved; {', '.join(item['verifiers'])}",
            markup=False,
        )


def _contents(folder: RunFolder) -> dict[str, Any]:
    from collections import Counter

    from lydite.ledger.flips import count, flips
    from lydite.verdict import Outcome

    phases: dict[str, dict[str, int]] = {}
    verifiers: Counter[str] = Counter()
    schemes: Counter[str] = Counter()
    policies: Counter[str] = Counter()
    for row in folder.recorded():
        counts = phases.setdefault(row.rollout.phase, dict.fromkeys([*Outcome, "flagged"], 0))
        counts[row.record.verdict.outcome] += 1
        counts["flagged"] += bool(row.record.flags)
        verifiers[row.record.verdict.verifier] += 1
        schemes[row.record.scheme] += 1
        policies[row.record.policy] += 1
    info = folder.info
    rescorings = {
        name: {
            "record": standing.seq,
            "covers": standing.header.covers,
            "records": standing.done,
            "settings": standing.header.settings,
            "verifiers": standing.header.verifiers,
            **(count(flips(folder, name)).ways),
        }
        for name, standing in folder.rescorings().items()
    }
    return {
        "run": str(folder.path),
        "kind": info.kind,
        "state": info.state,
        "created": info.created,
        "records": info.records,
        "tasks": info.tasks.count,
        "head": info.head,
        "settings": info.settings,
        "versions": info.versions,
        "notes": info.notes,
        "phases": phases,
        "verifiers": verifiers,
        "schemes": schemes,
        "policies": policies,
        "rescorings": rescorings,
    }

"""``lydite export``: rows for trainers, from what a run verified."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    help="Preference pairs, SFT rows and KTO rows from a run.", no_args_is_help=True, add_completion=False
)

_Run = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.", show_default=False)]
_Out = Annotated[
    Path | None, typer.Option("-o", "--out", metavar="FILE", help="Replaced whole. In the run folder when not given.")
]
_Format = Annotated[str, typer.Option("--format", help="trl or openai.")]
_Phase = Annotated[
    str | None,
    typer.Option(
        help="Only this phase, or family of phases (train). Default: all but before and after (held-out tasks)."
    ),
]
_Cap = Annotated[int | None, typer.Option(min=1, help="At most so many rows of a group (KTO: of each label).")]
_Json = Annotated[bool, typer.Option("--json", help="Print the counts as JSON on standard output.")]


@app.command()
def preferences(
    run: _Run, out: _Out = None, format: _Format = "trl", phase: _Phase = None, cap: _Cap = 4, as_json: _Json = False
) -> None:
    """Pairs within a group: correct and not barred by a flag, over not correct (partly right only when far below)."""
    from lydite.exports import preference_pairs

    _export(preference_pairs, run, out or run / "preferences.jsonl", format, phase, cap, as_json)


@app.command()
def sft(
    run: _Run, out: _Out = None, format: _Format = "trl", phase: _Phase = None, cap: _Cap = None, as_json: _Json = False
) -> None:
    """Examples: correct and not barred by a flag."""
    from lydite.exports import sft_rows

    _export(sft_rows, run, out or run / "sft.jsonl", format, phase, cap, as_json)


@app.command()
def kto(
    run: _Run, out: _Out = None, format: _Format = "trl", phase: _Phase = None, cap: _Cap = None, as_json: _Json = False
) -> None:
    """Attempts with a label: right (and not barred by a flag) or wrong."""
    from lydite.exports import kto_rows

    _export(kto_rows, run, out or run / "kto.jsonl", format, phase, cap, as_json)


def _export(
    export: Callable[..., tuple[Iterator[dict[str, Any]], Any]],
    run: Path,
    out: Path,
    format: str,
    phase: str | None,
    cap: int | None,
    as_json: bool,
) -> None:
    import msgspec

    from lydite.cli.console import err, print_json
    from lydite.exports import write_rows
    from lydite.ledger import RunFolder

    rows, counts = export(RunFolder.open(run), phase=phase, cap=cap, format=format)
    written = write_rows(rows, out)
    numbers: dict[str, int] = msgspec.to_builtins(counts)
    said = ", ".join(f"{name.replace('_', ' ')} {number}" for name, number in numbers.items())
    err.print(f"{written} rows in {out}", markup=False)
    err.print(said, markup=False)
    if numbers.get("barred"):
        err.print(
            "barred: right, but with a flag that keeps it out (thresholds are the task's: metadata.flags)", markup=False
        )
    if not counts.groups:
        where = f"in phase {phase!r}" if phase else "outside the phases before and after (name one with --phase)"
        err.print(f"the run has no attempts {where}", markup=False)
    if as_json:
        print_json({"file": str(out), "rows": written, **numbers})

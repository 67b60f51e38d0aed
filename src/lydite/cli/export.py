"""``lydite export``: rows for trainers, from what a run verified; and files that connect trainers with Lydite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    help="Preference pairs, SFT rows and KTO rows from a run; reward files for other trainers.",
    no_args_is_help=True,
    add_completion=False,
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
_Verdicts = Annotated[
    str,
    typer.Option(metavar="WHICH", help="old (recorded first), rescored (the latest rescoring), or a rescoring's name."),
]
_Reviews = Annotated[
    bool, typer.Option("--reviews/--no-reviews", help="Whether flags bar as people decided (flags-review.jsonl).")
]
_Json = Annotated[bool, typer.Option("--json", help="Print the counts as JSON on standard output.")]


@app.command()
def preferences(
    run: _Run,
    out: _Out = None,
    format: _Format = "trl",
    phase: _Phase = None,
    cap: _Cap = 4,
    verdicts: _Verdicts = "old",
    reviews: _Reviews = True,
    as_json: _Json = False,
) -> None:
    """Pairs within a group: correct and not barred by a flag, over not correct (partly right only when far below)."""
    from lydite.exports import preference_pairs

    _export(preference_pairs, run, out or run / "preferences.jsonl", format, phase, cap, verdicts, reviews, as_json)


@app.command()
def sft(
    run: _Run,
    out: _Out = None,
    format: _Format = "trl",
    phase: _Phase = None,
    cap: _Cap = None,
    verdicts: _Verdicts = "old",
    reviews: _Reviews = True,
    as_json: _Json = False,
) -> None:
    """Examples: correct and not barred by a flag."""
    from lydite.exports import sft_rows

    _export(sft_rows, run, out or run / "sft.jsonl", format, phase, cap, verdicts, reviews, as_json)


@app.command()
def kto(
    run: _Run,
    out: _Out = None,
    format: _Format = "trl",
    phase: _Phase = None,
    cap: _Cap = None,
    verdicts: _Verdicts = "old",
    reviews: _Reviews = True,
    as_json: _Json = False,
) -> None:
    """Attempts with a label: right (and not barred by a flag) or wrong."""
    from lydite.exports import kto_rows

    _export(kto_rows, run, out or run / "kto.jsonl", format, phase, cap, verdicts, reviews, as_json)


@app.command()
def shim(
    trainer: Annotated[str, typer.Argument(metavar="TRAINER", help="verl or openrlhf.", show_default=False)],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="A Python file.")] = Path("lydite_reward.py"),
    checker: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|JSON",
            help="Verifier for samples that bring no checker: their ground truth becomes its answer.",
            show_default=False,
        ),
    ] = None,
    scheme: Annotated[str, typer.Option(help="asymmetric, binary or fractional.")] = "asymmetric",
    on_fault: Annotated[str, typer.Option(help="Score of a sample without a verdict: zero, nan or raise.")] = "zero",
    force: Annotated[bool, typer.Option("--force", help="Replace the file where it is there.")] = False,
) -> None:
    """A file whose functions another trainer calls for rewards: verl's compute_score, OpenRLHF's reward_func."""
    from lydite.cli.console import err
    from lydite.errors import InputError, StorageError
    from lydite.exports.shims import parse_checker
    from lydite.exports.shims import shim as write

    text = write(trainer, checker=parse_checker(checker), scheme=scheme, on_fault=on_fault, path=str(out))
    if out.suffix != ".py":
        raise InputError("its name does not end in .py", path=out, remedy="trainers load it as a Python file")
    try:
        with open(out, "w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError("is there already", path=out, remedy="--force replaces it") from None
    except (FileNotFoundError, NotADirectoryError):
        raise InputError("its folder does not exist", path=out, remedy=f"mkdir -p {out.parent}") from None
    except OSError as error:
        raise StorageError(f"{out}: cannot write: {error.strerror or error}") from error
    err.print(f"{out}: {trainer} calls Lydite; its first lines say how", markup=False)


def _export(
    export: Callable[..., tuple[Iterator[dict[str, Any]], Any]],
    run: Path,
    out: Path,
    format: str,
    phase: str | None,
    cap: int | None,
    verdicts: str,
    reviews: bool,
    as_json: bool,
) -> None:
    import msgspec

    from lydite.cli.console import err, print_json
    from lydite.cli.outputs import free
    from lydite.exports import write_rows
    from lydite.ledger import RunFolder
    from lydite.ledger.reviews import Reviewed

    free(out)
    folder = RunFolder.open(run, verdicts=verdicts)
    rows, counts = export(Reviewed(folder) if reviews else folder, phase=phase, cap=cap, format=format)
    written = write_rows(rows, out)
    numbers: dict[str, int] = msgspec.to_builtins(counts)
    said = ", ".join(f"{name.replace('_', ' ')} {number}" for name, number in numbers.items())
    err.print(f"{written} rows in {out}", markup=False)
    err.print(said, markup=False)
    for sentence in folder.choice:
        err.print(sentence, markup=False)
    if numbers.get("barred"):
        err.print(
            "barred: right, but with a flag that keeps it out (thresholds are the task's: metadata.flags; single flags"
            f" are dismissed with `lydite flags review {run}`)",
            markup=False,
        )
    if not counts.groups:
        where = f"in phase {phase!r}" if phase else "outside the phases before and after (name one with --phase)"
        err.print(f"the run has no attempts {where}", markup=False)
    if as_json:
        print_json({"file": str(out), "rows": written, "verdicts": folder.verdicts or "old", **numbers})

"""``lydite report``: what a run did and what came of it, as Markdown with curves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False)


@app.command()
def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.", show_default=False)],
    verdicts: Annotated[
        str,
        typer.Option(
            metavar="WHICH",
            help="old (recorded first), rescored (the latest rescoring), or a rescoring's name: report-NAME.md.",
        ),
    ] = "old",
) -> None:
    """Write RUN/report.md and RUN/curves/*.svg from what the folder holds, and print the report's path."""
    from lydite.evaluation import write_report
    from lydite.ledger import RunFolder

    print(write_report(RunFolder.open(run, verdicts=verdicts)))

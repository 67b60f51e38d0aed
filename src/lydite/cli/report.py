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
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Instead: the run as one HTML file with its attempts, to send or keep.",
            show_default=False,
        ),
    ] = None,
    groups: Annotated[int, typer.Option(min=0, help="How many groups --html shows, beside those with a flag.")] = 50,
) -> None:
    """Write RUN/report.md and RUN/curves/*.svg from what the folder holds, and print the report's path.

    With --html one file with all of it and the attempts themselves: no script in it, and it asks for nothing.
    """
    from lydite.evaluation import write_report
    from lydite.ledger import RunFolder

    folder = RunFolder.open(run, verdicts=verdicts)
    if html is None:
        print(write_report(folder))
        return
    from lydite.cli.outputs import free
    from lydite.evaluation.single_page import write_single_page

    free(html)
    print(write_single_page(folder, html, groups=groups))

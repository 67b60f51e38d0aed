"""``lydite environments``: the worlds of episodes, and the contract suite for one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, no_args_is_help=True, help="The worlds of episodes, and their contract suite.")
_Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]


@app.command("list")
def list_(as_json: _Json = False) -> None:
    """The environments that a task can name, with their tools."""
    from lydite.cli.console import print_json
    from lydite.environments import Environments, names

    environments = Environments()
    found = {name: [tool.name for tool in environments.find(name).tools] for name in names()}
    if as_json:
        print_json({"environments": found})
    else:
        for name, tools in found.items():
            print(f"{name}\t{', '.join(tools)}")
    environments.close()


@app.command()
def check(
    name: Annotated[str, typer.Argument(help="A name, or path.py:NAME.", show_default=False)],
    task: Annotated[
        Path | None, typer.Option(help="A file of tasks: the first one is what it is started with.")
    ] = None,
    as_json: _Json = False,
) -> int:
    """Run the contract suite on an environment. Exit 0 when every promise is kept, 1 when one is not.

    A file that is named as path.py:NAME is imported and run.
    """
    from lydite.cli.console import print_json
    from lydite.environments import Environments
    from lydite.environments.contract import run_contract
    from lydite.tasksets import load_tasks

    given = load_tasks([task], limit=1)[0] if task is not None else None
    environments = Environments()
    findings = []
    try:
        for finding in run_contract(environments.find(name), given):
            findings.append(finding)
            if not as_json:
                print(f"{'ok  ' if finding.passed else 'FAIL'}  {finding.check:8}  {finding.promise}")
                if not finding.passed:
                    print(f"      {''.join(c if c.isprintable() else repr(c)[1:-1] for c in finding.evidence)}")
    finally:
        environments.close()
    kept = sum(finding.passed for finding in findings)
    if as_json:
        print_json({"environment": name, "passed": kept == len(findings), "checks": findings})
    else:
        print(f"\n{name}: {kept} of {len(findings)} promises kept")
    return 0 if kept == len(findings) else 1

"""``lydite verifiers``: what there is, how each is used and attacked, and whether your own keeps the contract."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from lydite.verifiers import Example
    from lydite.verifiers.contract import Finding
    from lydite.verifiers.describe import Description

app = typer.Typer(help="List, show and check verifiers.", no_args_is_help=True, add_completion=False)

WIDTH = 100

_Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
_Name = Annotated[str, typer.Argument(metavar="NAME|path.py:name", help="A verifier.", show_default=False)]


@app.command("list")
def list_(as_json: _Json = False) -> None:
    """The verifiers that there are: built in, and offered by installed packages."""
    from lydite.cli.console import print_json
    from lydite.verifiers import names
    from lydite.verifiers.describe import describe

    rows = [describe(name) for name in names()]
    if as_json:
        print_json(
            [
                {
                    "name": row.name,
                    "version": row.version,
                    "judges": row.judges,
                    "available": row.available,
                    "why_not": row.why_not or None,
                }
                for row in rows
            ]
        )
        return
    labels = [f"{row.name}@{row.version}" if row.version else row.name for row in rows]
    width = max(map(len, labels))
    for label, row in zip(labels, rows, strict=True):
        print(_hanging(row.judges, f"{label:{width}}  "))
        if row.why_not:
            print(_hanging(f"not here: {row.why_not}", " " * (width + 2)))


@app.command()
def show(name: _Name, as_json: _Json = False) -> int:
    """What a verifier takes, an example of its use, and the cheapest way to cheat it, which it refuses."""
    from lydite.cli.console import print_json
    from lydite.errors import InputError
    from lydite.verifiers.describe import describe

    told = describe(name)
    if told.version is None:
        raise InputError(told.why_not)
    if as_json:
        print_json(
            {
                "name": told.name,
                "version": told.version,
                "judges": told.judges,
                "about": told.about,
                "fields": told.fields,
                "source": told.source,
                "available": told.available,
                "why_not": told.why_not or None,
                "examples": told.examples,
            }
        )
    else:
        _print_description(told)
    return 0


@app.command()
def check(
    name: _Name,
    config: Annotated[str | None, typer.Option(metavar="JSON", help="Configuration of an example.")] = None,
    right: Annotated[str | None, typer.Option(metavar="TEXT", help="A completion that is correct under it.")] = None,
    wrong: Annotated[str | None, typer.Option(metavar="TEXT", help="A completion that is graded, and not so.")] = None,
    prompt: Annotated[str | None, typer.Option(metavar="TEXT", help="The prompt that both answer.")] = None,
    only: Annotated[list[str] | None, typer.Option(metavar="CHECK", help="This check alone; may be repeated.")] = None,
    timeout: Annotated[float, typer.Option(metavar="S", help="Seconds after which one verdict hangs.")] = 60.0,
    as_json: _Json = False,
) -> int:
    """Run the contract suite on a verifier. Exit 0 when every promise is kept, 1 when one is not.

    Examples come from the verifier's attribute `examples`, or from --config, --right and --wrong. A file that is named
    as path.py:name is imported and run.
    """
    from lydite.cli.console import print_json
    from lydite.verifiers.contract import CHECKS, run_contract
    from lydite.verifiers.run import check_limits

    check_limits(1, timeout)
    examples = _examples(config, right, wrong, prompt)
    found: dict[str, list[Finding]] = {}
    current = ""
    for finding in run_contract(name, examples, checks=only or (), timeout=timeout):
        if finding.check != current and current and not as_json:
            _print_row(found[current])
        current = finding.check
        found.setdefault(current, []).append(finding)
    broken = [finding for findings in found.values() for finding in findings if not finding.passed]
    if as_json:
        checks = [_row(findings) for findings in found.values()]
        failures = [
            {
                "check": one.check,
                "subject": one.subject,
                "evidence": one.evidence,
                "promise": CHECKS[one.check].promise,
                "remedy": CHECKS[one.check].remedy,
            }
            for one in broken
        ]
        print_json({"verifier": name, "passed": not broken, "checks": checks, "failures": failures})
    else:
        _print_row(found[current])
        _print_failures(broken)
        kept = sum(all(one.passed for one in findings) for findings in found.values())
        print(f"\n{name}: {kept} of {len(found)} promises kept")
    return 1 if broken else 0


def _examples(config: str | None, right: str | None, wrong: str | None, prompt: str | None) -> tuple[Example, ...]:
    """The example that the options make, if any is given."""
    from lydite.errors import InputError
    from lydite.verifiers import Example

    given = {"--config": config, "--right": right, "--wrong": wrong}
    if prompt is None and all(value is None for value in given.values()):
        return ()
    if right is None or wrong is None:
        missing = "--right" if right is None else "--wrong"
        raise InputError("is missing", field=missing, remedy="an example is --right and --wrong, and --config if any")
    try:
        settings = json.loads(config or "{}")
    except ValueError as error:
        raise InputError(f"not JSON: {error}", field="--config", remedy='for example {"answer": "42"}') from None
    if not isinstance(settings, dict):
        raise InputError("expected a JSON object", field="--config", remedy='for example {"answer": "42"}')
    return (Example(config=settings, right=right, wrong=wrong, prompt=prompt),)


def _row(findings: list[Finding]) -> dict[str, Any]:
    from lydite.verifiers.contract import CHECKS

    name = findings[0].check
    return {
        "name": name,
        "promise": CHECKS[name].promise,
        "passed": all(one.passed for one in findings),
        "tried": sum(not one.skipped for one in findings),
        "failed": sum(not one.passed for one in findings),
        "skipped": [one.evidence for one in findings if one.skipped],
    }


def _print_row(findings: list[Finding]) -> None:
    row = _row(findings)
    mark = "ok  " if row["passed"] else "FAIL"
    count = f"{row['tried'] - row['failed']}/{row['tried']}"
    print(_hanging(row["promise"], f"{mark}  {row['name']:13}  {count:>7}  "), flush=True)
    for why in row["skipped"]:
        print(_hanging(f"not tried: {why}", " " * 30))


def _print_failures(broken: list[Finding]) -> None:
    from lydite.verifiers.contract import CHECKS

    checks = dict.fromkeys(one.check for one in broken)
    for name in checks:
        mine = [one for one in broken if one.check == name]
        print(f"\n{name}: {CHECKS[name].promise}")
        for one in mine[:MAX_SHOWN]:
            print(_hanging(_visible(one.evidence), f"    {one.subject}: " if one.subject else "    "))
        if len(mine) > MAX_SHOWN:
            print(f"    and {len(mine) - MAX_SHOWN} more (--json lists all)")
        print(_hanging(CHECKS[name].remedy, "    remedy: "))


MAX_SHOWN = 5
"""Failures of one check that are printed for a person."""


def _print_description(told: Description) -> None:
    print(_hanging(told.judges, f"{told.name}@{told.version}  "))
    print(f"source   {told.source}")
    print(f"fields   {', '.join(told.fields) if told.fields else 'not told'}")
    if told.why_not:
        print(_hanging(told.why_not, "not here "))
    if told.about:
        print(f"\n{told.about}")
    for example in told.examples:
        print("\nexample")
        checker = json.dumps({"type": told.name, "config": example.config}, ensure_ascii=False)
        files = json.dumps(example.files, ensure_ascii=False) if example.files else None
        rows = {"checker": checker, "prompt": example.prompt, "files": files}
        rows |= {"right": example.right, "wrong": example.wrong}
        for label, text in rows.items():
            if text is not None:
                print(f"  {label:8} {_visible(text)}")
        for number, (hack, text) in enumerate(example.hacks.items()):
            print(f"  {'cheapest hack' if number == 0 else 'hack'}, refused: {hack}\n           {_visible(text)}")


def _visible(text: str, limit: int = 600) -> str:
    """Text in one line, with what would move the cursor shown as an escape."""
    shown = text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in shown)


def _hanging(text: str, lead: str) -> str:
    """Text behind a lead, its further lines indented."""
    indent = " " * min(len(lead), 40)
    return textwrap.fill(lead + text, WIDTH, subsequent_indent=indent, break_on_hyphens=False, drop_whitespace=True)

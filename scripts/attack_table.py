"""Runs every attack against every back end that works here and writes docs/sandbox-attacks.json and .md.

    .venv/bin/python scripts/attack_table.py [BACKEND ...]

Run as root, it runs as root and as an ordinary user; otherwise as the user it is. Takes about a minute for each.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(CHECKOUT / "tests" / "sandbox"))

from attack_launch import launch, missing  # noqa: E402
from attack_programs import attacks  # noqa: E402

BACKENDS = ("namespaces", "namespaces-nocgroup", "landlock", "bwrap", "nsjail", "runsc", "crun", "runc")
USERS = ("root", "ordinary") if os.getuid() == 0 else ("ordinary",)


def run(backends: list[str]) -> dict[str, Any]:
    """All records, and what they were made with."""
    columns, skipped, records = [], {}, []
    for backend in backends:
        for user in USERS:
            name = f"{backend}, {user}"
            if reason := missing(backend, user):
                skipped[name] = re.sub(r"/[\w/.-]{40,}", "...", reason.rpartition("UnavailableError: ")[2])[:200]
                print(f"{name}: {skipped[name]}", file=sys.stderr)
                continue
            columns.append(name)
            found = launch(backend, user)
            records += found
            got_through = [record["attack"] for record in found if not record["stopped"]]
            print(f"{name}: {len(found)} attacks, not stopped: {', '.join(got_through) or 'none'}", file=sys.stderr)
    return {
        "command": " ".join(["scripts/attack_table.py", *sys.argv[1:]]),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "columns": columns,
        "not available": skipped,
        "records": records,
    }


def lines(result: dict[str, Any]) -> str:
    """The result as JSON, one record a line."""
    records = ",\n".join(json.dumps(record, ensure_ascii=False) for record in result["records"])
    head = json.dumps({**result, "records": []}, ensure_ascii=False, indent=1)
    return head.replace('"records": []', f'"records": [\n{records}\n ]') + "\n"


def table(result: dict[str, Any]) -> str:
    """The result as Markdown: first who stopped how many, then the attacks that somebody did not stop, then all."""
    columns = result["columns"]
    stopped = {(row["attack"], f"{row['backend']}, {row['user']}"): row["stopped"] for row in result["records"]}
    how = {(row["attack"], f"{row['backend']}, {row['user']}"): row["how"] for row in result["records"]}
    names = [attack.name for attack in attacks()] + ["after the end"]
    headers = {attack.name: attack.header for attack in attacks()}
    lines = [
        "# Attacks on the sandbox",
        "",
        f"Made by `{result['command']}` on {result['date']}: {result['kernel']}, Python {result['python']}.",
        "The programs are in `tests/sandbox/attacks`, one file each, in a folder for each way of doing harm. Between the",
        "attacks honest jobs run, one more runs beside them all the time, and their results must be exactly right. The",
        "same table for machines is [sandbox-attacks.json](sandbox-attacks.json). The attacks were written by the authors",
        "of the sandbox: that all are stopped shows that the layers are complete, not that there is no bug.",
        "",
        "| back end, user | attacks | stopped |",
        "|---|---|---|",
    ]
    for column in columns:
        answers = [stopped[name, column] for name in names if (name, column) in stopped]
        lines.append(f"| {column} | {len(answers)} | {sum(answers)} |")
    lines += [f"| {name} | | not available: {reason} |" for name, reason in result["not available"].items()]
    lines += ["", "`✗`: the attack succeeded. `·`: it was stopped.", ""]
    lines += ["| attack | what it tries | " + " | ".join(columns) + " |", "|---|---|" + "---|" * len(columns)]
    for name in names:
        marks = [{True: "·", False: "✗", None: ""}[stopped.get((name, column))] for column in columns]
        what = headers.get(name, "Processes, files or descriptors left after the sandbox was closed.")
        lines.append(f"| `{name}` | {_escaped(what)} | " + " | ".join(marks) + " |")
    lines += ["", "## What showed that an attack succeeded", ""]
    for column in columns:
        through = [name for name in names if stopped.get((name, column)) is False]
        if through:
            lines += [f"### {column}", ""]
            lines += [f"- `{name}`: {_escaped(how[name, column].splitlines()[0][:200])}" for name in through] + [""]
    return "\n".join(lines).rstrip() + "\n"


def _escaped(text: str) -> str:
    for character in "\\|<*_`":
        text = text.replace(character, f"\\{character}")
    return text


def main() -> None:
    result = run(sys.argv[1:] or list(BACKENDS))
    (CHECKOUT / "docs" / "sandbox-attacks.json").write_text(lines(result))
    (CHECKOUT / "docs" / "sandbox-attacks.md").write_text(table(result))


if __name__ == "__main__":
    main()

"""``lydite ledger rescore``: judge a run's samples another time, and list what flipped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from lydite.ledger import RunFolder
    from lydite.ledger.changes import Change
    from lydite.ledger.flips import Flip, FlipCounts
    from lydite.task import Checker

_SHOWN = 10


def rescore(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.", show_default=False)],
    checker: Annotated[
        str | None,
        typer.Option(
            metavar="JSON|FILE",
            help="A checker whose fields are set in all checkers of its type (null removes one), or a file with one;"
            " or a task file: its checkers, task by task.",
            show_default=False,
        ),
    ] = None,
    verifier: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|OLD=NEW",
            help="Only tasks of this verifier, or judge those of OLD by NEW; also path.py:name (repeatable).",
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Of the rescoring; made up when not given.")] = None,
    phase: Annotated[str | None, typer.Option(help="Only attempts of this phase.")] = None,
    ids: Annotated[list[str] | None, typer.Option("--id", metavar="ID", help="Only this rollout (repeatable).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")] = False,
) -> None:
    """Judge recorded samples again: new verdicts beside the old ones, chained as new records, and the flips listed.

    Without --checker and --verifier each task is judged by its own checker, as the verifiers are now. The old verdicts
    stay; `export`, `report`, `show`, `compare` and `eval` take either (--verdicts). The same command again goes on
    where it was stopped.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from lydite.cli.console import err
    from lydite.ledger import RunFolder
    from lydite.sampling import rescore as judge_again

    change, settings = _change(RunFolder.open(run), checker, verifier or [])
    columns = (TextColumn("judging"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, disable=not err.is_terminal) as bar:
        line = bar.add_task("", total=None)
        done = judge_again(
            run,
            change,
            settings,
            name=name,
            phase=phase,
            ids=ids or (),
            progress=lambda count, total: bar.update(line, completed=count, total=total),
        )
    folder = RunFolder.open(run)
    flipped: list[Flip] = []
    counts = _counted(folder, done.name, flipped, everything=as_json)
    if as_json:
        _print(folder, done.name, counts, flipped)
    if not done.judged:
        err.print(f"nothing left to judge: the rescoring {done.name} is complete", markup=False)
    _tell(done.name, counts, flipped)
    err.print(f"head {done.head}", markup=False)
    err.print(f"take these verdicts with --verdicts {done.name}, such as in: lydite export preferences", markup=False)


def _change(run: RunFolder, checker: str | None, verifiers: list[str]) -> tuple[Change, dict[str, Any]]:
    """How tasks are judged now, and the same in plain JSON."""
    from lydite.errors import InputError
    from lydite.ledger.changes import Swap, as_they_are, by_swaps, by_tasks
    from lydite.tasksets import iter_tasks
    from lydite.verifiers.registry import find

    if checker is None and not verifiers:
        return as_they_are, {}
    swaps: list[Swap] = []
    for word in verifiers:
        old, given, new = word.partition("=")
        old, new = (old, new) if given else ("", word)
        find(new)
        swaps.append(Swap(old or None, new))
    settings: dict[str, Any] = {"verifier": verifiers} if verifiers else {}
    if checker is not None:
        found = _read_checker(checker)
        if found is None:
            if verifiers:
                remedy = "put the other verifier into the task file"
                raise InputError("a task file and --verifier do not go together", field="--checker", remedy=remedy)
            return by_tasks(iter_tasks([checker])), {"tasks": "by a task file"}
        find(found.type)
        swaps.append(Swap(None, found.type, found.config))
        settings["checker"] = {"type": found.type, "config": found.config}
    return by_swaps(swaps, run.tasks()), settings


def _read_checker(given: str) -> Checker | None:
    """A checker from JSON or from a file; ``None`` for a file that holds something else: tasks."""
    import json

    import yaml

    from lydite.errors import InputError
    from lydite.task import Checker

    path = None
    if not given.lstrip().startswith("{"):
        path = Path(given)
        if not path.is_file():
            raise InputError(
                "neither a JSON object nor a file", path=given[:200], field="--checker",
                remedy='such as \'{"type": "math", "config": {"extraction": "strict"}}\'',
            )  # fmt: skip
        if path.suffix not in (".json", ".yaml", ".yml"):
            return None
    try:
        text = path.read_text(encoding="utf-8") if path is not None else given
        # YAML reads numbers such as 1e-3 as text, so JSON is read as JSON.
        document = yaml.safe_load(text) if path is not None and path.suffix != ".json" else json.loads(text)
    except (yaml.YAMLError, ValueError, OSError, RecursionError) as error:
        told = " ".join(str(error).split())[:200]
        raise InputError(f"cannot be read: {told}", path=path, field="--checker") from None
    if path is not None and (not isinstance(document, dict) or "type" not in document or "prompt" in document):
        return None
    if set(document) - {"type", "config"} or not isinstance(document.get("type"), str):
        raise InputError("is no checker", path=path, field="--checker", remedy='give {"type": …, "config": {…}}')
    config = document.get("config", {})
    if not isinstance(config, dict) or not all(isinstance(name, str) for name in config):
        raise InputError("expected an object", path=path, field="--checker.config")
    return Checker(type=document["type"], config=config)


def _counted(run: RunFolder, name: str, kept: list[Flip], *, everything: bool) -> FlipCounts:
    """Counts of a rescoring; adds the flips to ``kept``: all of them, or the first few of each way."""
    from collections import Counter

    from lydite.ledger.flips import FLIPPED, count, flips

    seen: Counter[str] = Counter()

    def passing() -> Iterator[Flip]:
        for flip in flips(run, name):
            if flip.way in FLIPPED:
                seen[flip.way] += 1
                if everything or seen[flip.way] <= _SHOWN:
                    kept.append(flip)
            yield flip

    return count(passing())


def _print(run: RunFolder, name: str, counts: FlipCounts, flipped: list[Flip]) -> None:
    from lydite.cli.console import print_json

    header = run.rescorings()[name].header
    print_json(
        {
            "run": str(run.path),
            "rescoring": name,
            "settings": header.settings,
            "verifiers": header.verifiers,
            "records": counts.records,
            **counts.ways,
            "flipped": counts.flipped,
            "outcomes": counts.outcomes,
            "reasons": counts.reasons,
            "tasks": counts.tasks,
            "flips": [
                {
                    "id": flip.id, "task": flip.task, "way": flip.way, "of": flip.of, "record": flip.seq,
                    "before": flip.before, "after": flip.after,
                }
                for flip in flipped
            ],
            "head": run.info.head,
        }
    )  # fmt: skip


def _tell(name: str, counts: FlipCounts, flipped: list[Flip]) -> None:
    from rich.table import Table

    from lydite.cli.console import err
    from lydite.ledger.flips import FLIPPED, Way

    words = {
        Way.GAINED: "correct now, and were not",
        Way.LOST: "were correct, and are not any more",
        Way.MOVED: "another outcome or score, correct neither before nor now",
    }
    same = counts.records - counts.flipped
    err.print(f"rescoring {name}: {counts.records} verdicts, {same} as before, {counts.flipped} flipped", markup=False)
    if counts.ways[Way.REWORDED]:
        err.print(f"  {counts.ways[Way.REWORDED]} of the same outcome and score in other words", markup=False)
    for way in FLIPPED:
        if not counts.ways[way]:
            continue
        err.print(f"{counts.ways[way]} {words[way]}:", markup=False)
        for flip in flipped:
            if flip.way is way:
                err.print(f"  {flip.id}: {_verdict(flip.before)} -> {_verdict(flip.after)}", markup=False)
        if counts.ways[way] > _SHOWN:
            err.print(f"  … and {counts.ways[way] - _SHOWN} more (--json lists them)", markup=False)
    if counts.tasks:
        table = Table("task", *(str(way) for way in FLIPPED))
        ranked = sorted(counts.tasks.items(), key=lambda item: -sum(item[1].values()))
        for task, ways in ranked[:_SHOWN]:
            table.add_row(task, *(str(ways[way]) for way in FLIPPED))
        err.print(table)
        if len(ranked) > _SHOWN:
            err.print(f"… and {len(ranked) - _SHOWN} more tasks with flips", markup=False)


def _verdict(verdict: Any) -> str:
    score = "" if verdict.score is None or verdict.score in (0, 1) else f" {verdict.score:.3g}"
    return f"{verdict.outcome}{score} ({verdict.reason})"

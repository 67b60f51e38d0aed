"""``lydite verify``: judge a file of completions, as a stream."""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from lydite.cli.verify_output import Sink
from lydite.errors import InputError

if TYPE_CHECKING:
    from lydite.cli.verify_lines import Tally

app = typer.Typer(add_completion=False)


@app.command()
def verify(
    source: Annotated[
        str, typer.Argument(metavar="IN.jsonl", help="Completions, one object a line; - is standard input.")
    ],
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="OUT.jsonl", help="Verdicts; - is standard output.")
    ] = "-",
    verifier: Annotated[str | None, typer.Option(help="Verifier for lines that have a gold and no checker.")] = None,
    config: Annotated[str | None, typer.Option(metavar="JSON", help="Further configuration for --verifier.")] = None,
    jobs: Annotated[int, typer.Option(help="Worker processes.")] = 1,
    timeout: Annotated[float | None, typer.Option(metavar="S", help="Seconds for one verdict.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Add the steps that led to each verdict.")] = False,
) -> int:
    """Judge completions: {"id", "completion", "gold" or "checker", "prompt"} a line in, one verdict a line out.

    A checker counts before a gold; further columns are left alone. A line that cannot be read, or that has two
    completions, golds or checkers, becomes an invalid line that names its number; the others are unaffected, and the
    exit code is 2. Blank lines are skipped.
    """
    from lydite.cli.verify_lines import Tally
    from lydite.verifiers.run import check_limits

    check_limits(jobs, timeout)
    setup = _setup(verifier, config, explain, source)
    total = Tally()
    with ExitStack() as stack:
        stream = _open_input(source, output, stack)
        sink = Sink(output)
        stack.callback(sink.close)
        for tally, lines in _judge(stream, setup, jobs, timeout):
            total.add(tally)
            sink.write(lines)
    _say(total)
    return 2 if total.bad else 0


def _say(total: Tally) -> None:
    # Plain print: importing rich would be a tenth of the time that this command takes on a short file.
    told = ", ".join(f"{count} {outcome}" for outcome, count in total.counts.items() if count)
    print(f"{sum(total.outcomes)} judged" + (f": {told}" if told else ""), file=sys.stderr)
    if total.bad:
        told = f"error: {total.bad} could not be read or had no usable checker; their output lines say why"
        print(told, file=sys.stderr)
    if total.broken:
        told = f"warning: the verifier broke on {total.broken}, which have no score; first: {total.blame}"
        print(told, file=sys.stderr)
    if total.lost:
        told = f"warning: {total.lost} have no score, as their worker process ended; judge these lines once more"
        print(told, file=sys.stderr)


def _setup(verifier: str | None, config: str | None, explain: bool, source: str) -> bytes:
    """Options that workers need, checked before anything is opened."""
    from lydite.userfile import absolute
    from lydite.verifiers import find

    if config is not None and verifier is None:
        raise InputError("is the configuration of --verifier, which is not given", field="--config")
    given: Any = {}
    if config is not None:
        try:
            given = json.loads(config)
        except ValueError as error:
            raise InputError(
                f"not JSON: {error}", field="--config", remedy='for example {"extraction": "strict"}'
            ) from None
        if not isinstance(given, dict):
            raise InputError("expected a JSON object", field="--config", remedy='for example {"extraction": "strict"}')
    if verifier is not None:
        verifier = absolute(verifier)
        find(verifier)
    if verifier is not None and given:
        _try_config(verifier, given)
    return msgspec.json.encode([verifier, given, explain, "standard input" if source == "-" else source])


def _try_config(verifier: str, config: dict[str, Any]) -> None:
    """Refuse a configuration that every line would be refused for: any fault but that of the answer, which lines
    bring."""
    from lydite.verifiers import build

    try:
        build({"type": verifier, "config": {"answer": "0", **config}})
    except InputError as error:
        field = (error.field or "").removeprefix("checker.config").removeprefix(".")
        if field.partition(".")[0].partition("[")[0] == "answer" and "answer" not in config:
            return
        raise InputError(error.message, field=f"--config {field}".strip(), remedy=error.remedy) from None


def _open_input(source: str, output: str, stack: ExitStack) -> IO[bytes]:
    if source == "-":
        if sys.__stdin__ is None:
            raise InputError("is closed", path="standard input", remedy="name a file")
        return sys.stdin.buffer
    path = Path(source)
    try:
        if output != "-" and Path(output).exists() and Path(output).samefile(path):
            raise InputError("is the input itself", path=output, field="-o", remedy="write to another file")
        return stack.enter_context(path.open("rb", buffering=1 << 20))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from None


def _judge(stream: IO[bytes], setup: bytes, jobs: int, timeout: float | None) -> Iterator[tuple[Tally, bytes]]:
    """Tallies and output lines, block by block."""
    from lydite.cli.verify_lines import FRAMING, blocks, lost_line, make_judge, prepared, unframed
    from lydite.verifiers.chunks import Lost, NoClock, Pace
    from lydite.verifiers.forked import may_fork
    from lydite.verifiers.pool import map_in_processes

    pace = Pace()
    # Of what a short-lived process holds, next to nothing is garbage in circles.
    gc.set_threshold(20_000, 20, 20)
    if jobs == 1 and timeout is None:
        judge = make_judge(setup)
        for block in blocks(stream, pace):
            started = time.monotonic()
            reply = judge(block, NoClock())
            pace.note(len(block), time.monotonic() - started)
            yield unframed(reply)
        return
    parts = blocks(stream, pace)
    first = next(parts, None)
    if first is None:
        return
    work = prepared(setup, first) if may_fork() else None
    if not may_fork():  # something was started meanwhile
        work = None
    target = "lydite.cli.verify_lines:make_judge"
    for got in map_in_processes(target, chain([first], parts), jobs, FRAMING, pace, timeout, setup, work):
        yield unframed(lost_line(got, timeout) if isinstance(got, Lost) else got)

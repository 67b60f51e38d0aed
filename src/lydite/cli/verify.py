"""``lydite verify``: judge a file of completions, as a stream."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Annotated, Any

import msgspec
import typer

from lydite.cli.verify_output import Sink
from lydite.codec import well_formed
from lydite.errors import InputError, UnavailableError
from lydite.flag import Flag
from lydite.task import Checker, Task
from lydite.verdict import Outcome, Part, Verdict

app = typer.Typer(add_completion=False)

MAX_LINE = 64 << 20
"""Bytes of the longest line that is read; a longer one becomes an ``invalid`` line."""

_NULL = msgspec.Raw(b"null")
_CODES = {outcome: bytes([index]) for index, outcome in enumerate(Outcome)}
_BAD = b"!"
_BROKEN = b"?"


class _Row(msgspec.Struct):
    completion: str | list[dict[str, Any]] | None
    id: msgspec.Raw = _NULL
    gold: Any = msgspec.UNSET
    checker: dict[str, Any] | None = None
    prompt: str | list[dict[str, Any]] | None = None


class _Out(msgspec.Struct, omit_defaults=True):
    id: msgspec.Raw
    outcome: Outcome
    score: float | None
    reward: float | None
    reason: str
    extracted: str | None
    flags: tuple[str, ...]
    verifier: str
    seconds: float
    parts: tuple[Part, ...] = ()
    detail: str | None = None
    line: int | None = None


class _Blame(msgspec.Struct):
    verifier: str = ""
    detail: str | None = None

    def told(self) -> str:
        return f"{self.verifier}: {self.detail}"


_BLAME = msgspec.json.Decoder(_Blame)
_ROWS = msgspec.json.Decoder(_Row)
_OUT = msgspec.json.Encoder()


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
) -> int:
    """Judge completions: {"id", "completion", "gold" or "checker", "prompt"} a line in, one verdict a line out.

    A line that cannot be read becomes an invalid line that names its number; the others are unaffected, and the exit
    code is 2. Blank lines are skipped.
    """
    from lydite.verifiers.run import check_limits

    check_limits(jobs, timeout)
    setup = _setup(verifier, config)
    counts = dict.fromkeys(Outcome, 0)
    bad = broken = 0
    first = ""
    with ExitStack() as stack:
        lines = _open_input(source, output, stack)
        sink = Sink(output)
        stack.callback(sink.close)
        for reply in _judge(_numbered(lines), setup, jobs, timeout):
            counts[_OUTCOMES[reply[0]]] += 1
            bad += reply[1:2] == _BAD
            if reply[1:2] == _BROKEN:
                broken += 1
                first = first or _BLAME.decode(reply[2:]).told()
            sink.write(reply[2:])
    _say(counts, bad)
    if broken:
        print(f"warning: the verifier broke on {broken}, which have no score; first: {first}", file=sys.stderr)
    return 2 if bad else 0


_OUTCOMES = list(Outcome)


def _say(counts: dict[Outcome, int], bad: int) -> None:
    # Plain print: importing rich would be a tenth of the time that this command takes on a short file.
    told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
    print(f"{sum(counts.values())} judged" + (f": {told}" if told else ""), file=sys.stderr)
    if bad:
        print(f"error: {bad} could not be read or had no usable checker; their output lines say why", file=sys.stderr)


def _setup(verifier: str | None, config: str | None) -> bytes:
    """Options that workers need, checked before anything is opened."""
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
        find(verifier)
    if verifier is not None and given:
        _try_config(verifier, given)
    return msgspec.json.encode([verifier, given])


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
        return sys.stdin.buffer
    path = Path(source)
    try:
        if output != "-" and Path(output).exists() and Path(output).samefile(path):
            raise InputError("is the input itself", path=output, field="-o", remedy="write to another file")
        return stack.enter_context(path.open("rb", buffering=1 << 20))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from None


def _numbered(stream: IO[bytes]) -> Iterator[bytes]:
    """Lines with their numbers in front (eight bytes). Of a line that is too long, only the number and a mark is
    kept."""
    number = 0
    while line := stream.readline(MAX_LINE):
        number += 1
        if len(line) == MAX_LINE and not line.endswith(b"\n"):
            while (rest := stream.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                pass
            line = b"\0"
        if line.strip():
            yield number.to_bytes(8, "big") + line


def _judge(items: Iterable[bytes], setup: bytes, jobs: int, timeout: float | None) -> Iterator[bytes]:
    if jobs == 1 and timeout is None:
        yield from map(make_judge(setup), items)
        return
    from lydite.verifiers.pool import Lost, map_in_processes
    from lydite.verifiers.run import lost_verdict

    for reply in map_in_processes("lydite.cli.verify:make_judge", items, jobs, timeout, setup):
        if isinstance(reply, Lost):
            number, line = int.from_bytes(reply.item[:8], "big"), reply.item[8:]
            row = _read(line, number)
            yield _reply(row.id, lost_verdict(reply), seconds=timeout if timeout and reply.why == "timeout" else 0.0)
        else:
            yield reply


def make_judge(setup: bytes) -> Callable[[bytes], bytes]:
    """The function from a numbered line to an output line with two bytes before it: the outcome, and whether the line
    was bad or the verifier broke."""
    from lydite.detectors import detect
    from lydite.rollout import Message, Rollout
    from lydite.verifiers import build
    from lydite.verifiers.run import submission

    verifier, config = msgspec.json.decode(setup, type=tuple[str | None, dict[str, Any]])

    def judge(item: bytes) -> bytes:
        number = int.from_bytes(item[:8], "big")
        row_id = _NULL
        try:
            row = _read(item[8:], number)
            row_id = row.id
            checker = _checker(row, verifier, config)
            check = build(checker)
        except InputError as error:
            verdict = Verdict.invalid("unreadable_line", "", detail=str(error.at(line=number))[:1000])
            return _reply(row_id, verdict, line=number, mark=_BAD)
        except UnavailableError as error:
            verdict = Verdict.invalid("unavailable", "", detail=f"line {number}: {error}"[:1000])
            return _reply(row_id, verdict, line=number, mark=_BAD)
        started = time.perf_counter()
        given = submission(row.completion, row.prompt)
        verdict = given if isinstance(given, Verdict) else check(given)
        seconds = time.perf_counter() - started
        flags: tuple[Flag, ...] = ()
        if verdict.correct and not isinstance(given, Verdict):
            said = given.messages or (Message(role="assistant", content=given.text),)
            rollout = Rollout(id="", task="", task_digest="", completion=said)
            flags = detect(rollout, verdict, Task(id="", prompt=(), checker=Checker(type=checker["type"])))
        return _reply(row_id, verdict, flags, seconds, mark=_BROKEN if verdict.reason == "verifier_error" else b" ")

    return judge


def _read(line: bytes, number: int) -> _Row:
    if line == b"\0":
        raise InputError(f"longer than {MAX_LINE >> 20} MiB", line=number, remedy="split it")
    try:
        return _ROWS.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        told = str(error)
    try:  # lone surrogates are legal in JSON's escapes, and models' bytes can decode to them
        return _ROWS.decode(well_formed(json.dumps(json.loads(line), ensure_ascii=False)).encode())
    except (ValueError, RecursionError):
        raise InputError(
            f"line {number} cannot be read: {told}", remedy='expected {"completion": …, "gold": …}'
        ) from None


def _checker(row: _Row, verifier: str | None, config: dict[str, Any]) -> dict[str, Any]:
    if row.checker is not None:
        return row.checker
    if verifier is None:
        raise InputError("no checker", field="checker", remedy="give the line a checker, or a gold and --verifier NAME")
    return {"type": verifier, "config": config if row.gold is msgspec.UNSET else {**config, "answer": row.gold}}


def _reply(
    row_id: msgspec.Raw,
    verdict: Verdict,
    flags: Iterable[Any] = (),
    seconds: float = 0.0,
    *,
    line: int | None = None,
    mark: bytes = b" ",
) -> bytes:
    from lydite.reward import RewardScheme

    out = _Out(
        id=row_id,
        outcome=verdict.outcome,
        score=verdict.score,
        reward=RewardScheme().reward(verdict, flags),
        reason=verdict.reason,
        extracted=None if verdict.extracted is None else well_formed(verdict.extracted),
        flags=tuple(flag.detector for flag in flags),
        verifier=verdict.verifier,
        seconds=round(seconds, 7),
        parts=verdict.parts,
        detail=verdict.detail,
        line=line,
    )
    return _CODES[verdict.outcome] + mark + _OUT.encode(out) + b"\n"

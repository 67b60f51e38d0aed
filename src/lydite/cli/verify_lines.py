"""From lines of completions to lines of verdicts: what ``lydite verify`` does in its workers.

A block is eight bytes, the number of its first line, and then whole lines as they stand in the file. Only the process
that judges a block looks into its lines.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache, partial
from importlib import import_module
from typing import IO, Any

import msgspec

from lydite.errors import InputError, MissingExtraError, UnavailableError
from lydite.userfile import absolute
from lydite.verdict import Outcome, Verdict
from lydite.verifiers.build import CompiledChecker, build, of_text
from lydite.verifiers.chunks import Clock, Framing, Lost, Pace, Work
from lydite.verifiers.registry import BUILTIN, find
from lydite.verifiers.rows import NULL, Row, id_of, read
from lydite.verifiers.run import lost_verdict, submission
from lydite.verifiers.spelling import spell

MAX_LINE = 64 << 20
"""Bytes of the longest line that is read; a longer one becomes an ``invalid`` line."""

_NUMBER = 8
_LONG = b"\0\n"
"""What stands for a line that is too long. A line of the file that is the same gets another NUL in front."""
_LIKE_LONG = re.compile(rb"^\0$", re.MULTILINE)
_OUTCOMES = list(Outcome)
_PLACES = {outcome: place for place, outcome in enumerate(_OUTCOMES)}


class Tally(msgspec.Struct, array_like=True):
    """What came out of some lines: how many of each outcome, how many that could not be read or had no usable checker,
    how many at which the verifier broke, the first of those, and how many whose worker was lost."""

    outcomes: list[int] = msgspec.field(default_factory=lambda: [0] * len(_OUTCOMES))
    bad: int = 0
    broken: int = 0
    blame: str = ""
    lost: int = 0

    def add(self, other: Tally) -> None:
        self.outcomes = [mine + more for mine, more in zip(self.outcomes, other.outcomes, strict=True)]
        self.bad += other.bad
        self.broken += other.broken
        self.blame = self.blame or other.blame
        self.lost += other.lost

    def count(self, verdict: Verdict) -> None:
        self.outcomes[_PLACES[verdict.outcome]] += 1
        if verdict.outcome is not Outcome.INVALID:
            return
        if verdict.reason == "worker_died":
            self.lost += 1
        elif verdict.reason == "verifier_error":
            self.broken += 1
            self.blame = self.blame or f"{verdict.verifier}: {verdict.detail}"

    @property
    def counts(self) -> dict[Outcome, int]:
        return dict(zip(_OUTCOMES, self.outcomes, strict=True))


def blocks(stream: IO[bytes], pace: Pace) -> Iterator[bytes]:
    """A stream in blocks of whole lines. Of a line that is too long, only a mark is kept."""
    first = 1
    while block := stream.read(pace.bytes):
        mark = b""
        if not block.endswith(b"\n"):
            begun = block.rfind(b"\n") + 1
            rest = stream.readline(MAX_LINE - (len(block) - begun))
            block += rest
            if len(block) - begun == MAX_LINE and not rest.endswith(b"\n"):
                block, mark = block[:begun], _LONG
                while (rest := stream.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                    pass
        if b"\0" in block:
            block = _LIKE_LONG.sub(b"\0\0", block)
        yield first.to_bytes(_NUMBER, "big") + block + mark
        first += block.count(b"\n") + len(mark) // len(_LONG)


def _numbered(block: bytes) -> list[tuple[int, bytes]]:
    """The lines of a block with their numbers; what follows the last line end is no line."""
    lines = block[_NUMBER:].split(b"\n")
    if not lines[-1]:
        lines.pop()
    return list(enumerate(lines, int.from_bytes(block[:_NUMBER], "big")))


def _split(block: bytes) -> list[bytes]:
    return [number.to_bytes(_NUMBER, "big") + line + b"\n" for number, line in _numbered(block)]


FRAMING = Framing(_split, lambda items: items[0][:_NUMBER] + b"".join(item[_NUMBER:] for item in items))


def make_judge(setup: bytes) -> Work:
    """The function from a block to a tally and output lines; ``setup`` is JSON of the verifier and its configuration
    for lines without a checker, whether steps are told, and what errors call the file."""
    from lydite.detectors.completion import look

    verifier, config, explain, path = msgspec.json.decode(setup, type=tuple[str | None, dict[str, Any], bool, str])
    here = os.getcwd()  # of paths in lines: a verifier may go elsewhere
    by_gold: Callable[[str], CompiledChecker] = lru_cache(256)(
        lambda gold: build({"type": verifier, "config": {**config, "answer": gold}})
    )
    if verifier in BUILTIN and not config:
        by_gold = partial(of_text, verifier, "answer")

    def check_of(row: Row) -> CompiledChecker:
        if row.checker is None and verifier is not None and type(row.gold) is str:
            return by_gold(row.gold)  # saves spelling the checker out, which costs as much as judging a short text
        return build(_checker(row, verifier, config, here))

    def judge(number: int, line: bytes, tally: Tally, clock: Clock) -> bytes:
        row_id = NULL
        try:
            if line == _LONG[:1]:
                raise InputError(f"longer than {MAX_LINE >> 20} MiB", remedy="split it")
            row = read(line)
            row_id = row.id
            check = check_of(row)
        except (InputError, UnavailableError) as error:
            tally.bad += 1
            if isinstance(error, InputError):
                verdict = Verdict.invalid("unreadable_line", "", detail=str(error.at(path=path, line=number))[:1000])
            else:
                verdict = Verdict.invalid("unavailable", "", detail=f"{path}:{number}: {error}"[:1000])
            tally.count(verdict)
            return _line(row_id if row_id is not NULL else id_of(line), verdict, line=number)
        clock.start(check.id)
        given = submission(row.completion, row.prompt)
        found = look(check, given)
        tally.count(found.verdict)
        steps = () if isinstance(given, Verdict) or not explain else check.explain(given)
        return _line(row_id, found.verdict, found.flags, found.seconds, explain=steps)

    def judge_block(block: bytes, clock: Clock) -> bytes:
        tally = Tally()
        out = []
        for index, (number, line) in enumerate(_numbered(block)):
            clock.item(index)
            if line.strip():
                out.append(judge(number, line, tally, clock))
        return _framed(tally, out)

    return judge_block


def prepared(setup: bytes, block: bytes) -> Work | None:
    """What workers do, with all imported that the first line of a block needs; ``None`` where a user's own verifier
    might be, of which nothing is known, and a copy of this process may not do."""
    verifier, config, *_ = msgspec.json.decode(setup)
    kind = verifier
    with suppress(InputError):
        checker = read(block[_NUMBER:].partition(b"\n")[0]).checker
        kind = checker.get("type") if checker else verifier
    if kind not in BUILTIN or verifier not in (None, *BUILTIN):
        return None
    with suppress(InputError, UnavailableError, MissingExtraError):
        find(kind)
        build({"type": kind, "config": {**config, "answer": "0"}})
    if kind in ("math", "choice"):
        import_module("lydite.verifiers.steps")  # what a detector reads with
    return make_judge(setup)


def lost_line(lost: Lost, timeout: float | None) -> bytes:
    """The reply for a line whose worker was lost."""
    (number, line), tally, verdict = _numbered(lost.item)[0], Tally(), lost_verdict(lost)
    tally.count(verdict)
    seconds = timeout if timeout and lost.why == "timeout" else 0.0
    told = None if lost.why == "timeout" else number
    return _framed(tally, [_line(id_of(line), verdict, seconds=seconds, line=told)])


def _framed(tally: Tally, lines: list[bytes]) -> bytes:
    head = msgspec.msgpack.encode(tally)
    return len(head).to_bytes(_NUMBER, "big") + head + b"".join(lines)


def unframed(reply: bytes) -> tuple[Tally, bytes]:
    """A reply's tally, and its lines."""
    end = _NUMBER + int.from_bytes(reply[:_NUMBER], "big")
    return msgspec.msgpack.decode(reply[_NUMBER:end], type=Tally), reply[end:]


def _checker(row: Row, verifier: str | None, config: dict[str, Any], here: str) -> dict[str, Any]:
    if row.checker is not None:
        kind = row.checker.get("type")
        if type(kind) is not str or ":" not in kind:
            return row.checker
        return {**row.checker, "type": absolute(kind, here)}
    if verifier is None:
        raise InputError("no checker", field="checker", remedy="give the line a checker, or a gold and --verifier NAME")
    return {"type": verifier, "config": config if row.gold is msgspec.UNSET else {**config, "answer": row.gold}}


def _line(row_id: msgspec.Raw, verdict: Verdict, *told: Any, **more: Any) -> bytes:
    return spell(row_id, verdict, *told, **more) + b"\n"

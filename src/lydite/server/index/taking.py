"""What is new in a run folder since it was last looked at: read, checked, ready to be stored.

A slice is bounded, so that a large run is taken in piece by piece; the rest waits for the next one.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from lydite.codec import sha256
from lydite.errors import InputError
from lydite.ledger import contents, info, reviews, taskfile, writer
from lydite.ledger.chain import RESCORE, RESCORING, hash_in, kind_of, place
from lydite.ledger.reading import UNREADABLE, damaged, read_record, read_rollout, read_task
from lydite.ledger.reviews import Decision, Review
from lydite.server.index import reading
from lydite.server.index.gathered import Gathered

ROWS = 5000
"""Lines of a file that one slice takes in at most ..."""
BYTES = 64 << 20
"""... and bytes."""

FILES = (info.FILE, contents.LEDGER, contents.ROLLOUTS, writer.METRICS, taskfile.FILE, reviews.FILE)
"""What is followed."""
GROUP = 3
"""Place of the group's number in a row of attempts."""

_STEP = re.compile(r"train-(\d{1,6})-(\d{1,9})(?:\.\d+)?")
_CUT = 200


class ReplacedError(Exception):
    """What was indexed is not there any more: the folder holds another run, or an earlier state of this one."""


class Slice:
    """What is new.

    Attributes:
        values: columns of the run's row that change.
        tasks, rollouts, rescored, flags, steps: rows, in the order of the columns of their tables.
        groups: by phase and task, what the attempts of this slice say of them.
        decisions: of every flag of the run that people reviewed; loaded only where they are needed.
        decided: those that are new.
        more: whether there is more to take in at once.
        error: why the rest cannot be read.
    """

    __slots__ = (
        "decided", "decisions", "error", "flags", "groups", "more", "rescored", "rollouts", "steps", "tasks", "values",
    )  # fmt: skip

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.tasks: list[tuple[Any, ...]] = []
        self.rollouts: list[tuple[Any, ...]] = []
        self.rescored: list[tuple[Any, ...]] = []
        self.flags: list[tuple[Any, ...]] = []
        self.steps: list[tuple[Any, ...]] = []
        self.groups: dict[tuple[str, str], Gathered] = {}
        self.decisions: dict[reviews.Key, Review] = {}
        self.decided: dict[reviews.Key, Review] = {}
        self.more = False
        self.error: str | None = None


def take(folder: Path, known: dict[str, Any]) -> Slice:
    """The next slice of a run.

    Args:
        folder: of the run.
        known: its row in the table ``runs``.

    Raises:
        ReplacedError: it has to be taken in from the beginning.
    """
    found = Slice()
    values = found.values
    values["updated"] = _updated(folder)
    for part in (_info, _reviews, _tasks, _attempts, _steps):
        try:
            part(folder, known, found)
            continue
        except InputError as error:
            reason = told(error)
        except OSError as error:
            reason = f"cannot be read: {error.strerror}"
        if found.error is None:
            found.error = reading.without_nul(reason[:1000])
        if part is _info:
            break
    if found.error is not None:
        values.update(state="unreadable", error=found.error)
    return found


def told(error: InputError) -> str:
    """An error about a file of a run, without paths of this machine."""
    where = Path(error.path).name if error.path is not None else ""
    if error.line is not None:
        where += f" line {error.line}"
    return f"{where}: {error.message}" if where else error.message


def _updated(folder: Path) -> float:
    return max(reading.sign(str(folder / name))[2] for name in FILES) / 1e9


def _info(folder: Path, known: dict[str, Any], found: Slice) -> None:
    with reading.opened(folder / info.FILE):
        said = info.read_info(folder)
    if known["generation"] not in ("", said.genesis):
        raise ReplacedError
    policy = said.settings.get("policy")
    found.values.update(
        kind=reading.without_nul(said.kind[:40]),
        created=reading.without_nul(said.created[:40]),
        state=str(said.state),
        policy=reading.without_nul(policy) if isinstance(policy, str) else "",
        head=reading.without_nul(said.head[:64]),
        settings=said.settings,
        notes=said.notes,
        generation=said.genesis,
        error=None,
    )


def _attempts(folder: Path, known: dict[str, Any], found: Slice) -> None:
    """Lines of the ledger, each with its sample, as ``Contents.lines`` reads them."""
    ledger, rollouts = folder / contents.LEDGER, folder / contents.ROLLOUTS
    # The ledger's size is taken first: samples are written before the ledger speaks of them.
    with reading.opened_if_there(ledger) as (judged, size), reading.opened_if_there(rollouts) as (said, said_size):
        if size < known["ledger_offset"] or said_size < known["rollouts_offset"]:
            raise ReplacedError
        taken = _Attempts(known, found)
        samples = reading.lines(said, known["rollouts_offset"], said_size)
        start, seq = known["ledger_offset"], known["ledger_lines"]
        try:
            for at, line in reading.lines(judged, start, size):
                seq += 1
                if at == start and seq > 1 and not line.startswith(place(seq, known["tail"])):
                    raise ReplacedError
                kind = kind_of(line)
                if kind == RESCORE:
                    taken.rescore(line, at, seq, ledger)
                elif kind != RESCORING:
                    record = _record(line, ledger, seq)
                    if record.kind == "verdict":
                        sample = next(samples, None)
                        if sample is None:
                            if found.values["state"] != "running":
                                raise InputError("ends before the ledger does", path=rollouts)
                            break
                        taken.attempt(record, line, at, seq, sample, rollouts)
                taken.values.update(ledger_offset=at + len(line) + 1, ledger_lines=seq)
                taken.last = line
                if taken.full:
                    found.more = True
                    break
        finally:
            taken.finish()


class _Attempts:
    """Rows of attempts in the making."""

    def __init__(self, known: dict[str, Any], found: Slice) -> None:
        self.found, self.values = found, found.values
        self.run: int = known["number"]
        self.rollouts_offset: int = known["rollouts_offset"]
        self.line: int = known["rollouts"]
        self.reward_sum: float = known["reward_sum"]
        self.counts = {name: known[name] for name in ("correct", "invalid", "flagged", "suspected", "rewarded")}
        self.last = b""
        self.bytes = 0

    @property
    def full(self) -> bool:
        found = self.found
        return len(found.rollouts) >= ROWS or len(found.rescored) >= ROWS or self.bytes >= BYTES

    def attempt(
        self, record: reading.RecordPart, line: bytes, at: int, seq: int, where: tuple[int, bytes], path: Path
    ) -> None:
        """One verdict, with the sample that it is about."""
        begin, sample = where
        if hashlib.sha256(sample).hexdigest() != record.sample:
            raise InputError(f"not the sample that was judged ({record.rollout})", path=path, line=self.line + 1)
        self.line += 1
        rollout = _rollout(sample, path, self.line)
        name = rollout.id
        if reading.NUL in line or reading.NUL in sample:
            reading.clean(record)
            reading.clean(rollout)
        verdict, reward, counts, phase = record.verdict, record.reward, self.counts, rollout.phase
        stage, step = _place_of(phase)
        if step is None:
            step = rollout.step
        key = (phase, rollout.task)
        group = self.found.groups.get(key)
        if group is None:
            group = self.found.groups[key] = Gathered(seq, phase, rollout.task, stage, step)
        group.add(verdict.outcome, verdict.score, reward, bool(record.flags))
        counts["correct"] += verdict.outcome == "correct"
        counts["invalid"] += verdict.outcome == "invalid"
        if reward is not None:
            counts["rewarded"] += 1
            self.reward_sum += reward
        flags, bars = "", False
        if record.flags:
            flags, bars = self._flags(record, rollout.id, name, seq)
        self.found.rollouts.append(
            (
                self.run, seq, rollout.id, group.number, rollout.task, phase, stage, step, rollout.index,
                verdict.outcome, verdict.score, reward, verdict.reason[:_CUT],
                None if verdict.extracted is None else verdict.extracted[:_CUT],
                verdict.verifier[:_CUT], rollout.policy, rollout.finish, rollout.prompt_tokens,
                rollout.completion_tokens, record.seconds, record.time, flags, bars,
                begin, len(sample), at, len(line),
            )
        )  # fmt: skip
        self.rollouts_offset = begin + len(sample) + 1
        self.bytes += len(sample) + len(line)

    def _flags(self, record: reading.RecordPart, rollout: str, name: str, seq: int) -> tuple[str, bool]:
        """Rows of the flags of an attempt; their names, and whether any bars. ``name`` is the id as it was written."""
        correct = record.verdict.outcome == "correct"
        self.counts["flagged"] += 1
        self.counts["suspected"] += correct
        names: dict[str, None] = {}
        bars, seen = False, set()
        for flag in record.flags:
            key = (rollout, flag.detector, flag.version)
            if key in seen:
                continue
            seen.add(key)
            names[flag.detector] = None
            review = self.found.decisions.get(key)
            decision, note, time = decided(review)
            bars |= flag.bars if decision is None else decision == Decision.CONFIRMED
            rank = sha256(f"{name}:{flag.detector}".encode("utf-8", "replace"))
            self.found.flags.append(
                (self.run, seq, flag.detector, flag.version, flag.bars, correct, decision, note, time, rank)
            )
        return f",{','.join(names)},", bars

    def rescore(self, line: bytes, at: int, seq: int, path: Path) -> None:
        """One verdict of a rescoring."""
        try:
            said = reading.decode_rescored(line)
        except UNREADABLE as error:
            raise damaged(path, seq, error) from None
        if reading.NUL in line:
            reading.clean(said)
        verdict = said.verdict
        self.found.rescored.append(
            (
                self.run, seq, said.of.seq, said.rescoring, verdict.outcome, verdict.score, verdict.reason[:_CUT],
                verdict.verifier[:_CUT], at, len(line),
            )
        )  # fmt: skip
        self.bytes += len(line)

    def finish(self) -> None:
        """What the run's row says afterwards."""
        if self.last:
            self.values["tail"] = hash_in(self.last)
        self.values.update(
            self.counts, rollouts=self.line, rollouts_offset=self.rollouts_offset, reward_sum=self.reward_sum
        )


def decided(review: Review | None) -> tuple[str | None, str | None, float | None]:
    """Decision, note and time, as the table of flags has them."""
    if review is None or review.decision is Decision.WITHDRAWN:
        return None, None, None
    return str(review.decision), review.note, review.time


@lru_cache(1024)
def _place_of(phase: str) -> tuple[int | None, int | None]:
    match = _STEP.fullmatch(phase)
    return (None, None) if match is None else (int(match[1]), int(match[2]))


def _record(line: bytes, path: Path, number: int) -> reading.RecordPart:
    try:
        record = reading.decode_record(line)
    except UNREADABLE as error:
        raise damaged(path, number, error) from None
    if record.schema != 1:
        read_record(line, path, number)  # says what to do
    return record


def _rollout(line: bytes, path: Path, number: int) -> reading.RolloutPart:
    try:
        rollout = reading.decode_rollout(line)
    except UNREADABLE as error:
        raise damaged(path, number, error) from None
    if rollout.schema != 1:
        read_rollout(line, path, number)
    return rollout


def _tasks(folder: Path, known: dict[str, Any], found: Slice) -> None:
    path = folder / taskfile.FILE
    with reading.opened_if_there(path) as (descriptor, size):
        start, number = known["tasks_offset"], known["tasks"]
        if size < start:
            raise ReplacedError
        for at, line in reading.lines(descriptor, start, size):
            number += 1
            task = read_task(line, path, number)
            if len(task.id) > 600:
                raise InputError("the task's id has more than 600 characters", path=path, line=number)
            prompt, checker = task.prompt_text[:300], task.checker.type[:100]
            labels = task.split[:20], task.difficulty[:100]
            texts = (task.id, task.digest, prompt, checker, *labels)
            row = (known["number"], number, *map(reading.without_nul, texts), at, len(line))
            found.tasks.append(row)
            found.values.update(tasks=number, tasks_offset=at + len(line) + 1)
            if len(found.tasks) >= ROWS:
                found.more = True
                break


def _steps(folder: Path, known: dict[str, Any], found: Slice) -> None:
    with reading.opened_if_there(folder / writer.METRICS) as (descriptor, size):
        start, number = known["metrics_offset"], known["metrics_lines"]
        if size < start:
            raise ReplacedError
        keys = dict.fromkeys(known["keys"])
        for at, line in reading.lines(descriptor, start, size):
            number += 1
            found.values.update(metrics_lines=number, metrics_offset=at + len(line) + 1)
            try:
                said = reading.decode_values(line)
            except UNREADABLE:
                continue  # what a killed process left
            stage, step = (_whole(said.pop(name, 0)) for name in ("stage", "step"))
            kind = said.pop("kind", "")
            values = {name: value for name, value in said.items() if _measured(value)}
            keys.update(dict.fromkeys(values))
            text = msgspec.json.encode(values).decode()
            found.steps.append((known["number"], number, stage, step, reading.without_nul(str(kind)[:20]), text))
            if len(found.steps) >= ROWS:
                found.more = True
                break
        if len(keys) != len(known["keys"]):
            found.values["keys"] = list(keys)


def _measured(value: Any) -> bool:
    return value is None or (type(value) in (int, float) and abs(value) < 1e300)


def _whole(value: Any) -> int:
    return int(value) if type(value) in (int, float) and abs(value) < 2**31 else 0


def _reviews(folder: Path, known: dict[str, Any], found: Slice) -> None:
    """All decisions: a flag that is taken in later may have been decided on before. The file is small."""
    path = folder / reviews.FILE
    with reading.opened_if_there(path) as (descriptor, size):
        start = known["reviews_offset"]
        if size < start:
            raise ReplacedError
        decode = msgspec.json.Decoder(Review).decode
        for at, line in reading.lines(descriptor, 0, size):
            if at >= start:
                found.values["reviews_offset"] = at + len(line) + 1
            try:
                review = decode(line)
            except UNREADABLE:
                continue
            if reading.NUL in line:
                texts = {name: reading.without_nul(getattr(review, name)) for name in ("rollout", "detector", "note")}
                review = msgspec.structs.replace(review, **texts)
            found.decisions[review.key] = review
            if at >= start:
                found.decided[review.key] = review

"""Attempts as rows: a line of the ledger with its sample, checked against each other."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from lydite.codec import sha256
from lydite.errors import InputError
from lydite.ledger.chain import hash_in
from lydite.ledger.reading import UNREADABLE, damaged, read_record, read_rollout
from lydite.ledger.reviews import Decision, Review
from lydite.server.index import reading, slices
from lydite.server.index.gathered import Gathered
from lydite.server.index.slices import Slice

_STEP = re.compile(r"train-(\d{1,6})-(\d{1,9})(?:\.\d+)?")
_CUT = 200


class Attempts:
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
        return len(found.rollouts) >= slices.ROWS or len(found.rescored) >= slices.ROWS or self.bytes >= slices.BYTES

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


def record_part(line: bytes, path: Path, number: int) -> reading.RecordPart:
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
